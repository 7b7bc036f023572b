// drop-dead: removes nodes without a result or an effect depending on them, also unread optional
// outputs. Not whole functions. Changes the graph through the Transaction alone; holds no state
// between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class DropDead : public Pass {
 public:
  std::string_view name() const override { return "drop-dead"; }
  std::string_view summary() const override {
    return "nodes and optional outputs that nobody reads disappear";
  }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge

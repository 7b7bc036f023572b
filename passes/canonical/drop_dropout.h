// drop-dropout: removes Dropout nodes in inference mode with an unread mask. Not those with a
// training_mode computed or true. Changes the graph through the Transaction alone; holds no state
// between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class DropDropout : public Pass {
 public:
  std::string_view name() const override { return "drop-dropout"; }
  std::string_view summary() const override {
    return "a Dropout that does not train passes its input on";
  }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge

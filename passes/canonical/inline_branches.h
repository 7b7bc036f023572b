// inline-branches: replaces an If with a known condition by the nodes of the branch taken. Sizes
// decide most conditions of exported models, so they are known once a shape is bound. Changes the
// graph through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class InlineBranches : public Pass {
 public:
  std::string_view name() const override { return "inline-branches"; }
  std::string_view summary() const override {
    return "an If whose condition is known becomes the nodes of its branch";
  }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge

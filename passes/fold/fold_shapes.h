// fold-shapes: writes integers found by INFER (sizes, indices) into constants. Computes nothing
// itself. Changes the graph through the Transaction alone; holds no state between runs; one
// thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class FoldShapes : public Pass {
 public:
  std::string_view name() const override { return "fold-shapes"; }
  std::string_view summary() const override {
    return "integer tensors that INFER knows completely become constants";
  }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge

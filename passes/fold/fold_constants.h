// fold-constants: runs pure nodes on constants by the context's Evaluator; a Constant node becomes
// a constant without one. It skips results beyond the context's limit of bytes or its budget, and
// weights whose quantized values an engine may multiply: prices decide those. Changes the graph
// through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class FoldConstants : public Pass {
 public:
  std::string_view name() const override { return "fold-constants"; }
  std::string_view summary() const override {
    return "nodes whose inputs are all constant run once, now";
  }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge

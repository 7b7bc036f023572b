// fold-constants: runs pure nodes on constants by the context's Evaluator; a Constant node becomes
// a constant without one. Not results beyond the context's limit of bytes, nor what its budget does
// not hold, nor weights whose codes an engine may multiply: what prices settle. Changes the graph
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

// FoldingScope: the folding budget of this thread's load, bind or run. All passes run for it spend
// from it: on the whole graph, on the parts of a node, on the pieces of a flow.
#pragma once

#include <cstdint>

#include "ge/stage/pass.h"

namespace ge {

class FoldingScope {
 public:
  explicit FoldingScope(uint64_t model_bytes);
  ~FoldingScope();
  FoldingScope(const FoldingScope&) = delete;
  FoldingScope& operator=(const FoldingScope&) = delete;
  // The budget of this thread's innermost scope; null when there is none.
  static FoldBudget* budget();

 private:
  FoldBudget budget_;
  FoldBudget* outer_;
};

}  // namespace ge

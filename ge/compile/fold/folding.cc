#include "ge/compile/fold/folding.h"

#include <fmt/format.h>

#include "ge/base/log.h"

namespace ge {
namespace {

thread_local FoldBudget* innermost = nullptr;

}  // namespace

FoldingScope::FoldingScope(uint64_t model_bytes) : budget_(model_bytes), outer_(innermost) {
  innermost = &budget_;
}

FoldingScope::~FoldingScope() {
  innermost = outer_;
  if (budget_.spent_work() == 0) return;
  LogLine(
      3, fmt::format("folding made {:.0f} bytes of at most {:.0f}, with an effort of {:.3g} of "
                     "at most {:.3g}",
                     budget_.spent_bytes(), budget_.bytes(), budget_.spent_work(), budget_.work()));
}

FoldBudget* FoldingScope::budget() { return innermost; }

}  // namespace ge

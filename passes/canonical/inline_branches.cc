#include "passes/canonical/inline_branches.h"

#include "ge/ops/branches.h"

namespace ge {

Status InlineBranches::Run(Transaction& t, const PassContext&) {
  std::vector<FunctionId> left;
  for (FunctionId fn = 1; fn < t.graph().functions.size(); ++fn) {
    const size_t count = t.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = t.graph().fn(fn).nodes[i];
      if (n.id == 0 || !IsBranch(n)) continue;
      if (const auto taken = KnownCondition(t.graph(), fn, n)) TakeBranch(t, fn, n, *taken, &left);
    }
  }
  if (!left.empty()) t.ForgetUnnamed(std::move(left));
  return {};
}

}  // namespace ge

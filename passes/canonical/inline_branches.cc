#include "passes/canonical/inline_branches.h"

#include "ge/ops/branches.h"

namespace ge {

Status InlineBranches::Run(Transaction& transaction, const PassContext&) {
  std::vector<FunctionId> left;
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = transaction.graph().fn(fn).nodes[i];
      if (n.id == 0 || !IsBranch(n)) continue;
      if (const auto taken = KnownCondition(transaction.graph(), fn, n))
        TakeBranch(transaction, fn, n, *taken, &left);
    }
  }
  if (!left.empty()) transaction.ForgetUnnamed(std::move(left));
  return {};
}

}  // namespace ge

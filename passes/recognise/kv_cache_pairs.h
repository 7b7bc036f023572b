// Pairs of a parameter and a result that is the parameter with new rows behind it: a decoder's past
// and its next one. One thread.
#pragma once

#include <vector>

#include "ge/ops/edit.h"

namespace ge {

struct KvPair {
  ValueId past = 0;           // the parameter
  uint32_t result = 0;        // position among the results
  ValueId before = 0;         // the Concat's first input: the past, its axes maybe in another order
  ValueId rows = 0, all = 0;  // the Concat's second input and output
  size_t axis = 0;            // of the Concat
  std::vector<int64_t> perm;  // axis k of `before` is axis perm[k] of the past
};

// If axes are reordered before the Concat, the function must put them back behind it.
std::vector<KvPair> FindKvPairs(const Function& function);

// Joined rows only read with their axes in one other order (keys, before their product with
// queries) are joined in that order: reordering new rows is less work than reordering all.
void JoinAsRead(Transaction* transaction, FunctionId fn);

}  // namespace ge

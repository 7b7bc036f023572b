// Whether rows of numbers fit an input of a net: by shape and dtype. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/dtype.h"

namespace ge::tool {

// One row of a column, or of an input of the net.
struct RowType {
  std::string name;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;  // none is negative
  uint64_t count() const;     // numbers
};

// INVALID_ARGUMENT with advice, unless rows of this dtype and shape fit the input: equal shapes but
// for axes of size 1, or either shape flattened to one axis. `channels_last`: the input's shape
// with its first axis moved to the end. `what` names the column.
Status FitRows(const RowType& have, const RowType& wanted, bool channels_last,
               const std::string& what);
// Moves channels from behind the other axes to before them, in each of n rows of the input.
void PutChannelsFirst(const RowType& wanted, uint64_t n, std::byte* rows);
std::string DimsText(std::span<const int64_t> dims);

}  // namespace ge::tool

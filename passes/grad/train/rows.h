// Gradients that touch a few rows of a table: the gradient of Gather, before it is spread over
// zeros of the table's size. One thread.
#pragma once

#include <optional>

#include "passes/grad/kit.h"

namespace ge::grad {

struct RowGradient {
  Val indices, updates;  // one row for each index
};
// In the function as shown by `graph`; nothing where the value is not such a sum over zeros alone.
std::optional<RowGradient> RowsOf(Fn& fn, const ge_graph* graph, Val gradient);

}  // namespace ge::grad

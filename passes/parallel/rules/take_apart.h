// TakeApart: operators that look at a whole batch at once, as sums and what is made of them, so
// that each rank has terms of the sums. One thread, for one run of a pass.
#pragma once

#include "passes/kit/copy_nodes.h"
#include "passes/kit/fn.h"

namespace ge::parallel {

// Puts other nodes into `to` in the place of a copy of `n`: of norms by a batch's own moments and
// of means over samples (axis 0). False, and nothing put, where it is no such node or a size is not
// known.
bool TakeApart(const ge_graph* graph, const ge_node& n, passes::CopyNodes& copy, passes::Fn& to);

}  // namespace ge::parallel

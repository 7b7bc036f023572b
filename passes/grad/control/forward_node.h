// The forward node of control flow in a sweep: what it reads, and the node that takes its place and
// also answers what the way back reads. One thread.
#pragma once

#include <cstddef>
#include <vector>

#include "passes/grad/reverse.h"

namespace ge::grad {

// What a node of a sweep reads now.
std::vector<Val> InputsOf(Reverse& reverse, const ge_node& n);
// The forward node in the place of `n`, with `residuals` more outputs, which are answered.
std::vector<Val> PutForwardNode(Reverse& reverse, const ge_node& n, const std::vector<Val>& in,
                                const Attrs& attrs, const NewFunction::Bodies& bodies,
                                size_t residuals);

}  // namespace ge::grad

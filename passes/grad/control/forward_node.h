// The forward node of control flow in a sweep: its inputs, and its replacement, which also outputs
// the values read by the backward pass. One thread.
#pragma once

#include <cstddef>
#include <vector>

#include "passes/grad/reverse.h"

namespace ge::grad {

// The present inputs of a node of a sweep.
std::vector<Val> InputsOf(Reverse& reverse, const ge_node& n);
// Puts the forward node in place of `n`, with `residuals` more outputs, and answers these.
std::vector<Val> PutForwardNode(Reverse& reverse, const ge_node& n, const std::vector<Val>& in,
                                const Attrs& attrs, const NewFunction::Bodies& bodies,
                                size_t residuals);

}  // namespace ge::grad

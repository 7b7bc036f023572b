// Pullbacks: the backward pass as a function value. A recursive function cannot know the number of
// its residuals, and a branch of an If cannot know those of the other. So their forward functions
// output, beside their results, one function from cotangents to gradients, which holds its
// residuals (ge.Partial).
#pragma once

#include <vector>

#include "passes/grad/control/joint.h"
#include "passes/grad/kit.h"

namespace ge::grad {

// Puts the joint's forward part into `made`, whose parameters are `params`: its results, then the
// pullback. The pullback takes a cotangent for each result in `seeded` and answers a gradient for
// each parameter in `gives`, zeros where there is none.
std::vector<Val> PutForwardWithPullback(Context& context, uint32_t of, const Joint& joint,
                                        NewFunction& made, const std::vector<Val>& params,
                                        const std::vector<bool>& seeded,
                                        const std::vector<bool>& gives);

// Through a call of a recursive function.
bool ThroughRecursion(Reverse& reverse, const ge_node& n, uint32_t of);
// Through a call of a function with its own derivative; false where it has none.
bool ThroughCustom(Reverse& reverse, const ge_node& n, uint32_t of, bool* failed);
// Whether the joint keeps a value other than a tensor.
bool KeepsFunctions(const Joint& joint);

}  // namespace ge::grad

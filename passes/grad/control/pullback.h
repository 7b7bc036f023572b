// Pullbacks: the way back as a function value. What calls itself cannot say of how many parts its
// residuals are, and the branches of an If not what the other one keeps; so their forward functions
// answer, beside their results, one function from cotangents to gradients, which holds what it
// reads (ge.Partial).
#pragma once

#include <vector>

#include "passes/grad/control/joint.h"
#include "passes/grad/kit.h"

namespace ge::grad {

// The joint forward in `made`, whose parameters are `params`: its results, then the pullback, which
// takes a cotangent for each result that `seeded` says and answers a gradient for each parameter
// that `gives` says, zeros where there is none.
std::vector<Val> PutForwardWithPullback(Context& context, uint32_t of, const Joint& joint,
                                        NewFunction& made, const std::vector<Val>& params,
                                        const std::vector<bool>& seeded,
                                        const std::vector<bool>& gives);

// Through a call of a function that calls itself.
bool ThroughRecursion(Reverse& reverse, const ge_node& n, uint32_t of);
// Through a call of a function that brings its own derivative; false where it brings none.
bool ThroughCustom(Reverse& reverse, const ge_node& n, uint32_t of, bool* failed);
// The joint keeps something that is no tensor.
bool KeepsFunctions(const Joint& joint);

}  // namespace ge::grad

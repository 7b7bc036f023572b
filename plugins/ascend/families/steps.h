// Steps: a unit's bias and post-ops as calls of one operator each, in place on the unit's result.
// Pure; one thread records.
#pragma once

#include "plugins/ascend/families/family.h"

namespace ge_engines::ascend {

// Whether there are operators for all steps of the unit, the first of which reads a tensor of dims
// `first`.
bool TakesSteps(const Unit& unit, const Dims& first, const Parser& parser, const acl::Operators& op,
                Why* why);
// Calls of them; of these biases and post-ops as many, from the front, are done.
void RecordSteps(const Unit& unit, const device::Ref& from, const Dims& first,
                 const device::Ref& result, Calls* calls, size_t biases = 0, size_t post_ops = 0);
uint32_t OperatorsOfSteps(const Unit& unit);

// Whether a library has the operator; else it is named in *why.
template <class F>
bool Has(const acl::TwoPhase<F>& op, const char* name, Why* why) {
  return op.first != nullptr ||
         why->Say(GE_WHY_OP, std::string("the library has no operator ") + name);
}

}  // namespace ge_engines::ascend

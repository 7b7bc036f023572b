// Which operators are functions of one number and of two, as data. Pure; any thread.
#pragma once

#include "plugins/ascend/api/operators.h"
#include "plugins/units/functions.h"

namespace ge_engines::ascend::acl {

using Unary = TwoPhase<Status (*)(In, Out)>;
using Binary = TwoPhase<Status (*)(In, In, Out)>;

// nullptr: none of those without numbers of their own.
const Unary* UnaryOf(Fn fn, const Operators& op);
// `swapped`: the function of the second and the first.
const Binary* BinaryOf(Fn fn, const Operators& op, bool* swapped);
// nullptr for kNot.
const Binary* RelationOf(Relation relation, const Operators& op);

}  // namespace ge_engines::ascend::acl

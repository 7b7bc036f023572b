// Pointwise functions, comparisons, choices and casts.
#include "plugins/units/elementwise/pointwise.h"

#include "plugins/ascend/families/family.h"

namespace ge_engines::ascend {
namespace {

using Unary = acl::TwoPhase<acl::Status (*)(acl::In, acl::Out)>;

// nullptr: no operator of one tensor alone does it.
const Unary* UnaryOf(const PostOp& q, const acl::Operators& op) {
  switch (q.fn) {
    case Fn::kRelu:
      return q.a == 0 ? &op.Relu : nullptr;
    case Fn::kAbs:
      return &op.Abs;
    case Fn::kExp:
      return &op.Exp;
    default:
      return nullptr;
  }
}

bool TakesPointwise(const Unit& unit, const Parser&, const acl::Operators& op, Why* why) {
  if (unit.post_ops.size() != 1) return why->Say(GE_WHY_OP, "one function at a time");
  const PostOp& q = unit.post_ops[0];
  const Unary* unary = UnaryOf(q, op);
  if (unary == nullptr || unary->first == nullptr) return why->Say(GE_WHY_OP, "no operator");
  return true;
}

void RecordPointwise(const Unit& unit, Calls* calls) {
  const Unary& op = *UnaryOf(unit.post_ops[0], calls->op());
  const TensorAt x = calls->In(unit.in[0]);
  calls->Add(op, x, calls->Out(unit.out[0]));
}

constexpr AscendKind kKinds[] = {
    {&PointwiseSpec::kKind, TakesPointwise, RecordPointwise, nullptr},
};

}  // namespace

std::span<const AscendKind> PointwiseKinds() { return kKinds; }

}  // namespace ge_engines::ascend

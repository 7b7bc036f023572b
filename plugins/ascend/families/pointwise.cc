// Pointwise functions, comparisons, choices, casts, arithmetic of integers.
#include "plugins/units/elementwise/pointwise.h"

#include "plugins/ascend/api/functions.h"
#include "plugins/ascend/families/family.h"
#include "plugins/units/elementwise/arithmetic.h"
#include "plugins/units/elementwise/cast.h"
#include "plugins/units/elementwise/relation.h"
#include "plugins/units/elementwise/where.h"

namespace ge_engines::ascend {
namespace {

void RecordPointwise(const Unit& u, Calls* c) { RecordSteps(u, c->In(u.in[0]), c); }

void RecordRelation(const Unit& u, Calls* c) {
  const Operand x = c->In(u.in[0]), y = c->Out(u.out[0]);
  if (y.form.type != acl::kBool) Calls::Refuse(GE_WHY_DTYPE, "a result that is not bool");
  const acl::Binary* binary = acl::RelationOf(As<RelationSpec>(u)->op, c->op());
  if (binary == nullptr) return c->Add(c->op().LogicalNot, x, y);
  c->Add(*binary, x, c->In(u.in[1]), y);
}

void RecordWhere(const Unit& u, Calls* c) {
  c->Add(c->op().SWhere, c->In(u.in[0]), c->In(u.in[1]), c->In(u.in[2]), c->Out(u.out[0]));
}

void RecordCast(const Unit& u, Calls* c) {
  c->Add(c->op().Cast, c->In(u.in[0]), c->TypeOf(u.out[0]), c->Out(u.out[0]));
}

void RecordArithmetic(const Unit& u, Calls* c) {
  const acl::Operators& op = c->op();
  const Operand y = c->Out(u.out[0]);
  const acl::DataType type = y.form.type;
  if (type != acl::kI32 && type != acl::kI64) Calls::Refuse(GE_WHY_DTYPE, "only int32 and int64");
  if (u.in.size() != 2) Calls::Refuse(GE_WHY_OP, "only functions of two tensors");
  const Operand x = c->In(u.in[0]), z = c->In(u.in[1]);
  switch (As<ArithmeticSpec>(u)->fn) {
    case Fn::kAdd:
      return c->Add(op.Add, x, z, ScalarOf{1, type}, y);
    case Fn::kSub:
      return c->Add(op.Sub, x, z, ScalarOf{1, type}, y);
    case Fn::kMul:
      return c->Add(op.Mul, x, z, y);
    case Fn::kMax:
      return c->Add(op.Maximum, x, z, y);
    case Fn::kMin:
      return c->Add(op.Minimum, x, z, y);
    default:
      Calls::Refuse(GE_WHY_OP, "no operator for this function of integers");
  }
}

constexpr AscendKind kPointwise[] = {
    {&PointwiseSpec::kKind, RecordPointwise},
    {&RelationSpec::kKind, RecordRelation, false},
    {&WhereSpec::kKind, RecordWhere, false},
    {&CastSpec::kKind, RecordCast, false},
    {&ArithmeticSpec::kKind, RecordArithmetic, false},
};

}  // namespace

std::span<const AscendKind> PointwiseKinds() { return kPointwise; }

}  // namespace ge_engines::ascend

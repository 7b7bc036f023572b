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

// A sum of several halves is rounded once.
void RecordSum(const Unit& u, Calls* c) {
  Operand sum = c->Wide(c->In(u.in[0]));
  const Operand y = c->Out(u.out[0]), wide = c->Between(sum.form);
  for (const PostOp& q : u.post_ops) {
    RecordBinary(q.fn, sum, c->Wide(c->In(q.operand)), wide, c);
    sum = wide;
  }
  c->Add(c->op().Cast, wide, y.form.type, y);
}

void RecordPointwise(const Unit& u, Calls* c) {
  const bool sums = u.nodes.size() == 1 && u.post_ops.size() > 1 && u.post_ops[0].fn == Fn::kAdd &&
                    u.post_ops[0].operand != 0;
  if (sums && c->TypeOf(u.out[0]) != acl::kF32) return RecordSum(u, c);
  RecordSteps(u, c->In(u.in[0]), c);
}

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
  const Fn fn = As<ArithmeticSpec>(u)->fn;
  const Operand y = c->Out(u.out[0]);
  if (y.form.type != acl::kI32 && y.form.type != acl::kI64) {
    Calls::Refuse(GE_WHY_DTYPE, "only int32 and int64");
  }
  // Quotients and remainders of the vendor's are those of floats, as far as anybody shows.
  const bool known =
      fn == Fn::kAdd || fn == Fn::kSub || fn == Fn::kMul || fn == Fn::kMax || fn == Fn::kMin;
  if (u.in.size() != 2 || !known) Calls::Refuse(GE_WHY_OP, "no operator for it on integers");
  RecordBinary(fn, c->In(u.in[0]), c->In(u.in[1]), y, c);
}

constexpr AscendKind kPointwise[] = {
    {&PointwiseSpec::kKind, RecordPointwise, true, Blocks::kKeeps},
    {&RelationSpec::kKind, RecordRelation, false},
    {&WhereSpec::kKind, RecordWhere, false},
    {&CastSpec::kKind, RecordCast, false},
    {&ArithmeticSpec::kKind, RecordArithmetic, false},
};

}  // namespace

std::span<const AscendKind> PointwiseKinds() { return kPointwise; }

}  // namespace ge_engines::ascend

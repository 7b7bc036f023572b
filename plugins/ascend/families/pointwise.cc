// Pointwise functions, comparisons, choices, casts, arithmetic of integers.
#include "plugins/units/elementwise/pointwise.h"

#include "plugins/ascend/families/steps.h"
#include "plugins/units/elementwise/arithmetic.h"
#include "plugins/units/elementwise/cast.h"
#include "plugins/units/elementwise/relation.h"
#include "plugins/units/elementwise/where.h"

namespace ge_engines::ascend {
namespace {

using Binary = acl::TwoPhase<acl::Status (*)(acl::In, acl::In, acl::Out)>;

bool TakesPointwise(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  if (p.dtype(u.in[0]) != p.dtype(u.out[0])) {
    return why->Say(GE_WHY_DTYPE, "its tensors have several dtypes");
  }
  return TakesSteps(u, p.dims(u.in[0]), p, op, why);
}

void RecordPointwise(const Unit& u, Calls* c) {
  // Operands are read before the result gets its place: it may take the place of one of them.
  const device::Ref x = c->recorder().Read(u.in[0]);
  for (const PostOp& q : u.post_ops) {
    if (q.operand != 0) (void)c->recorder().Read(q.operand);
  }
  RecordSteps(u, x, c->parser().dims(u.in[0]), c->recorder().Write(u.out[0]), c);
}

const Binary* RelationOf(Relation relation, const acl::Operators& op) {
  switch (relation) {
    case Relation::kEqual:
      return &op.EqTensor;
    case Relation::kLess:
      return &op.LtTensor;
    case Relation::kGreater:
      return &op.GtTensor;
    case Relation::kLessOrEqual:
      return &op.LeTensor;
    case Relation::kGreaterOrEqual:
      return &op.GeTensor;
    case Relation::kAnd:
      return &op.LogicalAnd;
    case Relation::kOr:
      return &op.LogicalOr;
    case Relation::kXor:
      return &op.LogicalXor;
    case Relation::kNot:
      break;
  }
  return nullptr;
}

bool TakesRelation(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  if (p.dtype(u.out[0]) != GE_BOOL) return why->Say(GE_WHY_DTYPE, "a result that is not bool");
  const Binary* binary = RelationOf(As<RelationSpec>(u)->op, op);
  if (binary == nullptr) return Has(op.LogicalNot, "LogicalNot", why);
  return Has(*binary, "for this comparison", why);
}

void RecordRelation(const Unit& u, Calls* c) {
  const Binary* binary = RelationOf(As<RelationSpec>(u)->op, c->op());
  const TensorAt x = c->In(u.in[0]);
  if (binary == nullptr) return c->Add(c->op().LogicalNot, x, c->Out(u.out[0]));
  const TensorAt z = c->In(u.in[1]);
  c->Add(*binary, x, z, c->Out(u.out[0]));
}

bool TakesWhere(const Unit&, const Parser&, const acl::Operators& op, Why* why) {
  return Has(op.SWhere, "SWhere", why);
}

void RecordWhere(const Unit& u, Calls* c) {
  const TensorAt condition = c->In(u.in[0]), x = c->In(u.in[1]), z = c->In(u.in[2]);
  c->Add(c->op().SWhere, condition, x, z, c->Out(u.out[0]));
}

bool TakesCast(const Unit&, const Parser&, const acl::Operators& op, Why* why) {
  return Has(op.Cast, "Cast", why);
}

void RecordCast(const Unit& u, Calls* c) {
  const TensorAt x = c->In(u.in[0]);
  const TensorAt y = c->Out(u.out[0]);
  const acl::DataType type = y.form.type;
  c->Add(c->op().Cast, x, type, y);
}

// ---- integers ----------------------------------------------------------------------------------

bool TakesArithmetic(const Unit& u, const Parser& p, const acl::Operators& op, Why* why) {
  if (p.dtype(u.out[0]) != GE_I32 && p.dtype(u.out[0]) != GE_I64) {
    return why->Say(GE_WHY_DTYPE, "only int32 and int64");
  }
  if (u.in.size() != 2) return why->Say(GE_WHY_OP, "only functions of two tensors");
  switch (As<ArithmeticSpec>(u)->fn) {
    case Fn::kAdd:
      return Has(op.Add, "Add", why);
    case Fn::kSub:
      return Has(op.Sub, "Sub", why);
    case Fn::kMul:
      return Has(op.Mul, "Mul", why);
    case Fn::kMax:
      return Has(op.Maximum, "Maximum", why);
    case Fn::kMin:
      return Has(op.Minimum, "Minimum", why);
    default:
      return why->Say(GE_WHY_OP, "no operator for this function of integers");
  }
}

void RecordArithmetic(const Unit& u, Calls* c) {
  const acl::Operators& op = c->op();
  const TensorAt x = c->In(u.in[0]), z = c->In(u.in[1]), y = c->Out(u.out[0]);
  const ScalarOf one{1, y.form.type};
  switch (As<ArithmeticSpec>(u)->fn) {
    case Fn::kAdd:
      return c->Add(op.Add, x, z, one, y);
    case Fn::kSub:
      return c->Add(op.Sub, x, z, one, y);
    case Fn::kMul:
      return c->Add(op.Mul, x, z, y);
    case Fn::kMax:
      return c->Add(op.Maximum, x, z, y);
    default:
      return c->Add(op.Minimum, x, z, y);
  }
}

constexpr AscendKind kPointwise[] = {
    {&PointwiseSpec::kKind, TakesPointwise, RecordPointwise, OperatorsOfSteps},
    {&RelationSpec::kKind, TakesRelation, RecordRelation, nullptr},
    {&WhereSpec::kKind, TakesWhere, RecordWhere, nullptr},
    {&CastSpec::kKind, TakesCast, RecordCast, nullptr},
    {&ArithmeticSpec::kKind, TakesArithmetic, RecordArithmetic, nullptr},
};

}  // namespace

std::span<const AscendKind> PointwiseKinds() { return kPointwise; }

}  // namespace ge_engines::ascend

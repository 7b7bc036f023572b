// A unit's bias and post-ops.
#include <cmath>

#include "plugins/ascend/api/functions.h"
#include "plugins/ascend/families/family.h"

namespace ge_engines::ascend {
namespace {

// x / 6 + 1 / 2, clamped: the slope of the vendor's own.
bool IsUsualHard(const PostOp& q) { return std::fabs(q.a - 1.0f / 6.0f) < 1e-6f && q.b == 0.5f; }

// A step with a factor of each channel. Of these BatchNormalization has two: x * scale, then +
// shift.
bool OfChannels(const PostOp& q) { return q.binary() && q.operand == 0; }

void RecordUnary(const PostOp& q, const Operand& x, const Operand& y, Calls* c) {
  const acl::Operators& op = c->op();
  if (const acl::Unary* unary = acl::UnaryOf(q.fn, op)) return c->Add(*unary, x, y);
  switch (q.fn) {
    case Fn::kRelu:
      if (q.a == 0) return c->Add(op.Relu, x, y);
      return c->Add(op.LeakyRelu, x, Real(q.a), y);
    case Fn::kLinear:
      if (q.a == -1 && q.b == 0) return c->Add(op.Neg, x, y);
      if (q.a != 1 && q.b != 0) Calls::Refuse(GE_WHY_OP, "two operators would round twice");
      if (q.a != 1) return c->Add(op.Muls, x, Real(q.a), y);
      return c->Add(op.Adds, x, Real(q.b), Real(1), y);
    case Fn::kClip:
      return c->Add(op.Clamp, x, Real(q.a), Real(q.b), y);
    case Fn::kHardSigmoid:
      if (!IsUsualHard(q)) Calls::Refuse(GE_WHY_ATTRIBUTE, "only alpha 1/6 and beta 1/2");
      return c->Add(op.Hardsigmoid, x, y);
    case Fn::kSquare:
      return c->Add(op.Mul, x, x, y);
    case Fn::kCube:
      return c->Add(op.PowTensorScalar, x, Real(3), y);
    case Fn::kElu:
      return c->Add(op.Elu, x, Real(q.a), Real(1), Real(1), y);
    case Fn::kSoftplus:
      return c->Add(op.Softplus, x, Real(1), Real(20), y);  // beyond 20 it is x
    default:
      Calls::Refuse(GE_WHY_OP, "no operator for this function");
  }
}

// x / (1 + exp(-2 t)), where t = sqrt(2 / pi) * (x + 0.044715 x^3).
void RecordGeluTanh(const Operand& given, const Operand& y, Calls* c) {
  const acl::Operators& op = c->op();
  const Operand x = c->Wide(given), t = c->Between(x.form);
  c->Add(op.Mul, x, x, t);
  c->Add(op.Muls, t, Real(0.044715), t);
  c->Add(op.Adds, t, Real(1), Real(1), t);
  c->Add(op.Mul, t, x, t);
  c->Add(op.Muls, t, Real(2 * 0.7978845608028654), t);
  c->Add(op.Sigmoid, t, t);
  c->Add(op.Mul, t, x, given.form.type == acl::kF32 ? y : t);
  if (given.form.type != acl::kF32) c->Add(op.Cast, t, y.form.type, y);
}

// x * scale + shift of each channel, with one rounding.
void RecordNorm(const Unit& unit, size_t norm, const Operand& x, const Operand& y, Calls* c) {
  using device::ChannelNumber;
  const Form form = Form::Dense({unit.dims[1]}, acl::kF32);
  const auto pack = [&](ChannelNumber which) { return c->ChannelPack(unit, norm, which); };
  c->Add(c->op().BatchNorm, x, pack(ChannelNumber::kScale), pack(ChannelNumber::kShift),
         pack(ChannelNumber::kZero), pack(ChannelNumber::kOne), false, 0.0, 0.0, y,
         c->Between(form), c->Between(form));
}

}  // namespace

void RecordBinary(Fn fn, const Operand& x, const Operand& z, const Operand& y, Calls* c) {
  const acl::Operators& op = c->op();
  if (fn == Fn::kAdd) return c->Add(op.Add, x, z, NumberFor(y, 1), y);
  if (fn == Fn::kSub) return c->Add(op.Sub, x, z, NumberFor(y, 1), y);
  if (fn == Fn::kRSub) return c->Add(op.Sub, z, x, NumberFor(y, 1), y);
  bool swapped = false;
  const acl::Binary* binary = acl::BinaryOf(fn, op, &swapped);
  if (binary == nullptr) {
    Calls::Refuse(GE_WHY_OP, "no operator for this function of two tensors");
  }
  c->Add(*binary, swapped ? z : x, swapped ? x : z, y);
}

void RecordSteps(const Unit& unit, const Operand& from, Calls* c, size_t biases, size_t post_ops) {
  const Operand y =
      c->Out(unit.out[0], from.form.dims == unit.dims ? from.form : c->FormOf(unit.out[0]));
  Operand x = from;
  for (size_t k = biases; k < unit.bias.size(); ++k, x = y) {
    const Dims bias = c->parser().dims(unit.bias[k]);
    Dims along(unit.dims.size(), 1);
    const bool channels = unit.kind().post_ops == PostOps::kChannels;
    if (Product(bias) != 1) along[channels ? 1 : along.size() - 1] = Product(bias);
    c->Add(c->op().Add, x, c->In(unit.bias[k], c->DenseOf(unit.bias[k], along)),
           Real(unit.bias_factor), y);
  }
  size_t norm = 0;
  for (size_t k = post_ops; k < unit.post_ops.size(); ++k, x = y) {
    const PostOp& q = unit.post_ops[k];
    if (q.binary() && !OfChannels(q)) {
      RecordBinary(q.fn, x, c->In(q.operand), y, c);
      continue;
    }
    if (x.form.dims != unit.dims) {
      Calls::Refuse(GE_WHY_SHAPE, "its first tensor is repeated after a function of one tensor");
    }
    if (!OfChannels(q)) {
      q.fn == Fn::kGeluTanh ? RecordGeluTanh(x, y, c) : RecordUnary(q, x, y, c);
      continue;
    }
    RecordNorm(unit, norm++, x, y, c);  // the scale, and the shift behind it
    ++k;
  }
}

}  // namespace ge_engines::ascend

#include "plugins/ascend/families/steps.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/half.h"

namespace ge_engines::ascend {
namespace {

using device::Ref;
using Unary = acl::TwoPhase<acl::Status (*)(acl::In, acl::Out)>;
using Binary = acl::TwoPhase<acl::Status (*)(acl::In, acl::In, acl::Out)>;
using Scaled = acl::TwoPhase<acl::Status (*)(acl::In, acl::In, acl::Number, acl::Out)>;

// Functions of one tensor without numbers.
const struct {
  Fn fn;
  Unary acl::Operators::*op;
} kUnary[] = {
    {Fn::kAbs, &acl::Operators::Abs},     {Fn::kAcos, &acl::Operators::Acos},
    {Fn::kAcosh, &acl::Operators::Acosh}, {Fn::kAsin, &acl::Operators::Asin},
    {Fn::kAsinh, &acl::Operators::Asinh}, {Fn::kAtan, &acl::Operators::Atan},
    {Fn::kAtanh, &acl::Operators::Atanh}, {Fn::kCeil, &acl::Operators::Ceil},
    {Fn::kCos, &acl::Operators::Cos},     {Fn::kCosh, &acl::Operators::Cosh},
    {Fn::kErf, &acl::Operators::Erf},     {Fn::kExp, &acl::Operators::Exp},
    {Fn::kFloor, &acl::Operators::Floor}, {Fn::kGelu, &acl::Operators::Gelu},  // by erf
    {Fn::kLog, &acl::Operators::Log},     {Fn::kReciprocal, &acl::Operators::Reciprocal},
    {Fn::kRound, &acl::Operators::Round}, {Fn::kSigmoid, &acl::Operators::Sigmoid},
    {Fn::kSign, &acl::Operators::Sign},   {Fn::kSin, &acl::Operators::Sin},
    {Fn::kSinh, &acl::Operators::Sinh},   {Fn::kSqrt, &acl::Operators::Sqrt},
    {Fn::kSwish, &acl::Operators::Silu},  {Fn::kTan, &acl::Operators::Tan},
    {Fn::kTanh, &acl::Operators::Tanh},
};

// Functions of two tensors; `swapped`: of the second and the first.
const struct {
  Fn fn;
  Binary acl::Operators::*op;
  bool swapped;
} kBinary[] = {
    {Fn::kMul, &acl::Operators::Mul, false},
    {Fn::kDiv, &acl::Operators::Div, false},
    {Fn::kRDiv, &acl::Operators::Div, true},
    {Fn::kMax, &acl::Operators::Maximum, false},
    {Fn::kMin, &acl::Operators::Minimum, false},
    {Fn::kPow, &acl::Operators::PowTensorTensor, false},
    {Fn::kRPow, &acl::Operators::PowTensorTensor, true},
    {Fn::kFmod, &acl::Operators::FmodTensor, false},
    {Fn::kRFmod, &acl::Operators::FmodTensor, true},
};

const Unary* UnaryOf(const PostOp& q, const acl::Operators& op) {
  if (q.fn == Fn::kRelu && q.a == 0) return &op.Relu;
  if (q.fn == Fn::kLinear && q.a == -1 && q.b == 0) return &op.Neg;
  for (const auto& known : kUnary) {
    if (known.fn == q.fn) return &(op.*known.op);
  }
  return nullptr;
}

const Binary* BinaryOf(const PostOp& q, const acl::Operators& op, bool* swapped) {
  for (const auto& known : kBinary) {
    if (known.fn != q.fn) continue;
    *swapped = known.swapped;
    return &(op.*known.op);
  }
  return nullptr;
}

// x / 6 + 1 / 2, clamped: the slope of the vendor's own.
bool IsUsualHard(const PostOp& q) { return std::fabs(q.a - 1.0f / 6.0f) < 1e-6f && q.b == 0.5f; }

// Whether an operator with numbers does a function of one tensor.
bool TakesNumbers(const PostOp& q, const acl::Operators& op, Why* why) {
  switch (q.fn) {
    case Fn::kRelu:
      return Has(op.LeakyRelu, "LeakyRelu", why);
    case Fn::kLinear:
      if (q.a != 1 && q.b != 0) break;  // two operators would round twice
      return Has(op.Muls, "Muls", why) && Has(op.Adds, "Adds", why);
    case Fn::kClip:
      return Has(op.Clamp, "Clamp", why);
    case Fn::kHardSigmoid:
      return IsUsualHard(q) ? Has(op.Hardsigmoid, "Hardsigmoid", why)
                            : why->Say(GE_WHY_ATTRIBUTE, "only alpha 1/6 and beta 1/2");
    case Fn::kHardSwish:
      return Has(op.Hardswish, "Hardswish", why);
    case Fn::kSquare:
      return Has(op.Mul, "Mul", why);
    case Fn::kCube:
      return Has(op.PowTensorScalar, "PowTensorScalar", why);
    case Fn::kElu:
      return Has(op.Elu, "Elu", why);
    case Fn::kSoftplus:
      return Has(op.Softplus, "Softplus", why);
    default:
      break;
  }
  return why->Say(GE_WHY_OP, "no operator for this function");
}

bool TakesStep(const PostOp& q, const acl::Operators& op, Why* why) {
  if (q.binary() && q.operand == 0) return Has(op.BatchNorm, "BatchNorm", why);
  if (q.fn == Fn::kAdd) return Has(op.Add, "Add", why);
  if (q.fn == Fn::kSub || q.fn == Fn::kRSub) return Has(op.Sub, "Sub", why);
  if (q.binary()) {
    bool swapped = false;
    const Binary* binary = BinaryOf(q, op, &swapped);
    return (binary != nullptr && binary->first != nullptr) ||
           why->Say(GE_WHY_OP, "no operator for this function of two tensors");
  }
  const Unary* unary = UnaryOf(q, op);
  if (unary == nullptr) return TakesNumbers(q, op, why);
  return unary->first != nullptr || why->Say(GE_WHY_OP, "the library lacks the operator");
}

// A binary step with a factor of each channel, of which BatchNormalization has two: x * scale, then
// + shift.
bool OfChannels(const PostOp& q) { return q.binary() && q.operand == 0; }

class Recording {
 public:
  Recording(const Unit& unit, const Ref& from, const Dims& first, const Ref& result, Calls* calls)
      : unit_(unit), result_(result), c_(*calls), at_(from), dims_(first) {}

  void Bias(uint32_t value) {
    const Dims bias = c_.parser().dims(value);
    Dims along(unit_.dims.size(), 1);
    const bool channels = unit_.kind().post_ops == PostOps::kChannels;
    if (Product(bias) != 1) along[channels ? 1 : along.size() - 1] = Product(bias);
    const TensorAt x = X();
    const TensorAt b = c_.In(c_.recorder().Read(value), c_.FormOf(value, along));
    c_.Add(c_.op().Add, x, b, Number(unit_.bias_factor), Y());
  }

  void Step(const PostOp& q) {
    const acl::Operators& op = c_.op();
    if (q.binary()) return Two(q);
    const TensorAt x = X();
    if (const Unary* unary = UnaryOf(q, op)) return c_.Add(*unary, x, Y());
    switch (q.fn) {
      case Fn::kRelu:
        return c_.Add(op.LeakyRelu, x, Number(q.a), Y());
      case Fn::kLinear:
        if (q.a != 1) return c_.Add(op.Muls, x, Number(q.a), Y());
        return c_.Add(op.Adds, x, Number(q.b), Number(1), Y());
      case Fn::kClip:
        return c_.Add(op.Clamp, x, Number(q.a), Number(q.b), Y());
      case Fn::kHardSigmoid:
        return c_.Add(op.Hardsigmoid, x, Y());
      case Fn::kHardSwish:
        return c_.Add(op.Hardswish, x, Y());
      case Fn::kSquare:
        return c_.Add(op.Mul, x, x, Y());
      case Fn::kCube:
        return c_.Add(op.PowTensorScalar, x, Number(3), Y());
      case Fn::kElu:
        return c_.Add(op.Elu, x, Number(q.a), Number(1), Number(1), Y());
      case Fn::kSoftplus:
        return c_.Add(op.Softplus, x, Number(1), Number(20), Y());  // beyond 20 it is x
      default:
        throw std::runtime_error("a function that was not taken");
    }
  }

  // x * scale + shift of the channels of the `norm`-th BatchNormalization, with one rounding.
  void Norm(size_t norm) {
    const int64_t channels = unit_.dims[1];
    const Form form = Form::Dense({channels}, acl::kF32);
    const TensorAt x = X();
    const TensorAt scale = c_.In(ChannelPack(norm, 0), form),
                   shift = c_.In(ChannelPack(norm, 1), form);
    const TensorAt mean = c_.In(Same(channels, 0), form), variance = c_.In(Same(channels, 1), form);
    const Ref saved = c_.recorder().Between(4 * static_cast<uint64_t>(channels));
    const TensorAt y = Y();
    const TensorAt saved_mean = c_.Out(saved, form),
                   saved_deviation = c_.Out(c_.recorder().Between(saved.bytes), form);
    c_.Add(c_.op().BatchNorm, x, scale, shift, mean, variance, false, 0.0, 0.0, y, saved_mean,
           saved_deviation);
  }

 private:
  static ScalarOf Number(float value) { return {value, acl::kF32}; }
  acl::DataType type() const { return c_.FormOf(unit_.out[0]).type; }
  TensorAt X() { return c_.In(at_, Form::Dense(dims_, type())); }
  // The step's result, which the next one reads.
  TensorAt Y() {
    at_ = result_;
    dims_ = unit_.dims;
    return c_.Out(result_, Form::Dense(unit_.dims, type()));
  }

  void Two(const PostOp& q) {
    const acl::Operators& op = c_.op();
    TensorAt x = X(), z = c_.In(q.operand);
    if (q.fn == Fn::kAdd) return c_.Add(op.Add, x, z, Number(1), Y());
    if (q.fn == Fn::kSub) return c_.Add(op.Sub, x, z, Number(1), Y());
    if (q.fn == Fn::kRSub) return c_.Add(op.Sub, z, x, Number(1), Y());
    bool swapped = false;
    const Binary& binary = *BinaryOf(q, op, &swapped);
    if (swapped) std::swap(x, z);
    c_.Add(binary, x, z, Y());
  }

  // Scales or shifts of the channels, worked out from a node's constants as at the parse.
  Ref ChannelPack(size_t norm, int which) {
    const Parser& p = c_.parser();
    const int64_t channels = unit_.dims[1];
    for (const uint32_t n : unit_.nodes) {
      const ge_node& node = p.node(n);
      if (!gp::IsOp(node, "BatchNormalization") || norm-- != 0) continue;
      const double eps = gp::AttrFloat(node, "epsilon");
      std::array<int32_t, 4> dtypes;
      std::string key = "channels " + std::to_string(which) + " " +
                        std::to_string(std::bit_cast<uint64_t>(eps)) + " of " +
                        std::to_string(channels);
      for (uint32_t k = 0; k < 4; ++k) {
        dtypes[k] = p.dtype(node.in[k + 1]);
        key += " " + std::to_string(dtypes[k]);
      }
      const auto fill = [eps, which, channels, dtypes](const void* const* from, void* to) {
        for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
          float v[4];
          for (size_t k = 0; k < 4; ++k) v[k] = ElementAsFloat(from[k], dtypes[k], c);
          const ChannelFactors f = FactorsOfNorm(v[0], v[1], v[2], v[3], eps);
          static_cast<float*>(to)[c] = which == 0 ? f.scale : f.shift;
        }
      };
      return c_.recorder().Pack({node.in[1], node.in[2], node.in[3], node.in[4]}, key,
                                4 * static_cast<uint64_t>(channels), fill, 0);
    }
    throw std::runtime_error("factors of channels that no node has");
  }

  // One number for all channels, as a pack beside the first node's constants.
  Ref Same(int64_t channels, float value) {
    const Parser& p = c_.parser();
    for (const uint32_t n : unit_.nodes) {
      const ge_node& node = p.node(n);
      if (!gp::IsOp(node, "BatchNormalization")) continue;
      const auto fill = [channels, value](const void* const*, void* to) {
        std::fill_n(static_cast<float*>(to), channels, value);
      };
      return c_.recorder().Pack({node.in[1]},
                                "all " + std::to_string(value) + " of " + std::to_string(channels),
                                4 * static_cast<uint64_t>(channels), fill, 0, true);
    }
    throw std::runtime_error("factors of channels that no node has");
  }

  const Unit& unit_;
  const Ref result_;
  Calls& c_;
  Ref at_;     // where the running tensor lies
  Dims dims_;  // and its dims: the first may be smaller than the result
};

}  // namespace

bool TakesSteps(const Unit& unit, const Dims& first, const Parser& parser, const acl::Operators& op,
                Why* why) {
  const int32_t dtype = parser.dtype(unit.out[0]);
  const auto one = [&](uint32_t v) {
    return parser.dtype(v) == dtype || why->Say(GE_WHY_DTYPE, "its tensors have several dtypes");
  };
  if (!unit.bias.empty() && !Has(op.Add, "Add", why)) return false;
  for (const uint32_t v : unit.bias) {
    if (!one(v)) return false;
  }
  bool whole = first == unit.dims || !unit.bias.empty();
  for (size_t k = 0; k < unit.post_ops.size(); ++k) {
    const PostOp& q = unit.post_ops[k];
    if (!TakesStep(q, op, why)) return false;
    if (q.operand != 0 && !one(q.operand)) return false;
    if (!whole && (!q.binary() || OfChannels(q))) {
      return why->Say(GE_WHY_SHAPE, "its first tensor is repeated after a function of one tensor");
    }
    whole = true;
  }
  return true;
}

void RecordSteps(const Unit& unit, const Ref& from, const Dims& first, const Ref& result,
                 Calls* calls, size_t biases, size_t post_ops) {
  Recording recording(unit, from, first, result, calls);
  for (size_t k = biases; k < unit.bias.size(); ++k) recording.Bias(unit.bias[k]);
  size_t norm = 0;
  for (size_t k = post_ops; k < unit.post_ops.size(); ++k) {
    if (!OfChannels(unit.post_ops[k])) {
      recording.Step(unit.post_ops[k]);
      continue;
    }
    recording.Norm(norm++);  // the scale, and the shift behind it
    ++k;
  }
}

uint32_t OperatorsOfSteps(const Unit& unit) {
  auto n = static_cast<uint32_t>(unit.bias.size());
  for (const PostOp& q : unit.post_ops) n += OfChannels(q) && q.fn != Fn::kMul ? 0 : 1;
  return n;
}

}  // namespace ge_engines::ascend

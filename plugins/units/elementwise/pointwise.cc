#include "plugins/units/elementwise/pointwise.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace ge_engines {

namespace {

// Functions of one number, with attributes that are a and b, or these numbers.
struct Function {
  std::string_view op;
  Fn fn;
  const char *first = nullptr, *second = nullptr;
  float a = 0, b = 0;
};
constexpr Function kFunctions[] = {
    {"Relu", Fn::kRelu},
    {"LeakyRelu", Fn::kRelu, "alpha"},
    {"Sigmoid", Fn::kSigmoid},
    {"Tanh", Fn::kTanh},
    {"HardSigmoid", Fn::kHardSigmoid, "alpha", "beta"},
    {"HardSwish", Fn::kHardSwish, nullptr, nullptr, 1.0f / 6.0f, 0.5f},
    {"Erf", Fn::kErf},
    {"Exp", Fn::kExp},
    {"Sqrt", Fn::kSqrt},
    {"Abs", Fn::kAbs},
    {"Neg", Fn::kLinear, nullptr, nullptr, -1, -0.0f},  // as all that add nothing: 0 keeps its sign
    {"Reciprocal", Fn::kReciprocal},
    {"Sin", Fn::kSin},
    {"Cos", Fn::kCos},
    {"Tan", Fn::kTan},
    {"Asin", Fn::kAsin},
    {"Acos", Fn::kAcos},
    {"Atan", Fn::kAtan},
    {"Sinh", Fn::kSinh},
    {"Cosh", Fn::kCosh},
    {"Asinh", Fn::kAsinh},
    {"Acosh", Fn::kAcosh},
    {"Atanh", Fn::kAtanh},
    {"Log", Fn::kLog},
    {"Floor", Fn::kFloor},
    {"Ceil", Fn::kCeil},
    {"Round", Fn::kRound},
    {"Sign", Fn::kSign},
    {"Elu", Fn::kElu, "alpha"},
    {"Softplus", Fn::kSoftplus},
    {"Shrink", Fn::kShrink, "lambd", "bias"},
};

}  // namespace

bool ParseUnary(const Parser& parser, uint32_t i, Unit* unit, Why*) {
  const ge_node& n = parser.node(i);
  const Function* f = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const Function& known) { return gp::IsOp(n, known.op); });
  PostOp p{f->fn, f->a, f->b, 0, nullptr};
  if (f->first != nullptr) p.a = static_cast<float>(gp::AttrFloat(n, f->first));
  if (f->second != nullptr) p.b = static_cast<float>(gp::AttrFloat(n, f->second));
  unit->spec = PointwiseSpec();
  unit->post_ops = {p};
  return true;
}

namespace {

bool ParseGelu(const Parser& g, uint32_t i, Unit* u, Why*) {
  const bool tanh = gp::AttrString(g.node(i), "approximate") == "tanh";
  u->spec = PointwiseSpec();
  u->post_ops = {{tanh ? Fn::kGeluTanh : Fn::kGelu, 0, 0, 0, nullptr}};
  return true;
}

// The function of x and y as that of y and x.
Fn Swapped(Fn fn) {
  return fn == Fn::kSub    ? Fn::kRSub
         : fn == Fn::kDiv  ? Fn::kRDiv
         : fn == Fn::kPow  ? Fn::kRPow
         : fn == Fn::kFmod ? Fn::kRFmod
         : fn == Fn::kMod  ? Fn::kRMod
                           : fn;
}

// The unit of fn with both inputs of the node. The running tensor is the one that has the result's
// shape and is no constant.
bool SetOperands(const Parser& g, const ge_node& n, Fn fn, Unit* u, Why* why) {
  if (n.n_in != 2 || n.in[1] == 0) {
    return why->Say(GE_WHY_SHAPE, std::to_string(n.n_in) + " inputs, only 2");
  }
  uint32_t x = n.in[0], y = n.in[1];
  const bool x_whole = g.dims(x) == u->dims, y_whole = g.dims(y) == u->dims;
  if ((!x_whole && y_whole) || (g.constant(x) && !g.constant(y) && y_whole)) {
    std::swap(x, y);
    fn = Swapped(fn);
  }
  u->spec = PointwiseSpec();
  u->in = {x};
  u->post_ops = {{fn, 0, 0, y, nullptr}};
  return true;
}

// fn of any number of inputs, one after the other.
bool ParseFold(const Parser& g, uint32_t i, Fn fn, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = PointwiseSpec();
  const uint32_t* const end = n.in + n.n_in;
  const uint32_t* const whole = std::find_if(
      n.in, end, [&](uint32_t v) { return v != 0 && !g.constant(v) && g.dims(v) == u->dims; });
  if (whole == end) return why->Say(GE_WHY_SHAPE, "no input has the result's shape");
  u->in = {*whole};
  for (const uint32_t* v = n.in; v != end; ++v) {
    if (v != whole) u->post_ops.push_back({fn, 0, 0, *v, nullptr});
  }
  if (u->post_ops.empty()) u->post_ops.push_back({Fn::kLinear, 1, -0.0f, 0, nullptr});
  return true;
}

bool ParseSum(const Parser& g, uint32_t i, Unit* u, Why* why) {
  return ParseFold(g, i, Fn::kAdd, u, why);
}

}  // namespace

bool ParseBinary(const Parser& parser, uint32_t i, Unit* unit, Why* why) {
  const ge_node& n = parser.node(i);
  const std::string_view op = gp::View(n.op);
  Fn fn = op == "Add"   ? Fn::kAdd
          : op == "Sub" ? Fn::kSub
          : op == "Mul" ? Fn::kMul
          : op == "Div" ? Fn::kDiv
          : op == "Max" ? Fn::kMax
                        : Fn::kMin;
  if (n.n_in != 2 && (fn == Fn::kMax || fn == Fn::kMin)) return ParseFold(parser, i, fn, unit, why);
  if (!SetOperands(parser, n, fn, unit, why)) return false;
  fn = unit->post_ops[0].fn;
  const uint32_t y = unit->post_ops[0].operand;
  PostOp p;
  float c = 0;
  const bool linear = fn == Fn::kAdd || fn == Fn::kSub || fn == Fn::kMul || fn == Fn::kRSub;
  if (linear && parser.Scalar(y, &c)) {
    p = fn == Fn::kMul    ? PostOp{Fn::kLinear, c, -0.0f, 0, nullptr}
        : fn == Fn::kRSub ? PostOp{Fn::kLinear, -1, c, 0, nullptr}
                          : PostOp{Fn::kLinear, 1, fn == Fn::kAdd ? c : -c, 0, nullptr};
  } else if (fn == Fn::kDiv && parser.Scalar(y, &c) && std::isnormal(c) &&
             std::isnormal(1.0f / c)) {
    p = {Fn::kLinear, 1.0f / c, -0.0f, 0, nullptr};
  } else {
    return true;
  }
  unit->post_ops = {p};
  return true;
}

namespace {

bool ParseReluGrad(const Parser& g, uint32_t i, Unit* u, Why*) {
  u->spec = PointwiseSpec();
  u->post_ops = {{Fn::kGate, 0, 0, g.node(i).in[1], nullptr}};
  return true;
}

// By a constant exponent where a shorter function does it.
bool ParsePow(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (!SetOperands(g, n, Fn::kPow, u, why)) return false;
  float e = 0;
  if (!g.IsReal(g.dtype(n.in[1]))) {
    Dims whole;
    const bool one = u->post_ops[0].fn == Fn::kPow && g.Integers(n.in[1], &whole) &&
                     whole.size() == 1 && g.dims(n.in[0]) == u->dims;
    if (!one || whole[0] == 0 || whole[0] < -1 || whole[0] > 3) {
      return why->Say(GE_WHY_DTYPE, "of integers only the exponents -1, 1, 2 and 3");
    }
    e = static_cast<float>(whole[0]);
  } else if (u->post_ops[0].fn != Fn::kPow || !g.Scalar(n.in[1], &e)) {
    return true;
  }
  if (e == 1) u->post_ops = {{Fn::kLinear, 1, -0.0f, 0, nullptr}};
  const Fn fn = e == 2 ? Fn::kSquare : e == 3 ? Fn::kCube : e == -1 ? Fn::kReciprocal : Fn::kPow;
  if (fn != Fn::kPow) u->post_ops = {{fn, 0, 0, 0, nullptr}};
  return true;
}

}  // namespace

bool ParseRemainder(const Parser& parser, uint32_t i, Unit* unit, Why* why) {
  const bool truncated = gp::AttrInt(parser.node(i), "fmod") != 0;
  return SetOperands(parser, parser.node(i), truncated ? Fn::kFmod : Fn::kMod, unit, why);
}

// Bounds that are fed are taken one after the other.
bool ParseClip(const Parser& parser, uint32_t i, Unit* unit, Why*) {
  const ge_node& n = parser.node(i);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  PostOp p{Fn::kClip, -kInfinity, kInfinity, 0, nullptr};
  const uint32_t least = n.n_in > 1 ? n.in[1] : 0, most = n.n_in > 2 ? n.in[2] : 0;
  unit->spec = PointwiseSpec();
  if ((least == 0 || parser.Scalar(least, &p.a)) && (most == 0 || parser.Scalar(most, &p.b))) {
    unit->post_ops = {p};
    return true;
  }
  if (least != 0) unit->post_ops.push_back({Fn::kMax, 0, 0, least, nullptr});
  if (most != 0) unit->post_ops.push_back({Fn::kMin, 0, 0, most, nullptr});
  return true;
}

ChannelFactors FactorsOfNorm(float scale, float bias, float mean, float variance, double epsilon) {
  const double s = scale / std::sqrt(static_cast<double>(variance) + epsilon);
  return {static_cast<float>(s), static_cast<float>(bias - s * mean)};
}

namespace {

bool ParseBatchNorm(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (gp::AttrInt(n, "training_mode") != 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "training_mode is not taken");
  }
  if (n.n_in != 5 || u->dims.size() < 2) return why->Say(GE_WHY_SHAPE, "needs rank 2 and 5 inputs");
  std::vector<float> v[4];
  for (uint32_t k = 0; k < 4; ++k) {
    if (!g.constant(n.in[k + 1])) return why->Say(GE_WHY_DYNAMIC, "statistics are not constant");
    v[k] = g.Floats(n.in[k + 1]);
    if (v[k].size() != static_cast<size_t>(u->dims[1])) {
      return why->Say(GE_WHY_SHAPE, "statistics do not match the channels");
    }
  }
  const double eps = gp::AttrFloat(n, "epsilon");
  auto scale = std::make_shared<std::vector<float>>(),
       shift = std::make_shared<std::vector<float>>();
  for (size_t c = 0; c < v[0].size(); ++c) {
    const ChannelFactors f = FactorsOfNorm(v[0][c], v[1][c], v[2][c], v[3][c], eps);
    scale->push_back(f.scale);
    shift->push_back(f.shift);
  }
  u->spec = PointwiseSpec();
  u->post_ops = {PostOp{Fn::kMul, 0, 0, 0, scale}, PostOp{Fn::kAdd, 0, 0, 0, shift}};
  return true;
}

constexpr Operator kPointwiseOperators[] = {
    {"Relu", ParseUnary},
    {"LeakyRelu", ParseUnary},
    {"Sigmoid", ParseUnary},
    {"Tanh", ParseUnary},
    {"HardSigmoid", ParseUnary},
    {"HardSwish", ParseUnary},
    {"Gelu", ParseGelu},
    {"Erf", ParseUnary},
    {"Exp", ParseUnary},
    {"Sqrt", ParseUnary},
    {"Abs", ParseUnary},
    {"Neg", ParseUnary},
    {"Reciprocal", ParseUnary},
    {"Sin", ParseUnary},
    {"Cos", ParseUnary},
    {"Tan", ParseUnary},
    {"Asin", ParseUnary},
    {"Acos", ParseUnary},
    {"Atan", ParseUnary},
    {"Sinh", ParseUnary},
    {"Cosh", ParseUnary},
    {"Asinh", ParseUnary},
    {"Acosh", ParseUnary},
    {"Atanh", ParseUnary},
    {"Log", ParseUnary},
    {"Floor", ParseUnary},
    {"Ceil", ParseUnary},
    {"Round", ParseUnary},
    {"Sign", ParseUnary},
    {"Elu", ParseUnary},
    {"Softplus", ParseUnary},
    {"Shrink", ParseUnary},
    {"Add", ParseBinary, Types::kFloat, 0},
    {"Sub", ParseBinary, Types::kFloat, 0},
    {"Mul", ParseBinary, Types::kFloat, 0},
    {"Div", ParseBinary, Types::kFloat, 0},
    {"Max", ParseBinary, Types::kFloat, 0},
    {"Min", ParseBinary, Types::kFloat, 0},
    {"Sum", ParseSum, Types::kFloat, 0},
    {"ge.ReluGrad", ParseReluGrad, Types::kFloat, 0},
    {"Pow", ParsePow},
    {"Mod", ParseRemainder, Types::kFloat, 0},
    {"Clip", ParseClip, Types::kFloat, 0},
    {"BatchNormalization", ParseBatchNorm, Types::kFloat, 0},
};
}  // namespace

const UnitKind PointwiseSpec::kKind = {.name = "pointwise",
                                       .operators = kPointwiseOperators,
                                       .follows = true,
                                       .post_ops = PostOps::kPlain,
                                       .in_place = InPlace::kPointwise};

}  // namespace ge_engines

#include "plugins/units/elementwise/pointwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ge_engines {

namespace {

bool ParseUnary(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const std::string_view op = gp::View(n.op);
  PostOp p;
  u->spec = PointwiseSpec();
  if (op == "Relu") {
    p.fn = Fn::kRelu;
  } else if (op == "LeakyRelu") {
    p.fn = Fn::kRelu;
    p.a = static_cast<float>(gp::AttrFloat(n, "alpha"));
  } else if (op == "Sigmoid") {
    p.fn = Fn::kSigmoid;
  } else if (op == "Tanh") {
    p.fn = Fn::kTanh;
  } else if (op == "HardSigmoid") {
    p.fn = Fn::kHardSigmoid;
    p.a = static_cast<float>(gp::AttrFloat(n, "alpha"));
    p.b = static_cast<float>(gp::AttrFloat(n, "beta"));
  } else if (op == "HardSwish") {
    p = {Fn::kHardSwish, 1.0f / 6.0f, 0.5f, 0, nullptr};
  } else if (op == "Gelu") {
    p.fn = gp::AttrString(n, "approximate") == "tanh" ? Fn::kGeluTanh : Fn::kGelu;
  } else if (op == "Erf") {
    p.fn = Fn::kErf;
  } else if (op == "Exp") {
    p.fn = Fn::kExp;
  } else if (op == "Sqrt") {
    p.fn = Fn::kSqrt;
  } else if (op == "Abs") {
    p.fn = Fn::kAbs;
  } else if (op == "Neg") {
    p = {Fn::kLinear, -1, 0, 0, nullptr};
  } else if (op == "Reciprocal") {
    p.fn = Fn::kReciprocal;
  } else if (op == "Sin") {
    p.fn = Fn::kSin;
  } else if (op == "Cos") {
    p.fn = Fn::kCos;
  } else if (op == "Log") {
    p.fn = Fn::kLog;
  } else if (op == "Floor") {
    p.fn = Fn::kFloor;
  } else if (op == "Ceil") {
    p.fn = Fn::kCeil;
  } else if (op == "Round") {
    p.fn = Fn::kRound;
  } else if (op == "Sign") {
    p.fn = Fn::kSign;
  } else if (op == "Elu") {
    p.fn = Fn::kElu;
    p.a = static_cast<float>(gp::AttrFloat(n, "alpha"));
  } else if (op == "Softplus") {
    p.fn = Fn::kSoftplus;
  } else {
    return why->Say(GE_WHY_OP, "no kernel for this operator");
  }
  u->post_ops = {p};
  return true;
}

}  // namespace

bool ParseBinary(const Parser& parser, uint32_t i, Unit* unit, Why* why) {
  const ge_node& n = parser.node(i);
  const std::string_view op = gp::View(n.op);
  if (n.n_in != 2 || n.in[1] == 0) {
    return why->Say(GE_WHY_SHAPE, std::to_string(n.n_in) + " inputs, only 2");
  }
  unit->spec = PointwiseSpec();
  Fn fn = op == "Add"   ? Fn::kAdd
          : op == "Sub" ? Fn::kSub
          : op == "Mul" ? Fn::kMul
          : op == "Div" ? Fn::kDiv
          : op == "Max" ? Fn::kMax
                        : Fn::kMin;
  uint32_t x = n.in[0], y = n.in[1];
  // The running tensor is the one that has the result's shape and is no constant.
  const bool x_whole = parser.dims(x) == unit->dims, y_whole = parser.dims(y) == unit->dims;
  if ((!x_whole && y_whole) || (parser.constant(x) && !parser.constant(y) && y_whole)) {
    std::swap(x, y);
    fn = fn == Fn::kSub ? Fn::kRSub : fn == Fn::kDiv ? Fn::kRDiv : fn;
  }
  unit->in = {x};
  PostOp p;
  float c = 0;
  const bool linear = fn == Fn::kAdd || fn == Fn::kSub || fn == Fn::kMul || fn == Fn::kRSub;
  if (linear && parser.Scalar(y, &c)) {
    p = fn == Fn::kMul    ? PostOp{Fn::kLinear, c, 0, 0, nullptr}
        : fn == Fn::kRSub ? PostOp{Fn::kLinear, -1, c, 0, nullptr}
                          : PostOp{Fn::kLinear, 1, fn == Fn::kAdd ? c : -c, 0, nullptr};
  } else if (fn == Fn::kDiv && parser.Scalar(y, &c) && std::isnormal(c) &&
             std::isnormal(1.0f / c)) {
    p = {Fn::kLinear, 1.0f / c, 0, 0, nullptr};
  } else {
    p.fn = fn;
    p.operand = y;
  }
  unit->post_ops = {p};
  return true;
}

namespace {

bool ParseSum(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = PointwiseSpec();
  const uint32_t* const end = n.in + n.n_in;
  const uint32_t* const whole = std::find_if(
      n.in, end, [&](uint32_t v) { return v != 0 && !g.constant(v) && g.dims(v) == u->dims; });
  if (whole == end) return why->Say(GE_WHY_SHAPE, "no input has the result's shape");
  u->in = {*whole};
  for (const uint32_t* v = n.in; v != end; ++v) {
    if (v != whole) u->post_ops.push_back({Fn::kAdd, 0, 0, *v, nullptr});
  }
  if (u->post_ops.empty()) u->post_ops.push_back({Fn::kLinear, 1, 0, 0, nullptr});
  return true;
}

bool ParseReluGrad(const Parser& g, uint32_t i, Unit* u, Why*) {
  u->spec = PointwiseSpec();
  u->post_ops = {{Fn::kGate, 0, 0, g.node(i).in[1], nullptr}};
  return true;
}

bool ParsePow(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  float e = 0;
  if (n.n_in != 2 || !g.Scalar(n.in[1], &e) || g.dims(n.in[0]) != u->dims) {
    return why->Say(GE_WHY_ATTRIBUTE, "the exponent is not a constant scalar");
  }
  u->spec = PointwiseSpec();
  PostOp p;
  if (e == 2) {
    p.fn = Fn::kSquare;
  } else if (e == 3) {
    p.fn = Fn::kCube;
  } else if (e == -1) {
    p.fn = Fn::kReciprocal;
  } else if (e == 1) {
    p.a = 1;
  } else {
    return why->Say(GE_WHY_ATTRIBUTE, "exponent " + std::to_string(e) + ", only -1, 1, 2 and 3");
  }
  u->post_ops = {p};
  return true;
}

bool ParseClip(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  PostOp p;
  p.fn = Fn::kClip;
  p.a = static_cast<float>(gp::AttrFloat(n, "min", std::numeric_limits<float>::lowest()));
  p.b = static_cast<float>(gp::AttrFloat(n, "max", std::numeric_limits<float>::max()));
  if (n.n_in > 1 && n.in[1] != 0 && !g.Scalar(n.in[1], &p.a)) {
    return why->Say(GE_WHY_DYNAMIC, "min is not constant");
  }
  if (n.n_in > 2 && n.in[2] != 0 && !g.Scalar(n.in[2], &p.b)) {
    return why->Say(GE_WHY_DYNAMIC, "max is not constant");
  }
  u->spec = PointwiseSpec();
  u->post_ops = {p};
  return true;
}

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
    const double s = v[0][c] / std::sqrt(static_cast<double>(v[3][c]) + eps);
    scale->push_back(static_cast<float>(s));
    shift->push_back(static_cast<float>(v[1][c] - s * v[2][c]));
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
    {"Gelu", ParseUnary},
    {"Erf", ParseUnary},
    {"Exp", ParseUnary},
    {"Sqrt", ParseUnary},
    {"Abs", ParseUnary},
    {"Neg", ParseUnary},
    {"Reciprocal", ParseUnary},
    {"Sin", ParseUnary},
    {"Cos", ParseUnary},
    {"Log", ParseUnary},
    {"Floor", ParseUnary},
    {"Ceil", ParseUnary},
    {"Round", ParseUnary},
    {"Sign", ParseUnary},
    {"Elu", ParseUnary},
    {"Softplus", ParseUnary},
    {"Add", ParseBinary, Types::kFloat, 0},
    {"Sub", ParseBinary, Types::kFloat, 0},
    {"Mul", ParseBinary, Types::kFloat, 0},
    {"Div", ParseBinary, Types::kFloat, 0},
    {"Max", ParseBinary, Types::kFloat, 0},
    {"Min", ParseBinary, Types::kFloat, 0},
    {"Sum", ParseSum, Types::kFloat, 0},
    {"ge.ReluGrad", ParseReluGrad, Types::kFloat, 0},
    {"Pow", ParsePow},
    {"Clip", ParseClip},
    {"BatchNormalization", ParseBatchNorm, Types::kFloat, 0},
};
}  // namespace

const UnitKind PointwiseSpec::kKind = {.name = "pointwise",
                                       .operators = kPointwiseOperators,
                                       .follows = true,
                                       .post_ops = PostOps::kPlain,
                                       .in_place = InPlace::kPointwise};

}  // namespace ge_engines

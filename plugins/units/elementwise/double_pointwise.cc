#include "plugins/units/elementwise/double_pointwise.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

struct DoubleFunction {
  std::string_view op;
  Fn fn;
  bool alpha = false, beta = false;  // attributes that are a and b
};
constexpr DoubleFunction kDoubleFunctions[] = {
    {"Relu", Fn::kRelu},
    {"LeakyRelu", Fn::kRelu, true},
    {"Sigmoid", Fn::kSigmoid},
    {"Tanh", Fn::kTanh},
    {"HardSigmoid", Fn::kHardSigmoid, true, true},
    {"Erf", Fn::kErf},
    {"Exp", Fn::kExp},
    {"Sqrt", Fn::kSqrt},
    {"Abs", Fn::kAbs},
    {"Reciprocal", Fn::kReciprocal},
    {"Sin", Fn::kSin},
    {"Cos", Fn::kCos},
    {"Log", Fn::kLog},
    {"Floor", Fn::kFloor},
    {"Ceil", Fn::kCeil},
    {"Round", Fn::kRound},
    {"Sign", Fn::kSign},
    {"Elu", Fn::kElu, true},
    {"Softplus", Fn::kSoftplus},
};

bool ParseDoubleFunction(const Parser& g, uint32_t i, Unit* u, Why*) {
  const ge_node& n = g.node(i);
  const DoubleFunction* f =
      std::find_if(std::begin(kDoubleFunctions), std::end(kDoubleFunctions),
                   [&](const DoubleFunction& known) { return known.op == gp::View(n.op); });
  DoublePointwiseSpec s{f->fn};
  if (f->alpha) s.a = gp::AttrFloat(n, "alpha");
  if (f->beta) s.b = gp::AttrFloat(n, "beta");
  u->spec = s;
  return true;
}

bool ParseDoubleNeg(const Parser&, uint32_t, Unit* u, Why*) {
  u->spec = DoublePointwiseSpec{Fn::kLinear, -1, -0.0};
  return true;
}

bool ParseDoubleClip(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  constexpr double kMost = std::numeric_limits<double>::infinity();
  DoublePointwiseSpec s{Fn::kClip, -kMost, kMost};
  if (n.n_in > 1 && n.in[1] != 0 && !g.Double(n.in[1], &s.a)) {
    return why->Say(GE_WHY_DYNAMIC, "min is not constant");
  }
  if (n.n_in > 2 && n.in[2] != 0 && !g.Double(n.in[2], &s.b)) {
    return why->Say(GE_WHY_DYNAMIC, "max is not constant");
  }
  u->spec = s;
  return true;
}

constexpr Operator kDoublePointwiseOperators[] = {
    {"Relu", ParseDoubleFunction, Types::kDouble},
    {"LeakyRelu", ParseDoubleFunction, Types::kDouble},
    {"Sigmoid", ParseDoubleFunction, Types::kDouble},
    {"Tanh", ParseDoubleFunction, Types::kDouble},
    {"HardSigmoid", ParseDoubleFunction, Types::kDouble},
    {"Erf", ParseDoubleFunction, Types::kDouble},
    {"Exp", ParseDoubleFunction, Types::kDouble},
    {"Sqrt", ParseDoubleFunction, Types::kDouble},
    {"Abs", ParseDoubleFunction, Types::kDouble},
    {"Reciprocal", ParseDoubleFunction, Types::kDouble},
    {"Sin", ParseDoubleFunction, Types::kDouble},
    {"Cos", ParseDoubleFunction, Types::kDouble},
    {"Log", ParseDoubleFunction, Types::kDouble},
    {"Floor", ParseDoubleFunction, Types::kDouble},
    {"Ceil", ParseDoubleFunction, Types::kDouble},
    {"Round", ParseDoubleFunction, Types::kDouble},
    {"Sign", ParseDoubleFunction, Types::kDouble},
    {"Elu", ParseDoubleFunction, Types::kDouble},
    {"Softplus", ParseDoubleFunction, Types::kDouble},
    {"Neg", ParseDoubleNeg, Types::kDouble},
    {"Clip", ParseDoubleClip, Types::kDouble, 0},
};
}  // namespace

const UnitKind DoublePointwiseSpec::kKind = {.name = "double_pointwise",
                                             .operators = kDoublePointwiseOperators,
                                             .in_place = InPlace::kFirst};

}  // namespace ge_engines

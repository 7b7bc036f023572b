#include "plugins/units/elementwise/integer_arithmetic.h"

#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// The binary operators on int32 and int64.
bool IntegerMath(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const std::string_view op = gp::View(n.op);
  const int32_t t = g.dtype(n.in[0]);
  if ((t != GE_I32 && t != GE_I64) || g.dtype(n.in[1]) != t || g.dtype(n.out[0]) != t) {
    return why->Say(GE_WHY_DTYPE, std::string("operands of ") + gp::DTypeName(t) + " and " +
                                      gp::DTypeName(g.dtype(n.in[1])) +
                                      ", only two of float32, int32 or int64");
  }
  if (!Broadcasts(g.dims(n.in[0]), u->dims) || !Broadcasts(g.dims(n.in[1]), u->dims)) {
    return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  }
  u->spec = IntegerSpec{op == "Add"   ? Fn::kAdd
                        : op == "Sub" ? Fn::kSub
                        : op == "Mul" ? Fn::kMul
                        : op == "Div" ? Fn::kDiv
                        : op == "Max" ? Fn::kMax
                                      : Fn::kMin};
  u->in.push_back(n.in[1]);
  return true;
}

bool ParseArithmetic(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const bool two = n.n_in == 2 && n.in[1] != 0;
  return two && g.dtype(n.in[0]) != GE_F32 ? IntegerMath(g, i, u, why) : ParseBinary(g, i, u, why);
}

constexpr Operator kIntegerArithmeticOperators[] = {
    {.op = "Add", .parse = ParseArithmetic, .types = Types::kNumber, .data = 0, .first = true},
    {.op = "Sub", .parse = ParseArithmetic, .types = Types::kNumber, .data = 0, .first = true},
    {.op = "Mul", .parse = ParseArithmetic, .types = Types::kNumber, .data = 0, .first = true},
    {.op = "Div", .parse = ParseArithmetic, .types = Types::kNumber, .data = 0, .first = true},
    {.op = "Max", .parse = ParseArithmetic, .types = Types::kNumber, .data = 0, .first = true},
    {.op = "Min", .parse = ParseArithmetic, .types = Types::kNumber, .data = 0, .first = true},
};
}  // namespace

const UnitKind IntegerSpec::kKind = {.name = "integer_arithmetic",
                                     .operators = kIntegerArithmeticOperators};

}  // namespace ge_engines

#include "plugins/units/elementwise/arithmetic.h"

#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool IsPlainNumber(int32_t dtype) {
  switch (dtype) {
    case GE_I8:
    case GE_U8:
    case GE_I16:
    case GE_U16:
    case GE_I32:
    case GE_U32:
    case GE_I64:
    case GE_U64:
    case GE_F16:
    case GE_F64:
      return true;
    default:
      return false;
  }
}

// The binary operators on two numbers of one dtype.
bool ParseTwo(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const std::string_view op = gp::View(n.op);
  const int32_t t = g.dtype(n.in[0]);
  if (!IsPlainNumber(t) || g.dtype(n.in[1]) != t || g.dtype(n.out[0]) != t) {
    return why->Say(GE_WHY_DTYPE,
                    std::string("operands of ") + gp::DTypeName(t) + " and " +
                        gp::DTypeName(g.dtype(n.in[1])) +
                        ", only two integers or two floats of one type, not bfloat16");
  }
  if (!Broadcasts(g.dims(n.in[0]), u->dims) || !Broadcasts(g.dims(n.in[1]), u->dims)) {
    return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  }
  u->spec = ArithmeticSpec{op == "Add"   ? Fn::kAdd
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
  return two && g.dtype(n.in[0]) != GE_F32 ? ParseTwo(g, i, u, why) : ParseBinary(g, i, u, why);
}

constexpr Operator kArithmeticOperators[] = {
    {.op = "Add", .parse = ParseArithmetic, .types = Types::kAny, .data = 0, .first = true},
    {.op = "Sub", .parse = ParseArithmetic, .types = Types::kAny, .data = 0, .first = true},
    {.op = "Mul", .parse = ParseArithmetic, .types = Types::kAny, .data = 0, .first = true},
    {.op = "Div", .parse = ParseArithmetic, .types = Types::kAny, .data = 0, .first = true},
    {.op = "Max", .parse = ParseArithmetic, .types = Types::kAny, .data = 0, .first = true},
    {.op = "Min", .parse = ParseArithmetic, .types = Types::kAny, .data = 0, .first = true},
};
}  // namespace

const UnitKind ArithmeticSpec::kKind = {.name = "arithmetic", .operators = kArithmeticOperators};

}  // namespace ge_engines

#include "plugins/units/elementwise/arithmetic.h"

#include <algorithm>
#include <iterator>

#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool IsSigned(int32_t dtype) {
  return dtype == GE_I8 || dtype == GE_I16 || dtype == GE_I32 || dtype == GE_I64;
}
bool IsWhole(int32_t dtype) {
  return IsSigned(dtype) || dtype == GE_U8 || dtype == GE_U16 || dtype == GE_U32 || dtype == GE_U64;
}
bool IsPlainNumber(int32_t dtype) { return IsWhole(dtype) || dtype == GE_F16 || dtype == GE_F64; }

// The operators on two numbers of one dtype; Max and Min have any number of them.
bool ParseSeveral(const Parser& g, uint32_t i, Fn fn, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int32_t t = g.dtype(n.in[0]);
  u->in.clear();
  for (uint32_t k = 0; k < n.n_in; ++k) {
    const uint32_t v = n.in[k];
    if (v == 0 || !Broadcasts(g.dims(v), u->dims)) {
      return why->Say(GE_WHY_SHAPE, "an input is missing, or dims do not broadcast");
    }
    const int32_t other = g.dtype(v) != t ? g.dtype(v) : g.dtype(n.out[0]);
    if (other != t) {
      return why->Say(GE_WHY_DTYPE, std::string("numbers of ") + gp::DTypeName(t) + " and " +
                                        gp::DTypeName(other) + ", only of one type");
    }
    u->in.push_back(v);
  }
  if (n.n_in == 1) u->in.push_back(n.in[0]);
  u->spec = ArithmeticSpec{fn};
  return true;
}

bool ParseArithmetic(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int32_t t = g.dtype(n.in[0]);
  if (g.IsReal(t)) return ParseBinary(g, i, u, why);
  const std::string_view op = gp::View(n.op);
  const bool extreme = op == "Max" || op == "Min";
  if (!IsPlainNumber(t) || (n.n_in != 2 && !(extreme && IsWhole(t)))) {
    return why->Say(GE_WHY_DTYPE,
                    std::to_string(n.n_in) + " operands of " + gp::DTypeName(t) +
                        ", only two integers or two floats, not bfloat16; of Max and Min any "
                        "number of integers");
  }
  const Fn fn = op == "Add"   ? Fn::kAdd
                : op == "Sub" ? Fn::kSub
                : op == "Mul" ? Fn::kMul
                : op == "Div" ? Fn::kDiv
                : op == "Max" ? Fn::kMax
                              : Fn::kMin;
  return ParseSeveral(g, i, fn, u, why);
}

bool WantsWhole(const Parser& g, const ge_node& n, Why* why) {
  const int32_t t = g.dtype(n.in[0]);
  return (IsWhole(t) && g.dtype(n.out[0]) == t) ||
         why->Say(GE_WHY_DTYPE, std::string(gp::DTypeName(t)) + ", only float32 and integers");
}

// Of two integers, float32 as ParseBinary has it.
bool ParseMod(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (g.IsReal(g.dtype(n.in[0]))) return ParseRemainder(g, i, u, why);
  const Fn fn = gp::AttrInt(n, "fmod") != 0 ? Fn::kFmod : Fn::kMod;
  return WantsWhole(g, n, why) && ParseSeveral(g, i, fn, u, why);
}

bool ParseBits(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const std::string_view op = gp::View(n.op);
  const bool left = gp::AttrString(n, "direction") == "LEFT";
  const Fn fn = op == "BitwiseAnd"   ? Fn::kAnd
                : op == "BitwiseOr"  ? Fn::kOr
                : op == "BitwiseXor" ? Fn::kXor
                : left               ? Fn::kShiftLeft
                                     : Fn::kShiftRight;
  return WantsWhole(g, n, why) && ParseSeveral(g, i, fn, u, why);
}

// Functions of one integer, most of them those of two with a number.
bool ParseOne(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int32_t t = g.dtype(n.in[0]);
  if (g.IsReal(t)) return ParseUnary(g, i, u, why);
  if (!WantsWhole(g, n, why)) return false;
  const std::string_view op = gp::View(n.op);
  if (op == "Neg") {
    u->spec = ArithmeticSpec{Fn::kRSub, 0};
  } else if (op == "BitwiseNot") {
    u->spec = ArithmeticSpec{Fn::kXor, -1};
  } else if (op == "Relu" || (op == "Abs" && !IsSigned(t))) {
    u->spec = ArithmeticSpec{Fn::kMax, 0};
  } else if (op == "Abs") {
    u->spec = ArithmeticSpec{Fn::kAbs, 0};
  } else {
    u->spec = IsSigned(t) ? ArithmeticSpec{Fn::kSign, 0} : ArithmeticSpec{Fn::kMin, 1};
  }
  return true;
}

bool ParseClipOfAny(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (g.IsReal(g.dtype(n.in[0]))) return ParseClip(g, i, u, why);
  if (!WantsWhole(g, n, why)) return false;
  for (uint32_t k = 1; k < 3; ++k) {
    const uint32_t bound = k < n.n_in ? n.in[k] : 0;
    if (bound != 0 && (g.dtype(bound) != g.dtype(n.in[0]) || Product(g.dims(bound)) != 1)) {
      return why->Say(GE_WHY_DTYPE, "a bound is no number of the input's type");
    }
    u->in.push_back(bound);
  }
  u->spec = ArithmeticSpec{Fn::kClip};
  return true;
}

constexpr Operator ArithmeticRow(const char* op, decltype(Operator::parse) parse) {
  return {.op = op, .parse = parse, .types = Types::kAny, .data = 0, .first = true};
}
constexpr Operator kArithmeticOperators[] = {
    ArithmeticRow("Add", ParseArithmetic), ArithmeticRow("Sub", ParseArithmetic),
    ArithmeticRow("Mul", ParseArithmetic), ArithmeticRow("Div", ParseArithmetic),
    ArithmeticRow("Max", ParseArithmetic), ArithmeticRow("Min", ParseArithmetic),
    ArithmeticRow("Mod", ParseMod),        ArithmeticRow("BitwiseAnd", ParseBits),
    ArithmeticRow("BitwiseOr", ParseBits), ArithmeticRow("BitwiseXor", ParseBits),
    ArithmeticRow("BitShift", ParseBits),  ArithmeticRow("BitwiseNot", ParseOne),
    ArithmeticRow("Abs", ParseOne),        ArithmeticRow("Neg", ParseOne),
    ArithmeticRow("Sign", ParseOne),       ArithmeticRow("Relu", ParseOne),
    ArithmeticRow("Clip", ParseClipOfAny),
};
}  // namespace

const UnitKind ArithmeticSpec::kKind = {.name = "arithmetic", .operators = kArithmeticOperators};

}  // namespace ge_engines

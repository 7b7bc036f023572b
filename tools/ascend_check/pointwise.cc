// Operators of each element by itself, against plain formulas.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

constexpr int64_t kCount = 33;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

using Unary = acl::TwoPhase<acl::Status (*)(acl::In, acl::Out)>;
using Binary = acl::TwoPhase<acl::Status (*)(acl::In, acl::In, acl::Out)>;

Check Formula(const std::string& name, const std::string& formula,
              std::function<void(Desk&, acl::DataType)> use) {
  return {"aclnn" + name, "rule:two-phase",
          "aclnn" + name.substr(0, name.find('-')) + " is " + formula + ".",
          [use = std::move(use)](Case& at) { InEachType(at, use); }};
}

// f(x) of values scaled and moved to where it is defined.
Check OfOne(Unary acl::Operators::*op, const char* name, const char* formula, double (*f)(double),
            double scale = 1, double move = 0) {
  return Formula(name, formula, [=](Desk& d, acl::DataType type) {
    Values x, wanted;
    for (const double v : Some(kCount)) x.push_back(Rounded(v * scale + move, type));
    for (const double v : x) wanted.push_back(f(v));
    const Operand in = d.In({kCount}, type, x), out = d.Out({kCount}, type);
    d.Run(d.op.*op, in, out);
    d.Near(out, wanted);
  });
}

Check OfTwo(Binary acl::Operators::*op, const char* name, const char* formula,
            double (*f)(double, double), bool positive = false) {
  return Formula(name, formula, [=](Desk& d, acl::DataType type) {
    const Values x = positive ? SomePositive(kCount, 1) : Some(kCount, 1),
                 y = SomePositive(kCount, 2);
    Values wanted;
    for (size_t i = 0; i < x.size(); ++i) wanted.push_back(f(x[i], y[i]));
    const Operand out = d.Out({kCount}, type);
    d.Run(d.op.*op, d.In({kCount}, type, x), d.In({kCount}, type, y), out);
    d.Near(out, wanted);
  });
}

// A bool of two numbers.
Check OfRelation(Binary acl::Operators::*op, const char* name, const char* formula,
                 bool (*f)(double, double)) {
  return Formula(name, formula, [=](Desk& d, acl::DataType type) {
    const Values x = Some(kCount, 1), y = {x[0], x[1], 0, x[3] + 1};
    Values other, wanted;
    for (size_t i = 0; i < x.size(); ++i) other.push_back(y[i % 4]);
    for (size_t i = 0; i < x.size(); ++i) wanted.push_back(f(x[i], other[i]) ? 1 : 0);
    const Operand out = d.Out({kCount}, acl::kBool);
    d.Run(d.op.*op, d.In({kCount}, type, x), d.In({kCount}, type, other), out);
    d.Same(out, wanted);
  });
}

Check OfBools(Binary acl::Operators::*op, const char* name, const char* formula, Values wanted) {
  return {std::string("aclnn") + name, "rule:two-phase",
          std::string("aclnn") + name + " is " + formula + ".", [=](Case& at) {
            Desk d(at);
            const Operand out = d.Out({4}, acl::kBool);
            d.Run(d.op.*op, d.In({4}, acl::kBool, Values{0, 0, 1, 1}),
                  d.In({4}, acl::kBool, Values{0, 1, 0, 1}), out);
            d.Same(out, wanted);
          }};
}

#define ONE(name, formula, ...) OfOne(&acl::Operators::name, #name, formula, __VA_ARGS__)
#define TWO(name, formula, ...) OfTwo(&acl::Operators::name, #name, formula, __VA_ARGS__)
#define RELATION(name, sign)                                \
  OfRelation(&acl::Operators::name, #name, "x " #sign " y", \
             [](double x, double y) { return x sign y; })

std::vector<Check> OfNumbers() {
  return {
      ONE(Abs, "|x|", [](double x) { return std::fabs(x); }),
      ONE(
          Acos, "acos(x)", [](double x) { return std::acos(x); }, 0.4375),
      ONE(
          Acosh, "acosh(x)", [](double x) { return std::acosh(x); }, 1, 4),
      ONE(
          Asin, "asin(x)", [](double x) { return std::asin(x); }, 0.4375),
      ONE(Asinh, "asinh(x)", [](double x) { return std::asinh(x); }),
      ONE(Atan, "atan(x)", [](double x) { return std::atan(x); }),
      ONE(
          Atanh, "atanh(x)", [](double x) { return std::atanh(x); }, 0.375),
      ONE(Ceil, "the least whole number not below x", [](double x) { return std::ceil(x); }),
      ONE(Cos, "cos(x)", [](double x) { return std::cos(x); }),
      ONE(Cosh, "cosh(x)", [](double x) { return std::cosh(x); }),
      ONE(Erf, "erf(x)", [](double x) { return std::erf(x); }),
      ONE(Exp, "exp(x)", [](double x) { return std::exp(x); }),
      ONE(Floor, "the greatest whole number not above x", [](double x) { return std::floor(x); }),
      ONE(Gelu, "x (1 + erf(x / sqrt 2)) / 2",
          [](double x) { return 0.5 * x * std::erfc(-x * std::sqrt(0.5)); }),
      ONE(
          Hardsigmoid, "clamp(x / 6 + 1 / 2, 0, 1)",
          [](double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }, 3),
      ONE(
          Hardswish, "x clamp(x + 3, 0, 6) / 6",
          [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }, 3),
      ONE(
          Log, "log(x)", [](double x) { return std::log(x); }, 1, 4),
      ONE(Neg, "-x", [](double x) { return -x; }),
      ONE(
          Reciprocal, "1 / x", [](double x) { return 1 / x; }, 1, 4),
      ONE(Relu, "max(x, 0)", [](double x) { return std::fmax(x, 0); }),
      ONE(Round, "the nearest whole number, the even one of two",
          [](double x) { return std::nearbyint(x); }),
      ONE(
          Rsqrt, "1 / sqrt(x)", [](double x) { return 1 / std::sqrt(x); }, 1, 4),
      ONE(Sigmoid, "1 / (1 + exp(-x))", Sigmoid),
      ONE(Sign, "-1, 0 or 1", [](double x) { return x > 0   ? 1.0
                                                    : x < 0 ? -1.0
                                                            : 0.0; }),
      ONE(Silu, "x / (1 + exp(-x))", [](double x) { return x * Sigmoid(x); }),
      ONE(Sin, "sin(x)", [](double x) { return std::sin(x); }),
      ONE(Sinh, "sinh(x)", [](double x) { return std::sinh(x); }),
      ONE(
          Sqrt, "sqrt(x)", [](double x) { return std::sqrt(x); }, 1, 4),
      ONE(
          Tan, "tan(x)", [](double x) { return std::tan(x); }, 0.5),
      ONE(Tanh, "tanh(x)", [](double x) { return std::tanh(x); }),
  };
}

std::vector<Check> OfTwoNumbers() {
  return {
      TWO(Div, "x / y", [](double x, double y) { return x / y; }),
      TWO(FmodTensor, "the rest of x / y, of x's sign",
          [](double x, double y) { return std::fmod(x, y); }),
      TWO(Maximum, "max(x, y)", [](double x, double y) { return std::fmax(x, y); }),
      TWO(Minimum, "min(x, y)", [](double x, double y) { return std::fmin(x, y); }),
      TWO(Mul, "x y", [](double x, double y) { return x * y; }),
      TWO(
          PowTensorTensor, "x to the power of y", [](double x, double y) { return std::pow(x, y); },
          true),
      RELATION(EqTensor, ==),
      RELATION(GeTensor, >=),
      RELATION(GtTensor, >),
      RELATION(LeTensor, <=),
      RELATION(LtTensor, <),
      OfBools(&acl::Operators::LogicalAnd, "LogicalAnd", "both", {0, 0, 0, 1}),
      OfBools(&acl::Operators::LogicalOr, "LogicalOr", "one of them or both", {0, 1, 1, 1}),
      OfBools(&acl::Operators::LogicalXor, "LogicalXor", "one of them alone", {0, 1, 1, 0}),
      {"aclnnLogicalNot", "rule:two-phase", "aclnnLogicalNot is the other of two.",
       [](Case& at) {
         Desk d(at);
         const Operand out = d.Out({2}, acl::kBool);
         d.Run(d.op.LogicalNot, d.In({2}, acl::kBool, Values{0, 1}), out);
         d.Same(out, {1, 0});
       }},
  };
}

// ---- with numbers of their own -----------------------------------------------------------------

// Runs call(desk, in, out) and compares with f.
template <class Call>
Check Scaled(const char* name, const char* formula, double (*f)(double), const Call& call,
             bool positive = false) {
  return Formula(name, formula, [=](Desk& d, acl::DataType type) {
    const Values x = positive ? SomePositive(kCount) : Some(kCount);
    Values wanted;
    for (const double v : x) wanted.push_back(f(v));
    const Operand in = d.In({kCount}, type, x), out = d.Out({kCount}, type);
    call(d, in, out);
    d.Near(out, wanted);
  });
}

Check Sum(const char* name, bool minus) {
  return Formula(name, minus ? "x - alpha y" : "x + alpha y", [=](Desk& d, acl::DataType type) {
    const Values x = Some(kCount, 1), y = Some(kCount, 2);
    Values wanted;
    for (size_t i = 0; i < x.size(); ++i) wanted.push_back(x[i] + (minus ? -2 : 2) * y[i]);
    const Operand a = d.In({kCount}, type, x), b = d.In({kCount}, type, y),
                  out = d.Out({kCount}, type);
    d.Run(minus ? d.op.Sub : d.op.Add, a, b, d.Number(2), out);
    d.Near(out, wanted);
  });
}

void SumOfIntegers(Case& at) {
  Desk d(at);
  for (const acl::DataType type : {acl::kI32, acl::kI64}) {
    const Operand out = d.Out({3}, type);
    d.Run(d.op.Add, d.In({3}, type, Values{1, -2, 2000000000}), d.In({3}, type, Values{4, 5, -7}),
          d.Number(1, type), out);
    d.Same(out, {5, 3, 1999999993});
  }
}

std::vector<Check> WithNumbers() {
  return {
      Sum("Add", false),
      Sum("Sub", true),
      {"aclnnAdd-integers", "rule:two-phase", "Sums of int32 and int64 are exact.", SumOfIntegers},
      Scaled(
          "Adds", "x + 3 * 2", [](double x) { return x + 6; },
          [](Desk& d, const Operand& in, const Operand& out) {
            d.Run(d.op.Adds, in, d.Number(3), d.Number(2), out);
          }),
      Scaled(
          "Muls", "1.5 x", [](double x) { return 1.5 * x; },
          [](Desk& d, const Operand& in, const Operand& out) {
            d.Run(d.op.Muls, in, d.Number(1.5), out);
          }),
      Scaled(
          "PowTensorScalar", "x to the power of 3", [](double x) { return x * x * x; },
          [](Desk& d, const Operand& in, const Operand& out) {
            d.Run(d.op.PowTensorScalar, in, d.Number(3), out);
          }),
      Scaled(
          "Clamp", "x from -1 to 1.5", [](double x) { return std::clamp(x, -1.0, 1.5); },
          [](Desk& d, const Operand& in, const Operand& out) {
            d.Run(d.op.Clamp, in, d.Number(-1), d.Number(1.5), out);
          }),
      Scaled(
          "LeakyRelu", "x, and 0.25 x below 0", [](double x) { return x < 0 ? 0.25 * x : x; },
          [](Desk& d, const Operand& in, const Operand& out) {
            d.Run(d.op.LeakyRelu, in, d.Number(0.25), out);
          }),
      Scaled(
          "Elu", "x, and exp(x) - 1 below 0", [](double x) { return x < 0 ? std::expm1(x) : x; },
          [](Desk& d, const Operand& in, const Operand& out) {
            d.Run(d.op.Elu, in, d.Number(1), d.Number(1), d.Number(1), out);
          }),
      Scaled(
          "Softplus", "log(1 + exp(x))", [](double x) { return std::log1p(std::exp(x)); },
          [](Desk& d, const Operand& in, const Operand& out) {
            d.Run(d.op.Softplus, in, d.Number(1), d.Number(20), out);
          }),
      Formula("Cast", "the same value in another dtype",
              [](Desk& d, acl::DataType type) {
                const Operand in = d.In({kCount}, acl::kF32), out = d.Out({kCount}, type);
                d.Run(d.op.Cast, in, type, out);
                d.Same(out, Some(kCount));
                const Operand back = d.Out({kCount}, acl::kF32);
                d.Run(d.op.Cast, out, acl::kF32, back);
                d.Same(back, Some(kCount));
              }),
      Formula(
          "SWhere", "x where the condition holds, else y",
          [](Desk& d, acl::DataType type) {
            const Operand when = d.In({4}, acl::kBool, Values{1, 0, 0, 1}), out = d.Out({4}, type);
            d.Run(d.op.SWhere, when, d.In({4}, type, Values{1, 2, 3, 4}),
                  d.In({1}, type, Values{-8}), out);
            d.Same(out, {1, -8, -8, 4});
          }),
  };
}

}  // namespace

std::vector<Check> PointwiseChecks() {
  std::vector<Check> checks = OfNumbers();
  for (const auto& some : {OfTwoNumbers, WithNumbers}) {
    for (Check& check : some()) checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace ascend_check

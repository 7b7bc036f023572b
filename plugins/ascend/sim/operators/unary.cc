// Functions of one tensor, in plain formats and in NC1HWC0.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "plugins/ascend/sim/operators/checker.h"

namespace ge_engines::ascend::sim {
namespace {

float Reciprocal(float x) { return 1 / x; }
// By the complement: where the error function is nearly -1, 1 + erf has few digits.
float Gelu(float x) { return 0.5f * x * std::erfc(-0.70710678f * x); }
float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
float Silu(float x) { return x / (1 + std::exp(-x)); }
float Clamped(float x, float least, float most) { return x < least ? least : x > most ? most : x; }
float Hardsigmoid(float x) { return Clamped(x / 6 + 0.5f, 0, 1); }
float Hardswish(float x) { return x * (Clamped(x + 3, 0, 6) / 6); }
float Relu(float x) { return x < 0 ? 0 : x; }
float Rsqrt(float x) { return 1 / std::sqrt(x); }
float Sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }
float Abs(float x) { return std::fabs(x); }
float Neg(float x) { return -x; }
float RoundEven(float x) { return std::nearbyint(x); }
float Acos(float x) { return std::acos(x); }
float Acosh(float x) { return std::acosh(x); }
float Asin(float x) { return std::asin(x); }
float Asinh(float x) { return std::asinh(x); }
float Atan(float x) { return std::atan(x); }
float Atanh(float x) { return std::atanh(x); }
float Ceil(float x) { return std::ceil(x); }
float Cos(float x) { return std::cos(x); }
float Cosh(float x) { return std::cosh(x); }
float Erf(float x) { return std::erf(x); }
float Exp(float x) { return std::exp(x); }
float Floor(float x) { return std::floor(x); }
float Log(float x) { return std::log(x); }
float Sin(float x) { return std::sin(x); }
float Sinh(float x) { return std::sinh(x); }
float Sqrt(float x) { return std::sqrt(x); }
float Tan(float x) { return std::tan(x); }
float Tanh(float x) { return std::tanh(x); }
// Beyond int64_t's range they wrap.
int64_t Abs(int64_t x) { return x < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x; }
int64_t Neg(int64_t x) { return static_cast<int64_t>(0 - static_cast<uint64_t>(x)); }
int64_t Relu(int64_t x) { return std::max<int64_t>(x, 0); }
int64_t Sign(int64_t x) { return (x > 0) - (x < 0); }

using OfReal = float (*)(float);
using OfWhole = int64_t (*)(int64_t);

std::string CheckUnary(const Arguments& given, uint32_t types) {
  Checker c(given);
  c.Tensor(0, "self", types, kPlain | kBlocked).Tensor(1, "out", types, kPlain | kBlocked);
  c.SameType(1, 0).SameFormat(1, 0).HasDims(1, given[0].tensor.dims);
  return c.fault();
}

template <OfReal real, OfWhole whole>
void RunUnary(const Arguments& given, void*) {
  const acl::Tensor &self = given[0].tensor, &out = given[1].tensor;
  WithValues(self.type, [&]<class V>(V) {
    std::vector<V> values = Load<V>(self);
    if constexpr (std::is_same_v<V, float>) {
      for (V& x : values) x = real(x);
    } else if constexpr (whole != nullptr) {
      for (V& x : values) x = whole(x);
    }
    Store(out, values);
  });
}

template <OfReal real, OfWhole whole = nullptr>
constexpr Operation Row(const char* name) {
  constexpr uint32_t kTypes = whole == nullptr ? kReals : kNumbers;
  return {name, [](const Arguments& given) { return CheckUnary(given, kTypes); }, nullptr,
          RunUnary<real, whole>};
}

std::string CheckNot(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kAllTypes).Tensor(1, "out", kBools).HasDims(1, given[0].tensor.dims);
  return c.fault();
}

void RunNot(const Arguments& given, void*) {
  const acl::Tensor &self = given[0].tensor, &out = given[1].tensor;
  WithValues(self.type, [&]<class V>(V) {
    const std::vector<V> values = Load<V>(self);
    std::vector<int64_t> flags;
    for (const V x : values) flags.push_back(x == 0 ? 1 : 0);
    Store(out, flags);
  });
}

constexpr Operation kUnary[] = {
    Row<Abs, Abs>("Abs"),
    Row<Acos>("Acos"),
    Row<Acosh>("Acosh"),
    Row<Asin>("Asin"),
    Row<Asinh>("Asinh"),
    Row<Atan>("Atan"),
    Row<Atanh>("Atanh"),
    Row<Ceil>("Ceil"),
    Row<Cos>("Cos"),
    Row<Cosh>("Cosh"),
    Row<Erf>("Erf"),
    Row<Exp>("Exp"),
    Row<Floor>("Floor"),
    Row<Gelu>("Gelu"),
    Row<Hardsigmoid>("Hardsigmoid"),
    Row<Hardswish>("Hardswish"),
    Row<Log>("Log"),
    {"LogicalNot", CheckNot, nullptr, RunNot},
    Row<Neg, Neg>("Neg"),
    Row<Reciprocal>("Reciprocal"),
    Row<Relu, Relu>("Relu"),
    Row<RoundEven>("Round"),
    Row<Rsqrt>("Rsqrt"),
    Row<Sigmoid>("Sigmoid"),
    Row<Sign, Sign>("Sign"),
    Row<Silu>("Silu"),
    Row<Sin>("Sin"),
    Row<Sinh>("Sinh"),
    Row<Sqrt>("Sqrt"),
    Row<Tan>("Tan"),
    Row<Tanh>("Tanh"),
};

}  // namespace

std::span<const Operation> UnaryOperations() { return kUnary; }

}  // namespace ge_engines::ascend::sim

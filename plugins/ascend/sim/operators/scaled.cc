// Functions of one tensor and numbers, in plain formats and in NC1HWC0.
#include <cmath>

#include "plugins/ascend/sim/operators/checker.h"

namespace ge_engines::ascend::sim {
namespace {

// A tensor, scalars behind it and a result of its dims. Integers want scalars of integers.
std::string CheckScaled(const Arguments& given, uint32_t types, size_t scalars) {
  static constexpr const char* kNames[] = {"self", "the first number", "the second number",
                                           "the third number"};
  const size_t out = scalars + 1;
  Checker c(given);
  c.Tensor(0, "self", types, kPlain | kBlocked);
  for (size_t k = 1; k <= scalars; ++k) {
    c.Scalar(k, kNames[k]);
    if (!c.ok() || IsReal(given[0].tensor.type)) continue;
    const acl::DataType type = given[k].scalar.type;
    c.That(!IsReal(type) && type != acl::kF64, std::string(kNames[k]) + ": a real of integers");
  }
  c.Tensor(out, "out", types, kPlain | kBlocked).SameType(out, 0).SameFormat(out, 0);
  return c.HasDims(out, given[0].tensor.dims).fault();
}

template <class V, class Function>
void Apply(const Arguments& given, size_t out, const Function& function) {
  std::vector<V> values = Load<V>(given[0].tensor);
  for (V& x : values) x = function(x);
  Store(given[out].tensor, values);
}

// Integers wrap.
float Times(float x, float y) { return x * y; }
int64_t Times(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}
float Plus(float x, float y) { return x + y; }
int64_t Plus(int64_t x, int64_t y) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
}

template <uint32_t types, size_t scalars>
std::string Check(const Arguments& given) {
  return CheckScaled(given, types, scalars);
}

// self + other * alpha
void RunAdds(const Arguments& given, void*) {
  WithValues(given[0].tensor.type, [&]<class V>(V) {
    const V more = Times(ScalarOf<V>(given, 1), ScalarOf<V>(given, 2));
    Apply<V>(given, 3, [=](V x) { return Plus(x, more); });
  });
}

void RunMuls(const Arguments& given, void*) {
  WithValues(given[0].tensor.type, [&]<class V>(V) {
    const V other = ScalarOf<V>(given, 1);
    Apply<V>(given, 2, [=](V x) { return Times(x, other); });
  });
}

void RunPower(const Arguments& given, void*) {
  const auto exponent = ScalarOf<float>(given, 1);
  if (exponent == 3) return Apply<float>(given, 2, [](float x) { return x * x * x; });
  Apply<float>(given, 2, [=](float x) { return std::pow(x, exponent); });
}

std::string CheckClamp(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kNumbers, kPlain | kBlocked).Tensor(3, "out", kNumbers, kPlain | kBlocked);
  c.SameType(3, 0).SameFormat(3, 0).HasDims(3, given[0].tensor.dims);
  if (c.given(1)) c.Scalar(1, "min");
  if (c.given(2)) c.Scalar(2, "max");
  return c.That(c.given(1) || c.given(2), "min and max are both null").fault();
}

// A NaN stays one.
void RunClamp(const Arguments& given, void*) {
  WithValues(given[0].tensor.type, [&]<class V>(V) {
    const bool low = given[1].given, high = given[2].given;
    const V least = low ? ScalarOf<V>(given, 1) : V(), most = high ? ScalarOf<V>(given, 2) : V();
    Apply<V>(given, 3, [=](V x) {
      if (low && x < least) x = least;
      return high && x > most ? most : x;
    });
  });
}

void RunLeaky(const Arguments& given, void*) {
  const auto slope = ScalarOf<float>(given, 1);
  Apply<float>(given, 2, [=](float x) { return x < 0 ? slope * x : x; });
}

// alpha, scale, the factor within the exponential
void RunElu(const Arguments& given, void*) {
  const auto alpha = ScalarOf<float>(given, 1), scale = ScalarOf<float>(given, 2),
             within = ScalarOf<float>(given, 3);
  Apply<float>(given, 4, [=](float x) {
    return x < 0 ? scale * (alpha * std::expm1(x * within)) : scale * x;
  });
}

// Beyond the threshold it is the identity.
void RunSoftplus(const Arguments& given, void*) {
  const auto beta = ScalarOf<float>(given, 1), threshold = ScalarOf<float>(given, 2);
  Apply<float>(given, 3, [=](float x) {
    return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta;
  });
}

constexpr Operation kScaled[] = {
    {"Adds", Check<kNumbers, 2>, nullptr, RunAdds},
    {"Clamp", CheckClamp, nullptr, RunClamp},
    {"Elu", Check<kReals, 3>, nullptr, RunElu},
    {"LeakyRelu", Check<kReals, 1>, nullptr, RunLeaky},
    {"Muls", Check<kNumbers, 1>, nullptr, RunMuls},
    {"PowTensorScalar", Check<kReals, 1>, nullptr, RunPower},
    {"Softplus", Check<kReals, 2>, nullptr, RunSoftplus},
};

}  // namespace

std::span<const Operation> ScaledOperations() { return kScaled; }

}  // namespace ge_engines::ascend::sim

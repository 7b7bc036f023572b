// What random cases of the steps of optimizers share.
#pragma once

#include <cmath>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

// A weight, `slots` of them and a gradient; slot number `squares` holds no negative number.
inline void StepTensors(CaseMaker& m, size_t slots, size_t squares) {
  const Dims dims = m.Shape(0, 3);
  for (size_t i = 0; i < slots + 2; ++i) {
    m.Add(m.Numbers(m.dtype(), dims, squares != 0 && i == squares ? 0.25 : -2, 2));
  }
}

inline void AddRate(CaseMaker& m) { m.Add(m.Floats(m.dtype(), {}, {m.r.Int(1, 16) / 16.0})); }

inline void SetDecay(CaseMaker& m) {
  if (m.r.Chance(0.5)) m.Set("weight_decay", m.r.Int(0, 4) / 16.0);
}

inline void AddWhen(CaseMaker& m) {
  if (m.r.Chance(0.4)) m.Add(m.Ints(DType::kBool, {}, {m.r.Int(0, 1)}));
}

// The root of the sum of squares of f(i) for i < n.
template <typename F>
double PlainNorm(int64_t n, F f) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += f(i) * f(i);
  return std::sqrt(sum);
}
inline double PlainRatio(double a, double b) { return a > 0 && b > 0 ? a / b : 1; }

// Element by element output number `output` of step(weight, slots, gradient) -> weight, slots.
template <typename Step>
bool EachStep(const RandomCase& c, size_t slots, size_t output, HostTensor* out, Step step) {
  if (out->dims != c.inputs[0].tensor->dims) return false;
  const size_t scalars = slots == 2 ? 3 : 1, when = slots + 2 + scalars;
  const bool stays = when < c.inputs.size() && ElementAsInt(*c.inputs[when].tensor, 0) == 0;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    std::vector<double> at;
    for (size_t k = 0; k < slots + 2; ++k) at.push_back(ElementAsDouble(*c.inputs[k].tensor, i));
    SetElement(out, i, stays ? at[output] : step(at)[output]);
  }
  return true;
}

}  // namespace ge::test

// Shared by random cases of the steps of optimizers.
#pragma once

#include <cmath>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

// A weight, `slots` of them and a gradient; slot number `squares` holds no negative number.
inline void StepTensors(CaseMaker& maker, size_t slots, size_t squares) {
  const Dims dims = maker.Shape(0, 3);
  for (size_t i = 0; i < slots + 2; ++i) {
    maker.Add(maker.Numbers(maker.dtype(), dims, squares != 0 && i == squares ? 0.25 : -2, 2));
  }
}

inline void AddRate(CaseMaker& maker) {
  maker.Add(maker.Floats(maker.dtype(), {}, {maker.r.Int(1, 16) / 16.0}));
}

inline void SetDecay(CaseMaker& maker) {
  if (maker.r.Chance(0.5)) maker.Set("weight_decay", maker.r.Int(0, 4) / 16.0);
}

inline void AddWhen(CaseMaker& maker) {
  if (maker.r.Chance(0.4)) maker.Add(maker.Ints(DType::kBool, {}, {maker.r.Int(0, 1)}));
}

// The root of the sum of squares of f(i) for i < n.
template <typename F>
double PlainNorm(int64_t n, F call) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += call(i) * call(i);
  return std::sqrt(sum);
}
inline double PlainRatio(double left, double right) {
  return left > 0 && right > 0 ? left / right : 1;
}

// Element by element output number `output` of step(weight, slots, gradient) -> weight, slots.
template <typename Step>
bool EachStep(const RandomCase& sample, size_t slots, size_t output, HostTensor* out, Step step) {
  if (out->dims != sample.inputs[0].tensor->dims) return false;
  const size_t scalars = slots == 2 ? 3 : 1, when = slots + 2 + scalars;
  const bool stays =
      when < sample.inputs.size() && ElementAsInt(*sample.inputs[when].tensor, 0) == 0;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    std::vector<double> at;
    for (size_t k = 0; k < slots + 2; ++k)
      at.push_back(ElementAsDouble(*sample.inputs[k].tensor, i));
    SetElement(out, i, stays ? at[output] : step(at)[output]);
  }
  return true;
}

}  // namespace ge::test

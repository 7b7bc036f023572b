// Shared by random cases of the optimizers of ai.onnx.preview.training.
#pragma once

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

// A rate, a step count, and one or two tensors with gradients and `kept` lists; the second of these
// holds no negative number.
inline void OptimizerCase(CaseMaker& maker, size_t kept) {
  maker.c.typed = false;
  maker.Add(maker.Floats(maker.dtype(), {}, {maker.r.Between(0.01, 0.5)}));
  maker.Add(maker.Ints(DType::kInt64, {}, {maker.r.Int(0, 5)}));
  std::vector<Dims> shapes(static_cast<size_t>(maker.r.Int(1, 2)));
  for (Dims& d : shapes) d = maker.Shape(0, 3);
  for (size_t list = 0; list < 2 + kept; ++list) {
    // Squares that are summed up: Adagrad's only list, Adam's second.
    const bool squares = list == 1 + kept && kept != 0;
    for (const Dims& d : shapes) maker.Add(maker.Numbers(maker.dtype(), d, squares ? 0.25 : -2, 2));
  }
  maker.c.outputs = static_cast<int>(shapes.size() * (1 + kept));
  if (maker.r.Chance(0.5)) maker.Set("norm_coefficient", maker.r.Int(0, 4) / 8.0);
}

// The first tensor's new elements by `step`(x, g, kept 0, kept 1), g with its regularisation.
template <typename Step>
bool StepOfFirst(const RandomCase& sample, size_t kept, HostTensor* out, Step step) {
  const size_t n = (sample.inputs.size() - 2) / (2 + kept);
  const auto at = [&](size_t list) -> const HostTensor& {
    return *sample.inputs[2 + list * n].tensor;
  };
  if (at(0).dims != out->dims) return false;
  const double norm = FloatOr(sample, "norm_coefficient", 0);
  for (int64_t i = 0, count = out->count(); i < count; ++i) {
    const double x = ElementAsDouble(at(0), i), g = norm * x + ElementAsDouble(at(1), i);
    SetElement(out, i,
               step(x, g, ElementAsDouble(at(2), i), kept > 1 ? ElementAsDouble(at(3), i) : 0.0));
  }
  return true;
}

inline double RateOf(const RandomCase& sample) {
  return ElementAsDouble(*sample.inputs[0].tensor, 0);
}
inline double StepsOf(const RandomCase& sample) {
  return static_cast<double>(ElementAsInt(*sample.inputs[1].tensor, 0));
}

}  // namespace ge::test

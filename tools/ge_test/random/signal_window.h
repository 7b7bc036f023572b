// Shared by random cases of window functions. Integer outputs are left to the node tests: they cut
// numbers just below 1 to 0.
#pragma once

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

inline void SignalWindowCase(CaseMaker& maker) {
  const bool periodic = maker.r.Chance(0.6);
  // One element, or the two ends of a symmetric window, may be rounding errors of 0: no scale
  // bounds them.
  maker.AddConstant(maker.Ints(maker.dtype(), {}, {maker.r.Chance(0.1) ? 0 : maker.r.Int(3, 20)}));
  if (!periodic || maker.r.Chance(0.3)) maker.Set("periodic", int64_t{periodic});
  if (maker.r.Chance(0.6)) {
    const DType to = maker.r.Pick(
        std::vector<DType>{DType::kFloat, DType::kDouble, DType::kFloat16, DType::kBfloat16});
    maker.Set("output_datatype", static_cast<int64_t>(to));
  }
}

// window(u): the value at the part u of a period.
template <typename Window>
bool PlainSignalWindow(const RandomCase& sample, HostTensor* out, Window window) {
  const int64_t size = ElementAsInt(*sample.inputs[0].tensor, 0);
  if (out->dims != Dims{size}) return false;
  if (out->dtype != static_cast<DType>(IntOr(sample, "output_datatype", 1))) return false;
  const double n = static_cast<double>(IntOr(sample, "periodic", 1) != 0 ? size : size - 1);
  for (int64_t i = 0; i < size; ++i) SetElement(out, i, window(static_cast<double>(i) / n));
  return true;
}

}  // namespace ge::test

// What random cases of window functions share. Integer outputs are left to the node tests: they
// cut numbers just below 1 to 0.
#pragma once

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

inline void SignalWindowCase(CaseMaker& m) {
  const bool periodic = m.r.Chance(0.6);
  // One element, or the two ends of a symmetric window, may all be what rounding leaves of 0, which
  // has no scale to compare by.
  m.AddConstant(m.Ints(m.dtype(), {}, {m.r.Chance(0.1) ? 0 : m.r.Int(3, 20)}));
  if (!periodic || m.r.Chance(0.3)) m.Set("periodic", int64_t{periodic});
  if (m.r.Chance(0.6)) {
    const DType to = m.r.Pick(
        std::vector<DType>{DType::kFloat, DType::kDouble, DType::kFloat16, DType::kBfloat16});
    m.Set("output_datatype", static_cast<int64_t>(to));
  }
}

// window(u): the value at the part u of a period.
template <typename Window>
bool PlainSignalWindow(const RandomCase& c, HostTensor* out, Window window) {
  const int64_t size = ElementAsInt(*c.inputs[0].tensor, 0);
  if (out->dims != Dims{size}) return false;
  if (out->dtype != static_cast<DType>(IntOr(c, "output_datatype", 1))) return false;
  const double n = static_cast<double>(IntOr(c, "periodic", 1) != 0 ? size : size - 1);
  for (int64_t i = 0; i < size; ++i) SetElement(out, i, window(static_cast<double>(i) / n));
  return true;
}

}  // namespace ge::test

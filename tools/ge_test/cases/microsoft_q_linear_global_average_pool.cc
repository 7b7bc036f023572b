#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QLinearGlobalPoolCase(CaseMaker& m) {
  ByteMapCase(m, m.Shape(3, 4, false), 0.02, 0.1);
  if (m.r.Chance(0.5)) m.Set("channels_last", m.r.Int(0, 1));
}

bool PlainQLinearGlobalPool(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const bool last = IntOr(c, "channels_last", 0) != 0;
  const int64_t channels = last ? x.dims.back() : x.dims[1],
                pixels = x.count() / x.dims[0] / channels;
  Dims wanted(x.dims.size(), 1);
  wanted[0] = x.dims[0];
  (last ? wanted.back() : wanted[1]) = channels;
  if (out->dims != wanted) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const int64_t image = i / channels, channel = i % channels;
    double sum = 0;
    for (int64_t p = 0; p < pixels; ++p) {
      sum += Dequantized(c, 0, last ? (image * pixels + p) * channels + channel : i * pixels + p);
    }
    SetByte(c, 3, out, i, sum / static_cast<double>(pixels));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_global_average_pool) = {"com.microsoft.QLinearGlobalAveragePool",
                                                        QLinearGlobalPoolCase, 0, Error::kOfElement,
                                                        PlainQLinearGlobalPool};

}  // namespace ge::test

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void StftCase(CaseMaker& m) {
  const int64_t batch = m.r.Chance(0.05) ? 0 : m.r.Int(1, 3), samples = m.r.Int(1, 24);
  const bool onesided = m.r.Chance(0.6), window = m.r.Chance(0.5), length = m.r.Chance(0.6);
  const int64_t frame = window || length ? m.r.Int(1, std::min<int64_t>(samples, 9)) : samples;
  const DType index = m.r.Chance(0.5) ? DType::kInt64 : DType::kInt32;
  m.Add(Signal(m, {batch, samples, onesided ? 1 : m.r.Int(1, 2)}));
  m.AddConstant(m.Ints(index, {}, {m.r.Int(1, 5)}));
  if (window) m.Add(Signal(m, {frame}));
  if (!window && length) m.AddAbsent();
  if (length) m.AddConstant(m.Ints(index, {}, {frame}));
  if (!onesided || m.r.Chance(0.4)) m.Set("onesided", int64_t{onesided});
}

bool PlainStft(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const HostTensor *window = Maybe(c, 2), *given = Maybe(c, 3);
  const int64_t samples = x.dims[1], step = ElementAsInt(*c.inputs[1].tensor, 0);
  int64_t n = samples;
  if (window != nullptr) n = window->count();
  if (given != nullptr) n = ElementAsInt(*given, 0);
  const int64_t bins = IntOr(c, "onesided", 1) != 0 ? n / 2 + 1 : n;
  if (out->dims != Dims{x.dims[0], (samples - n) / step + 1, bins, 2}) return false;
  Index at(out->dims);
  for (int64_t i = 0, count = out->count(); i < count; ++i, at.Next()) {
    double sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      const double t = -2 * M_PI * static_cast<double>(k * at.at[2]) / static_cast<double>(n);
      const int64_t from = Flat(x.dims, {at.at[0], at.at[1] * step + k, 0});
      const double weight = window != nullptr ? ElementAsDouble(*window, k) : 1;
      const double re = ElementAsDouble(x, from),
                   im = x.dims[2] == 2 ? ElementAsDouble(x, from + 1) : 0;
      sum += weight * (at.at[3] == 0 ? re * std::cos(t) - im * std::sin(t)
                                     : re * std::sin(t) + im * std::cos(t));
    }
    SetElement(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(stft) = {"STFT", StftCase, 8e-6, Error::kOfTerms, PlainStft};

}  // namespace ge::test

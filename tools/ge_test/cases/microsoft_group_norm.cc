#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void GroupNormCase(CaseMaker& m) {
  const int64_t groups = m.r.Int(1, 3), channels = groups * m.r.Int(1, 3);
  const bool last = m.r.Chance(0.6);
  const int64_t n = m.r.Int(1, 2), h = m.r.Int(1, 4), w = m.r.Int(1, 4);
  m.Add(Signal(m, last ? Dims{n, h, w, channels} : Dims{n, channels, h, w}));
  m.Add(Signal(m, {channels}));
  m.Add(Signal(m, {channels}));
  m.Set("groups", groups);
  m.Set("activation", m.r.Int(0, 1));
  m.Set("epsilon", 0.125);
  if (!last || m.r.Chance(0.5)) m.Set("channels_last", int64_t{last});
}

bool PlainGroupNorm(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const bool last = IntOr(c, "channels_last", 1) != 0;
  const int64_t channels = x.dims[last ? 3 : 1], each = channels / IntOr(c, "groups", 1);
  const auto channel = [&](const Dims& at) { return at[last ? 3 : 1]; };
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    double sum = 0, squares = 0, count = 0;
    Index other(x.dims);
    for (int64_t k = 0; k < n; ++k, other.Next()) {
      if (other.at[0] != at.at[0] || channel(other.at) / each != channel(at.at) / each) continue;
      const double v = ElementAsDouble(x, k);
      sum += v;
      squares += v * v;
      ++count;
    }
    const double mean = sum / count, variance = squares / count - mean * mean;
    const double y = (ElementAsDouble(x, i) - mean) /
                         std::sqrt(variance + FloatOr(c, "epsilon", 1e-5f)) *
                         ElementAsDouble(*c.inputs[1].tensor, channel(at.at)) +
                     ElementAsDouble(*c.inputs[2].tensor, channel(at.at));
    SetElement(out, i, IntOr(c, "activation", 0) != 0 ? y / (1 + std::exp(-y)) : y);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_group_norm) = {"com.microsoft.GroupNorm", GroupNormCase, 8e-6,
                                      Error::kOfInputs, PlainGroupNorm};

}  // namespace ge::test

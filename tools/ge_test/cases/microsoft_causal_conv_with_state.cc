#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void CausalConvMsCase(CaseMaker& m) {
  const int64_t batch = m.r.Chance(0.05) ? 0 : m.r.Int(1, 3), taps = m.r.Int(1, 4),
                length = m.r.Chance(0.05) ? 0 : m.Size(6, 200);
  const int64_t dilation = m.r.Chance(0.3) ? m.r.Int(2, 3) : 1, kept = (taps - 1) * dilation;
  const bool last = m.r.Chance(0.4);
  const Dims each = last && m.r.Chance(0.4) ? Dims{m.r.Int(1, 3), 2} : Dims{m.Size(4, 70)};
  const int64_t window = m.r.Chance(0.3) ? m.r.Int(1, 8) : 0;
  m.Add(Signal(m, last ? Cat({batch, length}, each) : Dims{batch, each[0], length}));
  m.AddWeight(Signal(m, {CountOf(each), 1, taps}));
  const bool bias = m.r.Chance(0.5), state = m.r.Chance(0.5);
  if (bias) m.AddWeight(Signal(m, {CountOf(each)}));
  if (!bias && state) m.AddAbsent();
  if (state) {
    const Dims slot = last ? Cat({batch, kept}, each) : Dims{batch, each[0], kept};
    m.Add(Signal(m, window > 0 ? Cat({window}, slot) : slot));
  }
  m.c.outputs = 2;
  m.c.terms = taps;
  if (m.r.Chance(0.6)) {
    m.Set("activation", m.r.Pick(std::vector<std::string>{"none", "silu", "swish"}));
  }
  if (last) m.Set("channels_last", int64_t{1});
  if (dilation > 1) m.Set("dilation", dilation);
  if (window > 0) m.Set("state_window", window);
  if (m.r.Chance(0.2)) m.Set("ndim", int64_t{1});
}

// Output 0 alone.
bool PlainCausalConvMs(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &w = *c.inputs[1].tensor;
  const HostTensor *bias = Maybe(c, 2), *state = Maybe(c, 3);
  if (x.dims != out->dims) return false;
  const bool last = IntOr(c, "channels_last", 0) != 0;
  const int64_t taps = w.dims[2], channels = w.dims[0], length = x.dims[last ? 1 : 2];
  const int64_t dilation = IntOr(c, "dilation", 1), kept = (taps - 1) * dilation;
  const int64_t window = IntOr(c, "state_window", 0), slot = x.dims[0] * channels * kept;
  const Attr* a = FindAttr(c, "activation");
  const bool silu = a != nullptr && std::get<std::string>(a->value) != "none";
  // Of [batch, channels, steps], or with channels last.
  const auto place = [&](int64_t b, int64_t ch, int64_t t, int64_t steps) {
    return last ? (b * steps + t) * channels + ch : (b * channels + ch) * steps + t;
  };
  Index at({x.dims[0], channels, length});
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    const int64_t b = at.at[0], ch = at.at[1], t = at.at[2];
    double v = bias != nullptr ? ElementAsDouble(*bias, ch) : 0;
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t from = t - (taps - 1 - k) * dilation;  // below 0: of the state
      double e = 0;
      if (from >= 0) {
        e = ElementAsDouble(x, place(b, ch, from, length));
      } else if (state != nullptr) {
        const int64_t skip = window > 0 ? (window - 1) * slot : 0;
        e = ElementAsDouble(*state, skip + place(b, ch, from + kept, kept));
      }
      v += e * ElementAsDouble(w, ch * taps + k);
    }
    SetElement(out, place(b, ch, t, length), silu ? v * (1 / (1 + std::exp(-v))) : v);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_causal_conv_with_state) = {"com.microsoft.CausalConvWithState",
                                                  CausalConvMsCase, 4e-6, Error::kOfTerms,
                                                  PlainCausalConvMs};

}  // namespace ge::test

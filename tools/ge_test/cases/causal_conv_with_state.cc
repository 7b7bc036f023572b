#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void CausalConvWithStateCase(CaseMaker& m) {
  const int64_t batch = m.r.Chance(0.05) ? 0 : m.r.Int(1, 3), channels = m.r.Int(1, 4),
                length = m.r.Int(1, 6), taps = m.r.Int(1, 4);
  m.Add(Signal(m, {batch, channels, length}));
  m.Add(Signal(m, {channels, 1, taps}));
  const bool bias = m.r.Chance(0.5), state = m.r.Chance(0.5);
  if (bias) m.Add(Signal(m, {channels}));
  if (!bias && state) m.AddAbsent();
  if (state) m.Add(Signal(m, {batch, channels, taps - 1}));
  m.c.outputs = 2;
  if (m.r.Chance(0.6)) {
    m.Set("activation", m.r.Pick(std::vector<std::string>{"none", "silu", "swish"}));
  }
}

// Output 0 alone.
bool PlainCausalConvWithState(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &w = *c.inputs[1].tensor;
  const HostTensor *bias = Maybe(c, 2), *state = Maybe(c, 3);
  if (x.dims != out->dims) return false;
  const int64_t taps = w.dims[2], length = x.dims[2];
  const Attr* a = FindAttr(c, "activation");
  const bool silu = a != nullptr && std::get<std::string>(a->value) != "none";
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    const int64_t row = i / length, t = i % length;
    double v = bias != nullptr ? ElementAsDouble(*bias, at.at[1]) : 0;
    for (int64_t k = 0; k < taps; ++k) {
      const int64_t from = t + k - (taps - 1);  // below 0: of the state
      double e = 0;
      if (from >= 0) {
        e = ElementAsDouble(x, row * length + from);
      } else if (state != nullptr) {
        e = ElementAsDouble(*state, row * (taps - 1) + from + taps - 1);
      }
      v += e * ElementAsDouble(w, at.at[1] * taps + k);
    }
    SetElement(out, i, silu ? v * (1 / (1 + std::exp(-v))) : v);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(causal_conv_with_state) = {"CausalConvWithState", CausalConvWithStateCase, 2e-6,
                                        Error::kOfInputs, PlainCausalConvWithState};

}  // namespace ge::test

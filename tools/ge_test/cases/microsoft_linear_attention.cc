#include "tools/ge_test/oracle/linear_state.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void LinearMsCase(CaseMaker& m) {
  const int64_t batch = m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), steps = m.r.Int(1, 5),
                size = m.r.Int(1, 3), v_size = m.r.Int(1, 3);
  const bool inverse = m.r.Chance(0.3);
  const int64_t few = m.r.Int(1, 2), many = few * m.r.Int(1, 2);
  const int64_t heads = inverse ? few : many, kv = inverse ? many : few;
  const int64_t keys = m.r.Chance(0.3) ? 1 : kv, window = m.r.Chance(0.4) ? m.r.Int(1, 8) : 0;
  const std::string rule =
      m.r.Pick(std::vector<std::string>{"linear", "gated", "delta", "gated_delta"});
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  m.Add(Signal(m, {batch, steps, heads * size}));
  m.Add(Signal(m, {batch, steps, keys * size}));
  m.Add(Signal(m, {batch, steps, kv * v_size}));
  if (m.r.Chance(0.5)) {
    const Dims slot = {batch, kv, size, v_size};
    m.Add(Signal(m, window > 0 ? Cat({window}, slot) : slot));
  } else {
    m.AddAbsent();
  }
  // A rule does not read what another one has.
  if (gated || m.r.Chance(0.1)) {
    m.Add(m.Numbers(m.dtype(), {batch, steps, m.r.Chance(0.5) ? kv : kv * size}, -2, 0));
  } else {
    m.AddAbsent();
  }
  if (delta) m.Add(m.Numbers(m.dtype(), {batch, steps, m.r.Chance(0.5) ? kv : 1}, 0, 1));
  while (!m.c.inputs.back().tensor) m.c.inputs.pop_back();
  m.c.outputs = 2;
  m.Set("q_num_heads", heads);
  m.Set("kv_num_heads", kv);
  if (rule != "gated_delta" || m.r.Chance(0.5)) m.Set("update_rule", rule);
  if (m.r.Chance(0.4)) m.Set("scale", 0.5);
  if (m.r.Chance(0.2)) m.Set("chunk_size", int64_t{16});
  if (window > 0) m.Set("state_window", window);
}

struct LinearMsSizes {
  int64_t heads, kv, keys, size, v_size;
};

std::vector<double> LinearMsRow(const HostTensor& t, int64_t b, int64_t step, int64_t from,
                                int64_t count) {
  std::vector<double> row;
  for (int64_t i = 0; i < count; ++i) {
    row.push_back(ElementAsDouble(t, Flat(t.dims, {b, step, from + i})));
  }
  return row;
}

PlainTokenOfState LinearMsToken(const RandomCase& c, const LinearMsSizes& s, int64_t b,
                                int64_t step, int64_t h) {
  const Attr* rule = FindAttr(c, "update_rule");
  const std::string name = rule != nullptr ? std::get<std::string>(rule->value) : "gated_delta";
  PlainTokenOfState t;
  t.key = LinearMsRow(*Maybe(c, 1), b, step, h * s.keys / s.kv * s.size, s.size);
  t.value = LinearMsRow(*Maybe(c, 2), b, step, h * s.v_size, s.v_size);
  if (name.starts_with("gated")) {
    const HostTensor& decay = *Maybe(c, 4);
    const int64_t each = decay.dims[2] / s.kv;
    t.keep = LinearMsRow(decay, b, step, h * each, each);
    for (double& v : t.keep) v = std::exp(v);
  }
  t.delta = name.ends_with("delta");
  if (t.delta) {
    const HostTensor& beta = *Maybe(c, 5);
    t.beta = LinearMsRow(beta, b, step, beta.dims[2] == 1 ? 0 : h, 1)[0];
  }
  return t;
}

// Output 0 alone.
bool PlainLinearMs(const RandomCase& c, HostTensor* out) {
  const HostTensor &q = *Maybe(c, 0), &k = *Maybe(c, 1), &v = *Maybe(c, 2);
  LinearMsSizes s{IntOr(c, "q_num_heads", 1), IntOr(c, "kv_num_heads", 1), 0, 0, 0};
  s.size = q.dims[2] / s.heads;
  s.keys = k.dims[2] / s.size;
  s.v_size = v.dims[2] / s.kv;
  const int64_t most = std::max(s.heads, s.kv), window = IntOr(c, "state_window", 0);
  if (out->dims != Dims{q.dims[0], q.dims[1], most * s.v_size}) return false;
  const double scale = FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(s.size)));
  for (int64_t b = 0; b < q.dims[0]; ++b) {
    for (int64_t o = 0; o < most; ++o) {
      const int64_t h = o * s.kv / most;
      PlainStateMatrix state(static_cast<size_t>(s.size), static_cast<size_t>(s.v_size));
      for (int64_t i = 0; Maybe(c, 3) != nullptr && i < s.size * s.v_size; ++i) {
        const int64_t slot = window > 0 ? (window - 1) * q.dims[0] * s.kv : 0;
        const int64_t at = (slot + b * s.kv + h) * s.size * s.v_size + i;
        state.At(static_cast<size_t>(i / s.v_size), static_cast<size_t>(i % s.v_size)) =
            ElementAsDouble(*Maybe(c, 3), at);
      }
      for (int64_t t = 0; t < q.dims[1]; ++t) {
        state.Add(LinearMsToken(c, s, b, t, h));
        const auto query = LinearMsRow(q, b, t, o * s.heads / most * s.size, s.size);
        for (int64_t j = 0; j < s.v_size; ++j) {
          SetElement(out, Flat(out->dims, {b, t, o * s.v_size + j}),
                     scale * state.Answer(query, static_cast<size_t>(j)));
        }
      }
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_linear_attention) = {"com.microsoft.LinearAttention", LinearMsCase, 4e-6,
                                            Error::kOfInputs, PlainLinearMs};

}  // namespace ge::test

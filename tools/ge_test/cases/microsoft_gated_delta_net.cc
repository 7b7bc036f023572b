#include "tools/ge_test/oracle/linear_state.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

// Ends of requests among so many tokens; some have none.
std::vector<int64_t> DeltaEnds(CaseMaker& m, int64_t requests, int64_t tokens) {
  std::vector<int64_t> ends = {0};
  for (int64_t i = 1; i < requests; ++i) ends.push_back(m.r.Int(ends.back(), tokens));
  ends.push_back(tokens);
  return ends;
}

struct DeltaShape {
  int64_t requests, length, heads, v_heads, size, v_size;
  bool ragged, batched, packed;
  Dims Tokens(const Dims& each) const {
    return Cat(batched ? Dims{requests, length} : Dims{requests * length}, each);
  }
};

// Queries, keys and values, or all in one.
void AddDeltaRows(CaseMaker& m, const DeltaShape& s) {
  if (s.packed) {
    const int64_t row = 2 * s.heads * s.size + s.v_heads * s.v_size;
    m.Add(Signal(m, s.Tokens({row})));
    m.AddAbsent();
    m.AddAbsent();
    return;
  }
  m.Add(Signal(m, s.Tokens({s.heads, s.size})));
  m.Add(Signal(m, s.Tokens({s.heads, s.size})));
  m.Add(Signal(m, s.Tokens({s.v_heads, s.v_size})));
}

// decay and beta, the state, a_log and dt_bias.
void AddDeltaGates(CaseMaker& m, const DeltaShape& s, bool gated, bool delta, bool biased) {
  const DType gates = m.r.Chance(0.5) ? DType::kFloat : m.dtype();
  const bool each = m.r.Chance(0.4);
  const Dims decays = each ? Dims{s.v_heads, s.size} : Dims{s.v_heads};
  AddMaybe(m, gated ? m.Numbers(gates, s.Tokens(decays), -2, biased ? 2 : 0) : nullptr);
  AddMaybe(m, delta ? m.Numbers(gates, s.Tokens({s.v_heads}), 0, 1) : nullptr);
  const bool state = s.packed || !s.ragged || m.r.Chance(0.5);
  const Dims states = {s.requests, s.v_heads, s.v_size, s.size};
  AddMaybe(m, state ? m.Numbers(DType::kFloat, states, -2, 2) : nullptr);
  AddMaybe(m, biased ? m.Numbers(DType::kFloat, {s.v_heads}, -1, 1) : nullptr);
  const Dims biases = !each || !gated || m.r.Chance(0.3) ? Dims{s.v_heads}
                      : m.r.Chance(0.5)                  ? Dims{s.v_heads, s.size}
                                                         : Dims{s.v_heads * s.size};
  AddMaybe(m, biased ? m.Numbers(DType::kFloat, biases, -1, 1) : nullptr);
}

void DeltaNetCase(CaseMaker& m) {
  DeltaShape s{m.r.Int(1, 3),   m.r.Int(1, 4), m.r.Int(1, 2),  0, m.r.Int(1, 3), m.r.Int(1, 3),
               m.r.Chance(0.4), false,         m.r.Chance(0.3)};
  s.v_heads = s.heads * m.r.Int(1, 2);
  s.batched = !s.ragged && m.r.Chance(0.4);
  const std::string rule =
      m.r.Pick(std::vector<std::string>{"linear", "gated", "delta", "gated_delta"});
  const std::string gate =
      m.r.Pick(std::vector<std::string>{"none", "none", "softplus", "qwen", "sigmoid", "kda"});
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  AddDeltaRows(m, s);
  const int64_t tokens = s.requests * s.length;
  AddMaybe(m, s.ragged ? m.Ints(DType::kInt32, {s.requests + 1}, DeltaEnds(m, s.requests, tokens))
                       : nullptr);
  AddDeltaGates(m, s, gated, delta, gate != "none");
  const int64_t capacity = m.r.Chance(0.3) ? m.r.Int(1, 4) : 0;
  AddMaybe(m, capacity > 0 ? m.Numbers(DType::kInt32, {s.requests}, 0, 5) : nullptr);
  AddMaybe(m, m.r.Chance(0.3) ? m.Numbers(DType::kInt32, {1}, 0, 1) : nullptr);
  while (!m.c.inputs.back().tensor) m.c.inputs.pop_back();
  m.c.outputs = 3;
  m.c.typed = false;
  if (rule != "gated_delta" || m.r.Chance(0.5)) m.Set("update_rule", rule);
  if (gate != "none") m.Set("gate_activation", gate);
  if (m.r.Chance(0.4)) m.Set("beta_activation", std::string("sigmoid"));
  if (m.r.Chance(0.4)) m.Set("qk_l2_norm", int64_t{1});
  if (m.r.Chance(0.4)) m.Set("scale", 0.5);
  if (m.r.Chance(0.4)) m.Set("gate_lower_bound", -2.0);
  if (m.r.Chance(0.2)) m.Set("chunk_size", int64_t{16});
  if (capacity > 0) m.Set("state_update_capacity", capacity);
}

std::string DeltaWord(const RandomCase& c, const char* name, const char* absent) {
  const Attr* a = FindAttr(c, name);
  return a != nullptr ? std::get<std::string>(a->value) : absent;
}

// The sizes again, from the inputs and the output [..., v_heads, v_size].
struct PlainDeltaSizes {
  int64_t tokens, requests, heads, v_heads, size, v_size;
};

PlainDeltaSizes ReadPlainDelta(const RandomCase& c, const Dims& out) {
  PlainDeltaSizes s{1, 0, 0, out[out.size() - 2], 0, out.back()};
  for (size_t i = 0; i + 2 < out.size(); ++i) s.tokens *= out[i];
  const Dims& q = Maybe(c, 0)->dims;
  if (Maybe(c, 1) != nullptr) {
    s.heads = q[q.size() - 2];
    s.size = q.back();
  } else {
    s.size = Maybe(c, 6)->dims[3];
    s.heads = (q.back() - s.v_heads * s.v_size) / (2 * s.size);
  }
  s.requests = Maybe(c, 3) != nullptr ? Maybe(c, 3)->count() - 1 : Maybe(c, 6)->dims[0];
  return s;
}

std::vector<double> DeltaRow(const HostTensor& t, int64_t from, int64_t count) {
  std::vector<double> row;
  for (int64_t i = 0; i < count; ++i) row.push_back(ElementAsDouble(t, from + i));
  return row;
}

void DivideByRoot(std::vector<double>* row) {
  double squares = 1e-12;
  for (const double v : *row) squares += v * v;
  for (double& v : *row) v /= std::sqrt(squares);
}

double LogisticShare(double x) { return 1 / (1 + std::exp(-x)); }

// exp(g) of each entry of a head in decay.
std::vector<double> DeltaKeep(const RandomCase& c, const PlainDeltaSizes& s, int64_t t, int64_t h) {
  const HostTensor& decay = *Maybe(c, 4);
  const int64_t each = decay.count() / (s.tokens * s.v_heads);
  const std::string gate = DeltaWord(c, "gate_activation", "none");
  std::vector<double> keep = DeltaRow(decay, (t * s.v_heads + h) * each, each);
  for (int64_t i = 0; i < each; ++i) {
    double& g = keep[static_cast<size_t>(i)];
    if (gate != "none") {
      const int64_t biases = Maybe(c, 8)->count() / s.v_heads;
      g += ElementAsDouble(*Maybe(c, 8), h * biases + (biases == 1 ? 0 : i));
      const double speed = std::exp(ElementAsDouble(*Maybe(c, 7), h));
      const bool bent = gate == "softplus" || gate == "qwen";
      g = bent ? -speed * std::log(1 + std::exp(g))
               : FloatOr(c, "gate_lower_bound", -5) * LogisticShare(speed * g);
    }
    g = std::exp(g);
  }
  return keep;
}

PlainTokenOfState DeltaToken(const RandomCase& c, const PlainDeltaSizes& s, int64_t t, int64_t h) {
  const int64_t keys = s.heads * s.size, mine = h * s.heads / s.v_heads * s.size;
  const HostTensor& q = *Maybe(c, 0);
  PlainTokenOfState token;
  if (Maybe(c, 1) != nullptr) {
    token.query = DeltaRow(q, t * keys + mine, s.size);
    token.key = DeltaRow(*Maybe(c, 1), t * keys + mine, s.size);
    token.value = DeltaRow(*Maybe(c, 2), (t * s.v_heads + h) * s.v_size, s.v_size);
  } else {
    const int64_t at = t * (2 * keys + s.v_heads * s.v_size);
    token.query = DeltaRow(q, at + mine, s.size);
    token.key = DeltaRow(q, at + keys + mine, s.size);
    token.value = DeltaRow(q, at + 2 * keys + h * s.v_size, s.v_size);
  }
  if (IntOr(c, "qk_l2_norm", 0) != 0) {
    DivideByRoot(&token.query);
    DivideByRoot(&token.key);
  }
  const std::string rule = DeltaWord(c, "update_rule", "gated_delta");
  if (rule.starts_with("gated")) token.keep = DeltaKeep(c, s, t, h);
  token.delta = rule.ends_with("delta");
  if (token.delta) {
    token.beta = ElementAsDouble(*Maybe(c, 5), t * s.v_heads + h);
    if (DeltaWord(c, "beta_activation", "none") == "sigmoid") {
      token.beta = LogisticShare(token.beta);
    }
  }
  return token;
}

// Output 0 alone.
bool PlainDeltaNet(const RandomCase& c, HostTensor* out) {
  if (out->dims.size() < 3) return false;
  const PlainDeltaSizes s = ReadPlainDelta(c, out->dims);
  double scale = FloatOr(c, "scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(s.size));
  for (int64_t b = 0; b < s.requests; ++b) {
    const auto end_of = [&](int64_t i) {
      return Maybe(c, 3) != nullptr ? ElementAsInt(*Maybe(c, 3), i) : s.tokens / s.requests * i;
    };
    for (int64_t h = 0; h < s.v_heads; ++h) {
      PlainStateMatrix state(static_cast<size_t>(s.size), static_cast<size_t>(s.v_size));
      for (int64_t i = 0; Maybe(c, 6) != nullptr && i < s.size * s.v_size; ++i) {
        state.At(static_cast<size_t>(i % s.size), static_cast<size_t>(i / s.size)) =
            ElementAsDouble(*Maybe(c, 6), (b * s.v_heads + h) * s.size * s.v_size + i);
      }
      for (int64_t t = end_of(b); t < end_of(b + 1); ++t) {
        const PlainTokenOfState token = DeltaToken(c, s, t, h);
        state.Add(token);
        for (int64_t j = 0; j < s.v_size; ++j) {
          SetElement(out, (t * s.v_heads + h) * s.v_size + j,
                     scale * state.Answer(token.query, static_cast<size_t>(j)));
        }
      }
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_gated_delta_net) = {"com.microsoft.GatedDeltaNet", DeltaNetCase, 4e-6,
                                           Error::kOfInputs, PlainDeltaNet};

}  // namespace ge::test

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void LinearAttentionCase(CaseMaker& m) {
  const int64_t batch = m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), steps = m.r.Int(1, 4),
                kv = m.r.Int(1, 2), heads = kv * m.r.Int(1, 2), size = m.r.Int(1, 3),
                v_size = m.r.Int(1, 3);
  const std::string rule =
      m.r.Pick(std::vector<std::string>{"linear", "gated", "delta", "gated_delta"});
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  m.Add(Signal(m, {batch, steps, heads * size}));
  m.Add(Signal(m, {batch, steps, kv * size}));
  m.Add(Signal(m, {batch, steps, kv * v_size}));
  if (m.r.Chance(0.5)) {
    m.Add(Signal(m, {batch, kv, size, v_size}));
  } else {
    m.AddAbsent();
  }
  if (gated) m.Add(m.Numbers(m.dtype(), {batch, steps, m.r.Chance(0.5) ? kv : kv * size}, -2, 0));
  if (!gated) m.AddAbsent();
  if (delta) m.Add(m.Numbers(m.dtype(), {batch, steps, m.r.Chance(0.5) ? kv : 1}, 0, 1));
  while (!m.c.inputs.back().tensor) m.c.inputs.pop_back();
  m.c.outputs = 2;
  m.Set("q_num_heads", heads);
  m.Set("kv_num_heads", kv);
  if (rule != "gated_delta" || m.r.Chance(0.5)) m.Set("update_rule", rule);
  if (m.r.Chance(0.4)) m.Set("scale", 0.5);
  if (m.r.Chance(0.2)) m.Set("chunk_size", int64_t{16});
}

// The state of one head after each of its tokens, from the formulas of the four rules.
class PlainLinearState {
 public:
  PlainLinearState(const RandomCase& c, int64_t b, int64_t h, int64_t size, int64_t v_size)
      : c_(c), b_(b), h_(h), size_(size), v_size_(v_size) {
    for (int64_t i = 0; i < size * v_size; ++i) {
      const HostTensor* past = Maybe(c, 3);
      state_.push_back(past != nullptr ? ElementAsDouble(*past, Flat(past->dims, {b, h, 0, 0}) + i)
                                       : 0);
    }
  }

  double At(int64_t i, int64_t j) const { return state_[static_cast<size_t>(i * v_size_ + j)]; }

  void Token(int64_t t) {
    std::vector<double> next = state_;
    for (int64_t i = 0; i < size_; ++i) {
      for (int64_t j = 0; j < v_size_; ++j) {
        double update = In(2, t, h_ * v_size_ + j);
        if (Maybe(c_, 5) != nullptr) {
          for (int64_t k = 0; k < size_; ++k) update -= Keep(t, k) * At(k, j) * Key(t, k);
          update *= In(5, t, Maybe(c_, 5)->dims[2] == 1 ? 0 : h_);
        }
        next[static_cast<size_t>(i * v_size_ + j)] = Keep(t, i) * At(i, j) + Key(t, i) * update;
      }
    }
    state_ = next;
  }

 private:
  double In(size_t input, int64_t t, int64_t e) const {
    const HostTensor& x = *Maybe(c_, input);
    return ElementAsDouble(x, Flat(x.dims, {b_, t, e}));
  }
  double Key(int64_t t, int64_t i) const { return In(1, t, h_ * size_ + i); }
  double Keep(int64_t t, int64_t i) const {
    const HostTensor* decay = Maybe(c_, 4);
    if (decay == nullptr) return 1;
    const bool whole = decay->dims[2] == IntOr(c_, "kv_num_heads", 1);
    return std::exp(In(4, t, whole ? h_ : h_ * size_ + i));
  }

  const RandomCase& c_;
  int64_t b_, h_, size_, v_size_;
  std::vector<double> state_;
};

// Output 0 alone.
bool PlainLinearAttention(const RandomCase& c, HostTensor* out) {
  const HostTensor &q = *c.inputs[0].tensor, &v = *c.inputs[2].tensor;
  const int64_t heads = IntOr(c, "q_num_heads", 1), kv = IntOr(c, "kv_num_heads", 1),
                size = q.dims[2] / heads, v_size = v.dims[2] / kv;
  if (out->dims != Dims{q.dims[0], q.dims[1], heads * v_size}) return false;
  const double scale = FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(size)));
  for (int64_t b = 0; b < q.dims[0]; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      PlainLinearState state(c, b, h / (heads / kv), size, v_size);
      for (int64_t t = 0; t < q.dims[1]; ++t) {
        state.Token(t);
        for (int64_t j = 0; j < v_size; ++j) {
          double sum = 0;
          for (int64_t i = 0; i < size; ++i) {
            sum += ElementAsDouble(q, Flat(q.dims, {b, t, h * size + i})) * state.At(i, j);
          }
          SetElement(out, Flat(out->dims, {b, t, h * v_size + j}), sum * scale);
        }
      }
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(linear_attention) = {"LinearAttention", LinearAttentionCase, 4e-6, Error::kOfInputs,
                                  PlainLinearAttention};

}  // namespace ge::test

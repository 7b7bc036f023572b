#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

void RotaryMsCase(CaseMaker& m) {
  const int64_t batch = m.r.Int(1, 2), heads = m.r.Int(1, 3), steps = m.r.Int(1, 4),
                half = m.r.Int(1, 3), places = 8;
  const bool part = m.r.Chance(0.3), four = m.r.Chance(0.4);
  const int64_t size = 2 * half + (part ? m.r.Int(1, 2) : 0);
  m.Add(Signal(m, four ? Dims{batch, heads, steps, size} : Dims{batch, steps, heads * size}));
  if (m.r.Chance(0.5)) {
    m.Add(m.Numbers(DType::kInt64, {1}, 0, static_cast<double>(places - steps)));
  } else {
    m.Add(m.Numbers(DType::kInt64, {batch, steps}, 0, places - 1));
  }
  m.Add(Signal(m, {places, half}));
  m.Add(Signal(m, {places, half}));
  if (m.r.Chance(0.5)) m.Set("interleaved", m.r.Int(0, 1));
  if (part) m.Set("rotary_embedding_dim", 2 * half);
  if (part || m.r.Chance(0.5)) m.Set("num_heads", heads);
}

}  // namespace

GE_RANDOM_OP(microsoft_rotary_embedding) = {"com.microsoft.RotaryEmbedding", RotaryMsCase, 4e-6,
                                            Error::kOfTerms};

}  // namespace ge::test

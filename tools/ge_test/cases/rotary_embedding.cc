#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void RotaryEmbeddingCase(CaseMaker& m) {
  const int64_t batch = m.r.Chance(0.05) ? 0 : m.r.Int(1, 3), heads = m.r.Int(1, 3),
                steps = m.r.Int(1, 4), half = m.r.Int(1, 3);
  const bool part = m.r.Chance(0.4), packed = m.r.Chance(0.5), ids = m.r.Chance(0.5);
  const int64_t size = 2 * half + (part ? m.r.Int(1, 3) : 0), positions = m.r.Int(1, 6);
  m.Add(Signal(m, packed ? Dims{batch, steps, heads * size} : Dims{batch, heads, steps, size}));
  for (int i = 0; i < 2; ++i) {
    m.Add(Signal(m, ids ? Dims{positions, half} : Dims{batch, steps, half}));
  }
  if (ids) {
    m.Add(m.Numbers(DType::kInt64, {batch, steps}, 0, static_cast<double>(positions - 1)));
  }
  if (packed || m.r.Chance(0.3)) m.Set("num_heads", heads);
  if (part || m.r.Chance(0.3)) m.Set("rotary_embedding_dim", 2 * half);
  if (m.r.Chance(0.5)) m.Set("interleaved", m.r.Int(0, 1));
}

bool PlainRotaryEmbedding(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &cosines = *c.inputs[1].tensor,
                   &sines = *c.inputs[2].tensor;
  if (x.dims != out->dims) return false;
  const bool packed = x.dims.size() == 3, pairs = IntOr(c, "interleaved", 0) != 0;
  const int64_t half = cosines.dims.back();
  const int64_t size = packed ? x.dims[2] / IntOr(c, "num_heads", 1) : x.dims[3];
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    const int64_t e = at.at.back() % size, b = at.at[0], s = at.at[packed ? 1 : 2];
    const int64_t token = b * x.dims[packed ? 1 : 2] + s;
    if (e >= 2 * half) {
      Copy(x, i, out, i);
      continue;
    }
    const int64_t k = pairs ? e / 2 : e % half;
    const bool first = pairs ? e % 2 == 0 : e < half;
    const int64_t other = i + (first ? 1 : -1) * (pairs ? 1 : half);
    const int64_t row = Maybe(c, 3) != nullptr ? ElementAsInt(*Maybe(c, 3), token) : token;
    const double cosine = ElementAsDouble(cosines, row * half + k),
                 sine = ElementAsDouble(sines, row * half + k);
    SetElement(out, i,
               cosine * ElementAsDouble(x, i) + (first ? -sine : sine) * ElementAsDouble(x, other));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(rotary_embedding) = {"RotaryEmbedding", RotaryEmbeddingCase, 1e-6, Error::kOfTerms,
                                  PlainRotaryEmbedding};

}  // namespace ge::test

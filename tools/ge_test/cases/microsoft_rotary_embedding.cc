#include "tools/ge_test/oracle/attention.h"
#include "tools/ge_test/random/microsoft.h"

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

bool PlainRotaryMs(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &places = *c.inputs[1].tensor,
                   &cosines = *c.inputs[2].tensor, &sines = *c.inputs[3].tensor;
  if (x.dims != out->dims) return false;
  const bool four = x.dims.size() == 4, between = IntOr(c, "interleaved", 0) != 0;
  const int64_t steps = x.dims[four ? 2 : 1];
  const int64_t named = IntOr(c, "num_heads", 0);
  const int64_t size = four ? x.dims[3] : named != 0 ? x.dims[2] / named : 2 * cosines.dims[1];
  const int64_t heads = four ? x.dims[1] : x.dims[2] / size;
  std::vector<double> v(static_cast<size_t>(x.count()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = ElementAsDouble(x, static_cast<int64_t>(i));
  Index at({x.dims[0], heads, steps});
  for (int64_t i = 0; i < x.dims[0] * heads * steps; ++i, at.Next()) {
    const int64_t b = at.at[0], h = at.at[1], s = at.at[2];
    const int64_t place = places.count() == 1 && places.dims.size() == 1
                              ? ElementAsInt(places, 0) + s
                              : ElementAsInt(places, b * steps + s);
    const int64_t first = four ? Flat(x.dims, {b, h, s, 0}) : Flat(x.dims, {b, s, h * size});
    PlainTurn(cosines, sines, place, between,
              [&](int64_t e) -> double& { return v[static_cast<size_t>(first + e)]; });
  }
  for (size_t i = 0; i < v.size(); ++i) SetElement(out, static_cast<int64_t>(i), v[i]);
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_rotary_embedding) = {"com.microsoft.RotaryEmbedding", RotaryMsCase, 4e-6,
                                            Error::kOfTerms, PlainRotaryMs};

}  // namespace ge::test

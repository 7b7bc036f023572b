#include "tools/ge_test/oracle/attention.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void MRotaryCase(CaseMaker& m) {
  const int64_t batch = m.r.Int(1, 2), heads = m.r.Int(1, 3), steps = m.r.Int(1, 4),
                half = m.r.Int(1, 6), places = 8;
  const bool part = m.r.Chance(0.3), four = m.r.Chance(0.4);
  const int64_t size = 2 * half + (part ? 2 * m.r.Int(0, 2) : 0);
  m.Add(Signal(m, four ? Dims{batch, heads, steps, size} : Dims{batch, steps, heads * size}));
  m.Add(m.Numbers(DType::kInt64, {3, batch, steps}, 0, places - 1));
  m.Add(Signal(m, {places, half}));
  m.Add(Signal(m, {places, half}));
  const int64_t time = m.r.Int(0, half), height = m.r.Int(0, half - time);
  m.Set("mrope_section", Dims{time, height, half - time - height});
  if (m.r.Chance(0.5)) m.Set("interleaved", m.r.Int(0, 1));
  if (m.r.Chance(0.6)) m.Set("mrope_layout", m.r.Int(0, 1));
  if (part) m.Set("rotary_embedding_dim", 2 * half);
  if (part || !four || m.r.Chance(0.5)) m.Set("num_heads", heads);
  if (m.r.Chance(0.4)) m.Set("scale", 0.5);
  if (m.r.Chance(0.2)) m.Set("is_packed_batching", m.r.Int(0, 1));
}

// Which position owns a column.
int64_t MRotaryStream(const RandomCase& c, int64_t column) {
  const Dims& sections = std::get<Dims>(FindAttr(c, "mrope_section")->value);
  if (IntOr(c, "mrope_layout", 0) == 0) {
    return column < sections[0] ? 0 : column < sections[0] + sections[1] ? 1 : 2;
  }
  const int64_t stream = column % 3;
  return column < 3 * sections[static_cast<size_t>(stream)] ? stream : 0;
}

bool PlainMRotary(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &places = *c.inputs[1].tensor,
                   &cosines = *c.inputs[2].tensor, &sines = *c.inputs[3].tensor;
  if (x.dims != out->dims) return false;
  const bool four = x.dims.size() == 4, between = IntOr(c, "interleaved", 0) != 0;
  const int64_t steps = places.dims[2], half = cosines.dims[1];
  const int64_t heads = four ? x.dims[1] : IntOr(c, "num_heads", 1);
  const int64_t size = four ? x.dims[3] : x.dims[2] / heads;
  const double scale = FloatOr(c, "scale", 1);
  for (int64_t i = 0, n = x.count(); i < n; ++i) Copy(x, i, out, i);
  Index at({x.dims[0], heads, steps, half});
  for (int64_t i = 0; i < x.dims[0] * heads * steps * half; ++i, at.Next()) {
    const int64_t b = at.at[0], h = at.at[1], s = at.at[2], k = at.at[3];
    const int64_t place = ElementAsInt(places, Flat(places.dims, {MRotaryStream(c, k), b, s}));
    const int64_t first = four ? Flat(x.dims, {b, h, s, 0}) : Flat(x.dims, {b, s, h * size});
    const int64_t real = first + (between ? 2 * k : k), other = real + (between ? 1 : half);
    const double cosine = scale * ElementAsDouble(cosines, place * half + k);
    const double sine = scale * ElementAsDouble(sines, place * half + k);
    const double re = ElementAsDouble(x, real), im = ElementAsDouble(x, other);
    SetElement(out, real, re * cosine - im * sine);
    SetElement(out, other, re * sine + im * cosine);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_m_rotary_embedding) = {"com.microsoft.MRotaryEmbedding", MRotaryCase, 4e-6,
                                              Error::kOfTerms, PlainMRotary};

}  // namespace ge::test

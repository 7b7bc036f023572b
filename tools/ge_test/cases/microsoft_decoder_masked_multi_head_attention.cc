#include "tools/ge_test/oracle/attention.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

// Keys and values of another sequence, of which there are `keys`.
void AddOtherSequence(CaseMaker& m, int64_t batch, int64_t heads, int64_t size) {
  const int64_t keys = m.Size(5, 90);
  m.Add(Signal(m, {batch, 1, heads * size}));
  for (int i = 0; i < 2; ++i) m.Add(Signal(m, {batch, heads, keys, size}));
  AddMaybe(m, m.r.Chance(0.5) ? m.Numbers(DType::kInt32, {batch, keys}, 0, 1) : nullptr);
  for (int i = 0; i < 6; ++i) m.AddAbsent();
  m.c.outputs = 1;
}

// A step of a decoder whose caches hold `past` keys, in beams of several samples or alone.
void AddCachedStep(CaseMaker& m, int64_t batch, int64_t beams, int64_t heads, int64_t size) {
  const int64_t hidden = heads * size, samples = batch * beams, past = m.r.Int(0, m.large ? 90 : 5),
                rows = past + m.r.Int(1, 4);
  const bool packed = m.r.Chance(0.3), biased = m.r.Chance(0.5);
  m.Add(Signal(m, {samples, 1, packed ? 3 * hidden : hidden}));
  for (int i = 0; i < 2; ++i) AddMaybe(m, packed ? nullptr : Signal(m, {samples, 1, hidden}));
  AddMaybe(m, m.r.Chance(0.5) ? m.Numbers(DType::kInt32, {samples, past + 1}, 0, 1) : nullptr);
  AddMaybe(m, biased ? Signal(m, {beams > 1 || m.r.Chance(0.5) ? 1 : samples,
                                  m.r.Chance(0.5) ? 1 : heads, 1, past + 1})
                     : nullptr);
  for (int i = 0; i < 2; ++i) m.Add(Signal(m, {samples, heads, rows, size}));
  m.AddConstant(m.Ints(DType::kInt32, m.r.Chance(0.5) ? Dims{} : Dims{1}, {past}));
  AddMaybe(m, beams > 1 ? m.Ints(DType::kInt32, {1}, {beams}) : nullptr);
  AddMaybe(m, beams > 1 ? m.Numbers(DType::kInt32, {batch, beams, rows}, 0,
                                    static_cast<double>(beams - 1))
                        : nullptr);
  m.Set("past_present_share_buffer", int64_t{1});
  m.c.outputs = m.r.Chance(0.6) ? 3 : 1;
}

void DmmhaCase(CaseMaker& m) {
  const int64_t heads = m.r.Int(1, 3), size = m.Size(6, 70), batch = m.r.Int(1, 3);
  if (m.r.Chance(0.3)) {
    AddOtherSequence(m, batch, heads, size);
  } else {
    AddCachedStep(m, batch, m.r.Chance(0.5) ? 1 : m.r.Int(2, 3), heads, size);
    if (m.r.Chance(0.3)) {
      m.Set("output_qk", int64_t{1});
      m.c.outputs = 4;
    }
  }
  if (m.r.Chance(0.5)) m.Add(Signal(m, {3 * heads * size}));
  m.Set("num_heads", heads);
  if (m.c.inputs[3].tensor != nullptr) m.Set("mask_filter_value", -1.5);
  if (m.r.Chance(0.3)) m.Set("scale", m.r.Between(0.1, 1));
}

// How many keys are before this step's; of another sequence all.
int64_t DmmhaPast(const RandomCase& c) {
  return Maybe(c, 5) != nullptr ? ElementAsInt(*c.inputs[7].tensor, 0)
                                : c.inputs[1].tensor->dims[2];
}

// Element e of head h of part 0, 1 or 2, with the bias.
double DmmhaNow(const RandomCase& c, size_t part, int64_t b, int64_t h, int64_t e) {
  const HostTensor &q = *c.inputs[0].tensor, *key = Maybe(c, 1), *bias = Maybe(c, 10);
  const int64_t size = c.inputs[Maybe(c, 5) != nullptr ? 5 : 1].tensor->dims[3],
                hidden = size * IntOr(c, "num_heads", 1), at = h * size + e;
  const auto from = static_cast<int64_t>(part) * hidden + at;
  const double v = key == nullptr ? ElementAsDouble(q, b * 3 * hidden + from)
                                  : ElementAsDouble(*c.inputs[part].tensor, b * hidden + at);
  return v + (bias != nullptr ? ElementAsDouble(*bias, from) : 0);
}

// Row t of sample b in a cache after this step; by beams of the sample that the row is of.
double DmmhaRow(const RandomCase& c, size_t part, const Dims& at, bool by_beams) {
  const HostTensor& cache = *c.inputs[part + 4].tensor;
  const HostTensor* beams = Maybe(c, 9);
  Dims from = at;
  const int64_t past = DmmhaPast(c);
  if (at[2] == past) return DmmhaNow(c, part, at[0], at[1], at[3]);
  if (by_beams && beams != nullptr && at[2] < past) {
    const int64_t width = beams->dims[1], first = at[0] / width * width;
    const Dims place = {at[0] / width, at[0] % width, at[2]};
    from[0] = first + ElementAsInt(*beams, Flat(beams->dims, place));
  }
  return ElementAsDouble(cache, Flat(cache.dims, from));
}

PlainQkv DmmhaFilled(const RandomCase& c) {
  const bool cross = Maybe(c, 5) == nullptr;
  const Dims cache = c.inputs[cross ? 1 : 5].tensor->dims;
  const int64_t total = cross ? cache[2] : DmmhaPast(c) + 1;
  PlainQkv p({cache[0], cache[1], cache[1], 1, total, cache[3], cache[3]});
  Index at({cache[0], cache[1], total, cache[3]});
  for (int64_t i = 0; i < cache[0] * cache[1] * total * cache[3]; ++i, at.Next()) {
    const int64_t b = at.at[0], h = at.at[1], t = at.at[2], e = at.at[3];
    if (t == 0) p.Q(b, h, 0, e) = DmmhaNow(c, 0, b, h, e);
    const auto other = [&](size_t k) { return ElementAsDouble(*c.inputs[k].tensor, i); };
    p.K(b, h, t, e) = cross ? other(1) : DmmhaRow(c, 1, at.at, true);
    p.V(b, h, t, e) = cross ? other(2) : DmmhaRow(c, 2, at.at, true);
  }
  return p;
}

double DmmhaTerm(const RandomCase& c, const Dims& at) {
  const HostTensor* mask = Maybe(c, 3);
  const bool seen = mask == nullptr || ElementAsInt(*mask, Flat(mask->dims, {at[0], at[3]})) != 0;
  return BiasAt(Maybe(c, 4), at) + (seen ? 0 : FloatOr(c, "mask_filter_value", -10000));
}

double DmmhaScale(const RandomCase& c, const PlainQkv& p) {
  return FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(p.s.size)));
}

bool PlainDmmha(const RandomCase& c, HostTensor* out) {
  PlainQkv p = DmmhaFilled(c);
  return PlainAttend(p, DmmhaScale(c, p), 0, out, [&](int64_t b, int64_t h, int64_t s, int64_t t) {
    return DmmhaTerm(c, {b, h, s, t});
  });
}

bool PlainDmmhaOther(const RandomCase& c, size_t o, HostTensor* out) {
  PlainQkv p = DmmhaFilled(c);
  const Dims wanted = o == 3 ? Dims{p.s.batch, p.s.heads, 1, p.s.total} : c.inputs[5].tensor->dims;
  if (out->dims != wanted) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    SetElement(out, i,
               o == 3 ? PlainScore(p, at.at, DmmhaScale(c, p), 0) + DmmhaTerm(c, at.at)
                      : DmmhaRow(c, o, at.at, false));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_decoder_masked_multi_head_attention) = {
    "com.microsoft.DecoderMaskedMultiHeadAttention",
    DmmhaCase,
    2e-5,
    Error::kOfInputs,
    PlainDmmha,
    PlainDmmhaOther};

}  // namespace ge::test

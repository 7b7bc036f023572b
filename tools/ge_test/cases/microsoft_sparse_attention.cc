#include "tools/ge_test/oracle/attention.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

// Layouts of blocks, of which each sees itself and some before it, by rows: where each row begins,
// and the columns. Shorter layouts are filled up with -1.
void AddLayouts(CaseMaker& m, int64_t layouts, int64_t blocks) {
  Dims begins, columns;
  const int64_t most = blocks * (blocks + 1) / 2;
  for (int64_t l = 0; l < layouts; ++l) {
    int64_t count = 0;
    begins.push_back(0);
    for (int64_t r = 0; r < blocks; ++r) {
      for (int64_t k = 0; k <= r; ++k) {
        if (k < r && m.r.Chance(0.5)) continue;
        columns.push_back(k);
        ++count;
      }
      begins.push_back(count);
    }
    for (; count < most; ++count) columns.push_back(-1);
  }
  m.Add(m.Ints(DType::kInt32, {layouts, blocks + 1}, begins));
  m.Add(m.Ints(DType::kInt32, {layouts, most}, columns));
}

void SparseAttentionCase(CaseMaker& m) {
  const int64_t kv = m.r.Int(1, 2), heads = kv * m.r.Int(1, 2), size = 2 * m.Size(3, 30),
                batch = m.r.Int(1, 2), block = m.r.Pick(Dims{4, 8, 16}), blocks = m.r.Int(1, 4),
                rows = block * blocks;
  const bool prompt = m.r.Chance(0.5), packed = m.r.Chance(0.3), turned = m.r.Chance(0.5);
  const int64_t total = m.r.Int(1, rows),
                steps = prompt ? total : m.r.Int(1, std::min(total, int64_t{2}));
  m.Add(Signal(m, {batch, steps, (packed ? heads + 2 * kv : heads) * size}));
  for (int i = 0; i < 2; ++i) {
    AddMaybe(m, packed ? nullptr : Signal(m, {batch, steps, kv * size}));
  }
  for (int i = 0; i < 2; ++i) m.Add(Signal(m, {batch, kv, rows, size}));
  AddLayouts(m, heads % 2 == 0 && m.r.Chance(0.5) ? 2 : 1, blocks);
  m.AddConstant(m.Ints(DType::kInt32, {1}, {total}));
  m.Add(m.Numbers(DType::kInt32, {batch}, static_cast<double>(steps), static_cast<double>(total)));
  for (int i = 0; i < 2 && turned; ++i) m.Add(Signal(m, {rows, size / 2}));
  m.Set("num_heads", heads);
  m.Set("kv_num_heads", kv);
  m.Set("sparse_block_size", block);
  if (turned) m.Set("do_rotary", int64_t{1});
  if (turned && m.r.Chance(0.5)) m.Set("rotary_interleaved", int64_t{1});
  if (m.r.Chance(0.3)) m.Set("scale", m.r.Between(0.1, 1));
  m.c.outputs = 3;
}

int64_t SparseOlder(const RandomCase& c, int64_t b) {
  return ElementAsInt(*c.inputs[8].tensor, b) - c.inputs[0].tensor->dims[1];
}

// Element e of a head of part 0, 1 or 2 at a step, before it is turned.
double SparseNow(const RandomCase& c, size_t part, int64_t head, const Dims& at) {
  const int64_t size = c.inputs[3].tensor->dims[3], heads = IntOr(c, "num_heads", 1),
                kv = IntOr(c, "kv_num_heads", 1);
  const bool packed = Maybe(c, 1) == nullptr;
  const int64_t before[] = {0, heads, heads + kv};
  const HostTensor& t = *c.inputs[packed ? 0 : part].tensor;
  const int64_t first = packed ? before[part] + head : head;
  return ElementAsDouble(t, Flat(t.dims, {at[0], at[1], first * size + at[2]}));
}

std::vector<double> SparseNumbers(const HostTensor& t) {
  std::vector<double> v;
  for (int64_t i = 0, n = t.count(); i < n; ++i) v.push_back(ElementAsDouble(t, i));
  return v;
}

PlainQkv SparseFilled(const RandomCase& c) {
  const Dims cache = c.inputs[3].tensor->dims;
  const int64_t steps = c.inputs[0].tensor->dims[1], heads = IntOr(c, "num_heads", 1);
  const bool turned = IntOr(c, "do_rotary", 0) != 0,
             between = IntOr(c, "rotary_interleaved", 0) != 0;
  PlainQkv p({cache[0], heads, cache[1], steps, cache[2], cache[3], cache[3]});
  p.k = SparseNumbers(*c.inputs[3].tensor);
  p.v = SparseNumbers(*c.inputs[4].tensor);
  Index at({cache[0], steps});
  for (int64_t i = 0; i < cache[0] * steps; ++i, at.Next()) {
    const int64_t b = at.at[0], s = at.at[1], to = SparseOlder(c, b) + s;
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t e = 0; e < cache[3]; ++e) p.Q(b, h, s, e) = SparseNow(c, 0, h, {b, s, e});
      if (!turned) continue;
      PlainTurn(*Maybe(c, 9), *Maybe(c, 10), to, between,
                [&](int64_t e) -> double& { return p.Q(b, h, s, e); });
    }
    for (int64_t h = 0; h < cache[1]; ++h) {
      for (int64_t e = 0; e < cache[3]; ++e) {
        p.K(b, h, to, e) = SparseNow(c, 1, h, {b, s, e});
        p.V(b, h, to, e) = SparseNow(c, 2, h, {b, s, e});
      }
      if (!turned) continue;
      PlainTurn(*Maybe(c, 9), *Maybe(c, 10), to, between,
                [&](int64_t e) -> double& { return p.K(b, h, to, e); });
    }
  }
  return p;
}

bool SparseSees(const RandomCase& c, int64_t head, int64_t place, int64_t t) {
  const HostTensor &begins = *c.inputs[5].tensor, &columns = *c.inputs[6].tensor;
  const int64_t layout = head % begins.dims[0], size = IntOr(c, "sparse_block_size", 1);
  if (t > place) return false;
  const auto begin = [&](int64_t row) {
    return ElementAsInt(begins, Flat(begins.dims, {layout, row}));
  };
  for (int64_t j = begin(place / size); j < begin(place / size + 1); ++j) {
    if (ElementAsInt(columns, Flat(columns.dims, {layout, j})) == t / size) return true;
  }
  return false;
}

bool PlainSparseAttention(const RandomCase& c, HostTensor* out) {
  PlainQkv p = SparseFilled(c);
  const double scale = FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(p.s.size)));
  return PlainAttend(p, scale, 0, out, [&](int64_t b, int64_t h, int64_t s, int64_t t) {
    return SparseSees(c, h, SparseOlder(c, b) + s, t) ? 0.0 : kUnseen;
  });
}

bool PlainSparseCaches(const RandomCase& c, size_t o, HostTensor* out) {
  const PlainQkv p = SparseFilled(c);
  const std::vector<double>& cache = o == 1 ? p.k : p.v;
  if (out->dims != c.inputs[3].tensor->dims) return false;
  for (size_t i = 0; i < cache.size(); ++i) SetElement(out, static_cast<int64_t>(i), cache[i]);
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_sparse_attention) = {"com.microsoft.SparseAttention",
                                            SparseAttentionCase,
                                            2e-5,
                                            Error::kOfInputs,
                                            PlainSparseAttention,
                                            PlainSparseCaches};

}  // namespace ge::test

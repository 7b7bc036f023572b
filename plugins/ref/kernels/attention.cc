#include "plugins/ref/kernels/rows.h"

namespace ref {
namespace {

// Where the row (batch, head, position) of Q, K, V or Y begins: b * batch + h * head + s * step.
struct HeadLayout {
  int64_t batch, head, step;
  int64_t At(int64_t b, int64_t h, int64_t s) const { return b * batch + h * head + s * step; }
};

struct AttentionPlan {
  int64_t batch, q_heads, kv_heads, q_len, kv_len, past, total, size, v_size;
  HeadLayout q, k, v, y;
  int64_t mask_step[4] = {}, mask_len = 0;  // of batch, head, row, column; columns that it has
  double scale, softcap;                    // softcap 0 = none
  bool causal;
  int64_t left, right;  // keys before and after its own that a row sees; -1 = all
  int64_t mode;
};

constexpr double kAttentionMasked = -std::numeric_limits<double>::infinity();

double AttentionMaskAt(const Tensor& mask, int64_t i) {
  if (mask.dtype == GE_BOOL) return *(mask.as<char>() + i) != 0 ? 0.0 : kAttentionMasked;
  double v = 0;
  VisitNumber(mask.dtype, [&](auto tag) {
    v = static_cast<double>(Widen(Load(mask.as<typename decltype(tag)::type>(), i)));
  });
  return v;
}

// What is added to the scores of row (b, h, s), whose sample has `valid` tokens that are not
// padding: the last query stands at the last of them, or the first behind the past. Whether the row
// sees any key.
bool AddAttentionBias(const AttentionPlan& p, const Call& c, int64_t b, int64_t h, int64_t s,
                      int64_t valid, double* score) {
  const int64_t own = (c.has_in(6) ? valid - p.q_len : p.past) + s;  // the key at its place
  int64_t first = 0, end = valid;
  if (p.causal) end = std::min(end, own + 1);
  if (p.right >= 0) end = std::min(end, own + p.right + 1);
  if (p.left >= 0) first = own - p.left;
  const int64_t row = b * p.mask_step[0] + h * p.mask_step[1] + s * p.mask_step[2];
  bool sees = false;
  for (int64_t j = 0; j < p.total; ++j) {
    double bias = 0;
    if (c.has_in(3)) {
      bias = j < p.mask_len ? AttentionMaskAt(c.in(3), row + j * p.mask_step[3]) : kAttentionMasked;
    }
    if (j < first || j >= end) bias = score[j] = kAttentionMasked;
    score[j] += bias;
    sees |= bias != kAttentionMasked;
  }
  return sees;
}

// A row that sees no key becomes zeros (ONNX 1.23; an erratum to opsets 23 and 24).
void AttentionSoftmax(double* score, int64_t n, bool sees) {
  double most = kAttentionMasked, sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    if (!(score[j] <= most)) most = score[j];  // NaN is taken and stays
  }
  if (!sees || most == kAttentionMasked) return static_cast<void>(std::fill_n(score, n, 0.0));
  for (int64_t j = 0; j < n; ++j) sum += score[j] = std::exp(score[j] - most);
  for (int64_t j = 0; j < n; ++j) score[j] /= sum;
}

// One row of queries against all keys. row: scratch for one row of Q, K or V and one of Y.
void AttendRow(const AttentionPlan& p, const Call& c, int64_t b, int64_t h, int64_t s,
               int64_t valid, double* score, double* row) {
  const int64_t kv = h / (p.q_heads / p.kv_heads);
  const int64_t out = ((b * p.q_heads + h) * p.q_len + s) * p.total;
  const auto keep = [&](int64_t mode) {
    if (c.has_out(3) && p.mode == mode) PutRow(c.out(3), out, p.total, score);
  };
  // Row j of the past, then of what is new.
  const auto load = [&](uint32_t now, uint32_t before, const HeadLayout& l, int64_t j, int64_t n,
                        double* to) {
    if (j < p.past) {
      LoadRow(c.in(before), ((b * p.kv_heads + kv) * p.past + j) * n, n, to);
    } else {
      LoadRow(c.in(now), l.At(b, kv, j - p.past), n, to);
    }
  };
  double* query = row + std::max(p.size, p.v_size);
  LoadRow(c.in(0), p.q.At(b, h, s), p.size, query);
  for (int64_t j = 0; j < p.total; ++j) {
    load(1, 4, p.k, j, p.size, row);
    score[j] = DotOf(query, row, p.size) * p.scale;
  }
  keep(0);
  for (int64_t j = 0; p.softcap > 0 && j < p.total; ++j) {
    score[j] = std::tanh(score[j] / p.softcap) * p.softcap;
  }
  keep(1);
  const bool sees = AddAttentionBias(p, c, b, h, s, valid, score);
  keep(2);
  AttentionSoftmax(score, p.total, sees);
  keep(3);
  double* sum = query;  // the query is done with
  std::fill_n(sum, p.v_size, 0.0);
  for (int64_t j = 0; sees && j < p.total; ++j) {
    load(2, 5, p.v, j, p.v_size, row);
    for (int64_t e = 0; e < p.v_size; ++e) sum[e] += score[j] * row[e];
  }
  PutRow(c.out(0), p.y.At(b, h, s), p.v_size, sum);
}

// The past, then what is new, as [batch, heads, total, size].
void StoreAttentionPresent(const AttentionPlan& p, const Call& c, uint32_t out,
                           const HeadLayout& now, int64_t n) {
  if (!c.has_out(out)) return;
  const Tensor y = c.out(out), x = c.in(out);  // present_key and K, present_value and V
  const int64_t bytes = ge::plugin::ElementBits(y.dtype) / 8;
  const auto copy = [&](int64_t to, const Tensor& from, int64_t at, int64_t rows) {
    if (rows * n == 0) return;
    std::memcpy(y.as<char>() + to * bytes, from.as<char>() + at * bytes,
                static_cast<size_t>(rows * n * bytes));
  };
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t h = 0; h < p.kv_heads; ++h) {
      const int64_t pair = b * p.kv_heads + h;
      if (p.past > 0) copy(pair * p.total * n, c.in(out + 3), pair * p.past * n, p.past);
      for (int64_t s = 0; s < p.kv_len; ++s) {
        copy((pair * p.total + p.past + s) * n, x, now.At(b, h, s), 1);
      }
    }
  }
}

ge_rc RunAttention(const AttentionPlan& p, const Call& c) {
  double* score = static_cast<double*>(c.workspace());
  double* row = score + p.total;
  StoreAttentionPresent(p, c, 1, p.k, p.size);
  StoreAttentionPresent(p, c, 2, p.v, p.v_size);
  for (int64_t b = 0; b < p.batch; ++b) {
    const int64_t valid = c.has_in(6) ? Load(c.in(6).as<int64_t>(), b) : p.total;
    if (valid < 0 || valid > p.total) {
      return c.Fail(GE_INVALID_ARGUMENT, "nonpad_kv_seqlen[%lld] is %lld, [0, %lld] is wanted",
                    static_cast<long long>(b), static_cast<long long>(valid),
                    static_cast<long long>(p.total));
    }
    for (int64_t h = 0; h < p.q_heads; ++h) {
      for (int64_t s = 0; s < p.q_len; ++s) {
        AttendRow(p, c, b, h, s, valid, score, row);
        Spend(p.total * (p.size + p.v_size));
      }
    }
  }
  return GE_OK;
}

// Sizes and layouts of a tensor [batch, heads, length, size] or [batch, length, heads * size].
bool ReadAttentionHeads(const TensorType& t, int64_t heads, HeadLayout* l, int64_t* length,
                        int64_t* size) {
  if (t.rank == 4) {
    *length = t.dims[2];
    *size = t.dims[3];
    *l = {heads * *length * *size, *length * *size, *size};
    return t.dims[1] == heads;
  }
  *length = t.dims[1];
  *size = t.dims[2] / heads;
  *l = {*length * t.dims[2], *size, t.dims[2]};
  return t.dims[2] % heads == 0;
}

bool PlanAttentionMask(const NodeView& n, AttentionPlan* p, Why* why) {
  if (!n.has_in(3)) return true;
  const TensorType m = n.in(3);
  if (m.dtype != GE_BOOL && !VisitNumber(m.dtype, [](auto) {})) return NoDType(m, why);
  if (m.rank < 1 || m.rank > 4) return NoRole(why);
  const int64_t want[4] = {p->batch, p->q_heads, p->q_len, p->total};
  int64_t dense[kMaxRank];
  DenseStrides(m.shape(), dense);
  for (int d = 0; d < m.rank; ++d) {
    const int to = 4 - m.rank + d;
    // A short last dim is filled up with "masked", also where it is 1.
    const bool fits = to == 3 ? m.dims[d] <= want[3] : m.dims[d] == 1 || m.dims[d] == want[to];
    if (!fits) return why->Say(GE_WHY_SHAPE, "attn_mask does not broadcast to the scores");
    p->mask_step[to] = m.dims[d] == 1 ? 0 : dense[d];
  }
  p->mask_len = m.dims[m.rank - 1];
  return true;
}

bool PlanAttentionShapes(const NodeView& n, AttentionPlan* p, Why* why) {
  const TensorType q = n.in(0), k = n.in(1), v = n.in(2), y = n.out(0);
  if ((q.rank != 3 && q.rank != 4) || k.rank != q.rank || v.rank != q.rank || y.rank != q.rank) {
    return why->Say(GE_WHY_SHAPE, "Q, K, V and Y must all have rank 3, or all rank 4");
  }
  p->batch = q.dims[0];
  p->q_heads = q.rank == 4 ? q.dims[1] : n.Int("q_num_heads");
  p->kv_heads = q.rank == 4 ? k.dims[1] : n.Int("kv_num_heads");
  if (p->q_heads < 1 || p->kv_heads < 1 || p->q_heads % p->kv_heads != 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "%lld query heads are no multiple of %lld key heads",
                    static_cast<long long>(p->q_heads), static_cast<long long>(p->kv_heads));
  }
  int64_t k_size = 0, v_len = 0, y_len = 0, y_size = 0;
  bool ok = ReadAttentionHeads(q, p->q_heads, &p->q, &p->q_len, &p->size) &&
            ReadAttentionHeads(k, p->kv_heads, &p->k, &p->kv_len, &k_size) &&
            ReadAttentionHeads(v, p->kv_heads, &p->v, &v_len, &p->v_size) &&
            ReadAttentionHeads(y, p->q_heads, &p->y, &y_len, &y_size);
  ok = ok && k.dims[0] == p->batch && v.dims[0] == p->batch && y.dims[0] == p->batch;
  ok = ok && k_size == p->size && v_len == p->kv_len && y_len == p->q_len && y_size == p->v_size;
  ok = ok && n.has_in(4) == n.has_in(5) && !(n.has_in(4) && n.has_in(6));
  if (!ok) return NoRole(why);
  if (n.has_in(4)) p->past = n.in(4).rank == 4 ? n.in(4).dims[2] : -1;
  p->total = p->past + p->kv_len;
  const int64_t b = p->batch, h = p->kv_heads;
  ok = (!n.has_in(4) || HasDims(n.in(4), {b, h, p->past, p->size})) &&
       (!n.has_in(5) || HasDims(n.in(5), {b, h, p->past, p->v_size})) &&
       (!n.has_in(6) || (HasDims(n.in(6), {b}) && n.in(6).dtype == GE_I64)) &&
       (!n.has_out(1) || HasDims(n.out(1), {b, h, p->total, p->size})) &&
       (!n.has_out(2) || HasDims(n.out(2), {b, h, p->total, p->v_size})) &&
       (!n.has_out(3) || HasDims(n.out(3), {b, p->q_heads, p->q_len, p->total}));
  return ok ? PlanAttentionMask(n, p, why) : NoRole(why);
}

bool PlanAttention(const NodeView& n, AttentionPlan* p, Why* why) {
  if (!NeedPorts(n, 3, 7, why)) return false;
  const TensorType q = n.in(0), v = n.in(2);
  if (!IsFloatDType(q.dtype)) return NoDType(q, why);
  if (!IsFloatDType(v.dtype)) return NoDType(v, why);
  for (uint32_t i : {1u, 4u}) {
    if (n.has_in(i) && !NeedSameDType(q, n.in(i), why)) return false;
  }
  if (n.has_in(5) && !NeedSameDType(v, n.in(5), why)) return false;
  for (uint32_t i = 0; i < n.n_out(); ++i) {
    if (n.has_out(i) && !NeedSameDType(i == 2 ? v : q, n.out(i), why)) return false;
  }
  if (!PlanAttentionShapes(n, p, why)) return false;
  p->scale = n.Float("scale", 1 / std::sqrt(static_cast<double>(p->size)));
  p->softcap = n.Float("softcap");
  p->causal = n.Int("is_causal") != 0;
  // More than reaches every key from every row is no window.
  const int64_t most = p->total + p->q_len;
  p->left = std::min(n.Int("left_window_size", -1), most);
  p->right = std::min(n.Int("right_window_size", -1), most);
  p->mode = n.Int("qk_matmul_output_mode");
  if (p->mode < 0 || p->mode > 3) {
    return why->Say(GE_WHY_ATTRIBUTE, "qk_matmul_output_mode is out of range");
  }
  return true;
}

// Everything is computed in double, which is at least as wide as any softmax_precision.
std::unique_ptr<Prepared> PrepareAttention(const NodeView& n, Why* why) {
  AttentionPlan p{};
  if (!PlanAttention(n, &p, why)) return nullptr;
  auto made = Make([p](const Call& c) { return RunAttention(p, c); });
  const int64_t scratch = p.total + 2 * std::max(p.size, p.v_size);
  made->workspace = static_cast<uint64_t>(scratch) * sizeof(double);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(attention, "Attention", PrepareAttention)

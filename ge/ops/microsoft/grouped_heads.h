// What com.microsoft's operators share in which several heads of the queries share one of keys and
// values: sizes of heads, places, and a cache that each step extends. Not an operator. Any thread
// may call.
#pragma once

#include "ge/ops/known_ints.h"
#include "ge/ops/microsoft/attention.h"

namespace ge {

// exp of it is 0 beside any real score: such a key does not count at all.
inline constexpr double kUnseenScore = -1e30;

inline Status CheckGroupedAttrs(const Node& n) {
  const int64_t heads = AttrInt(n, "num_heads"), kv = AttrInt(n, "kv_num_heads");
  if (heads < 1 || kv < 1 || heads % kv != 0) {
    return Bad(n, fmt::format("attributes 'num_heads' and 'kv_num_heads' are {} and {}, wanted at "
                              "least 1 and the first a multiple of the second",
                              heads, kv));
  }
  for (const char* flag : {"do_rotary", "rotary_interleaved"}) {
    GE_RETURN_IF_ERROR(WantFlag(n, flag));
  }
  return WantFiniteAttr(n, "scale");
}

// The size of a head; query may hold key and value, too.
inline Result<Dim> GroupedHeadSize(InferContext& c) {
  const Node& n = c.node();
  const int64_t heads = AttrInt(n, "num_heads", 1), kv = AttrInt(n, "kv_num_heads", 1);
  const Dim hidden = c.input_type(0).dims[2];
  if (HasInput(c, 1) != HasInput(c, 2)) {
    return Bad(n,
               "only one of 'key' and 'value' is given, wanted both or, packed into query, "
               "neither");
  }
  if (!HasInput(c, 1)) return HeadSize(c, hidden, heads + 2 * kv, "the packed 'query'");
  GE_ASSIGN_OR_RETURN(const Dim size, HeadSize(c, hidden, heads, "'query'"));
  GE_ASSIGN_OR_RETURN(const Dim wide,
                      Checked(n, c.dims().Mul(size, KnownDim(kv)), "the hidden size of 'key'"));
  const Dim batch = c.input_type(0).dims[0], steps = c.input_type(0).dims[1];
  const Dim wanted[] = {batch, steps, wide};
  GE_RETURN_IF_ERROR(WantShape(c, 1, "key", wanted));
  GE_RETURN_IF_ERROR(WantShape(c, 2, "value", wanted));
  return size;
}

// `cosine`: the number of input cos_cache, behind which sin_cache stands.
inline Status CheckRotaryCaches(InferContext& c, Dim size, size_t cosine) {
  const bool turned = AttrInt(c.node(), "do_rotary") != 0;
  if (!turned) return {};
  if (!HasInput(c, cosine) || !HasInput(c, cosine + 1)) {
    return Bad(c.node(),
               "attribute 'do_rotary' is 1 without inputs 'cos_cache' and 'sin_cache', "
               "wanted both");
  }
  const Type& t = c.input_type(cosine);
  GE_RETURN_IF_ERROR(WantRankOf(c, cosine, "cos_cache", 2, 2));
  if (!t.ranked) return {};
  const Dim half = t.dims[1];
  if (half.known() && size.known() && half.value > size.value / 2) {
    return Bad(c.node(), fmt::format("input 'cos_cache' has shape {}, wanted at most {} columns, "
                                     "half the size of a head",
                                     Show(c.dims(), t.dims), size.value / 2));
  }
  return WantShape(c, cosine + 1, "sin_cache", t.dims);
}

// ---- steps -------------------------------------------------------------------------------------

// What the steps know: sizes, and how many keys each sample has, older ones and all, i32[B].
struct Grouped {
  int64_t batch = 0, steps = 0, heads = 0, kv = 0, size = 0, past = 0, rows = 0;
  ValueId older = 0, length = 0;  // length: of all keys
  DType step = DType::kFloat;
};

// Where each query stands in its sample, i64[B,S].
inline ValueId GroupedPlaces(Steps* s, const Grouped& g) {
  const ValueId own = s->Counting({1, g.steps}, 0, g.steps);
  return s->Cast(s->Pair("Add", own, s->Reshape(g.older, {g.batch, 1})), DType::kInt64);
}

// Turned by the angles of these places; the number of input cos_cache as above.
inline ValueId GroupedTurned(Steps* s, const Node& node, const Grouped& g, ValueId v,
                             ValueId places, size_t cosine) {
  const int64_t half = s->Size(s->In(cosine), 1);
  return s->Map(
      "RotaryEmbedding",
      {v, s->Cast(s->In(cosine), g.step), s->Cast(s->In(cosine + 1), g.step), places},
      {{"interleaved", AttrInt(node, "rotary_interleaved")}, {"rotary_embedding_dim", 2 * half}});
}

// The cache with the new rows behind each sample's older ones: [B,kv,rows,h]. Rows that are not
// used yet are the past's.
inline ValueId GroupedCache(Steps* s, const Grouped& g, ValueId past, ValueId now) {
  if (past == 0 && g.rows == g.steps) return now;
  if (past != 0) now = s->Concat({s->Cast(past, g.step), now}, 2);
  const int64_t old = g.past > 0 ? g.past : g.steps;
  Steps::Shape kept;
  for (int64_t j = 0; j < g.rows; ++j) kept.push_back(std::min(j, old - 1));
  const ValueId row = s->Counting({1, g.rows}, 0, g.rows);
  const ValueId offset = s->Pair("Sub", row, s->Reshape(g.older, {g.batch, 1}));
  const ValueId fresh =
      s->Pair("And", s->Pair("GreaterOrEqual", offset, s->Int32s({}, {0}), DType::kBool),
              s->Pair("Less", offset, s->Int32s({}, {g.steps}), DType::kBool));
  const ValueId from = s->Pair("Add", offset, s->Int32s({}, {g.past}));
  const ValueId index = s->Choose(fresh, from, s->Int32s({1, g.rows}, kept));
  const Steps::Shape whole = {g.batch, g.kv, g.rows, g.size};
  if (g.batch == 1) {  // whole rows: element by element takes four times as long
    return s->Node1("Gather", {now, s->Reshape(index, {g.rows})}, g.step, whole,
                    {{"axis", int64_t{2}}});
  }
  const ValueId wide = s->Node1(
      "Expand", {s->Reshape(index, {g.batch, 1, g.rows, 1}), s->Ints(whole)}, DType::kInt32, whole);
  return s->Node1("GatherElements", {now, wide}, g.step, whole, {{"axis", int64_t{2}}});
}

// Queries, keys and values as heads, in the dtype of the steps.
struct GroupedHeads {
  ValueId q = 0, k = 0, v = 0;
};
inline GroupedHeads AddGroupedHeads(Steps* s, const Grouped& g) {
  GroupedHeads h{s->Cast(s->In(0), g.step)};
  if (s->Has(1)) {
    h.k = s->Cast(s->In(1), g.step);
    h.v = s->Cast(s->In(2), g.step);
  } else {
    const int64_t wide = g.heads * g.size, narrow = g.kv * g.size;
    h.k = s->Slice(h.q, 2, wide, wide + narrow);
    h.v = s->Slice(h.q, 2, wide + narrow, wide + 2 * narrow);
    h.q = s->Slice(h.q, 2, 0, wide);
  }
  return {AddHeads(s, h.q, g.heads), AddHeads(s, h.k, g.kv), AddHeads(s, h.v, g.kv)};
}

// Q * K^T * scale, [B,heads,S,rows]. Heads that share a key stand together as more queries of it.
inline ValueId GroupedScores(Steps* s, const Node& node, const Grouped& g, ValueId q, ValueId k) {
  double scale = AttrFloat(node, "scale");
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(g.size));
  const ValueId grouped = s->Reshape(q, {g.batch, g.kv, g.heads / g.kv * g.steps, g.size});
  const ValueId scores = s->Times(s->MatMul(grouped, s->SwapLast(k)), scale);
  return s->Reshape(scores, {g.batch, g.heads, g.steps, g.rows});
}

// Shares times V, as [B,S,heads*h].
inline ValueId GroupedValues(Steps* s, const Grouped& g, ValueId shares, ValueId v) {
  const int64_t together = g.heads / g.kv * g.steps;
  const ValueId y = s->MatMul(s->Reshape(shares, {g.batch, g.kv, together, g.rows}), v);
  return AddMerged(s, s->Reshape(y, {g.batch, g.heads, g.steps, g.size}));
}

}  // namespace ge

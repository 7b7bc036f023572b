#include "ge/ops/known_ints.h"
#include "ge/ops/microsoft/attention.h"

namespace ge {
namespace {

// exp of it is 0 beside any real score: such a key does not count at all.
constexpr double kGqaFill = -1e30;

Status RefuseGqaExtras(InferContext& c) {
  const std::pair<size_t, const char*> inputs[] = {
      {9, "position_ids"}, {10, "attention_bias"}, {11, "head_sink"},    {12, "k_scale"},
      {13, "v_scale"},     {14, "q_norm_weight"},  {15, "k_norm_weight"}};
  for (const auto& [i, name] : inputs) GE_RETURN_IF_ERROR(RefuseInput(c, i, name));
  const std::pair<const char*, int64_t> attrs[] = {
      {"sliding_window_cache", 0}, {"causal", 1}, {"qk_output", 0}, {"kv_cache_bit_width", 0}};
  for (const auto& [name, only] : attrs) {
    GE_RETURN_IF_ERROR(RefuseAttr(c.node(), name, only));
  }
  if (AttrInt(c.node(), "smooth_softmax") > 0) {
    GE_RETURN_IF_ERROR(RefuseAttr(c.node(), "smooth_softmax", -1));
  }
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    const std::string_view kind = AttrString(c.node(), name);
    if (kind != "NONE") {
      return NotComputed(c.node(), fmt::format("attribute '{}' is '{:.64}', which is not computed "
                                               "here; wanted 'NONE'",
                                               name, kind));
    }
  }
  return RefuseOutput(c, 3, "output_qk");
}

Status CheckGqaAttrs(const Node& n) {
  const int64_t heads = AttrInt(n, "num_heads"), kv = AttrInt(n, "kv_num_heads");
  if (heads < 1 || kv < 1 || heads % kv != 0) {
    return Bad(n, fmt::format("attributes 'num_heads' and 'kv_num_heads' are {} and {}, wanted at "
                              "least 1 and the first a multiple of the second",
                              heads, kv));
  }
  const int64_t window = AttrInt(n, "local_window_size");
  if (window != -1 && window < 1) {
    return Bad(n, fmt::format("attribute 'local_window_size' is {}, wanted -1 (none) or at least "
                              "1",
                              window));
  }
  for (const char* flag : {"do_rotary", "rotary_interleaved"}) {
    GE_RETURN_IF_ERROR(WantFlag(n, flag));
  }
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "scale"));
  return WantNotNegative(n, "softcap");
}

// The size of a head; query may hold key and value, too.
Result<Dim> GqaHeadSize(InferContext& c) {
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

// The rows of the caches that go out: those of the past or, when that is more, all so far.
Result<Dim> GqaCacheRows(InferContext& c, Dim batch, Dim size) {
  Dim past = KnownDim(0);
  if (HasInput(c, 3) != HasInput(c, 4)) {
    return Bad(c.node(), fmt::format("input '{}' is absent, wanted both 'past_key' and "
                                     "'past_value' or neither",
                                     HasInput(c, 3) ? "past_value" : "past_key"));
  }
  if (HasInput(c, 3)) {
    const Type& t = c.input_type(3);
    past = t.ranked && t.rank() == 4 ? t.dims[2] : c.FreshDim("past", false);
    const Dim wanted[] = {batch, KnownDim(AttrInt(c.node(), "kv_num_heads", 1)), past, size};
    GE_RETURN_IF_ERROR(WantShape(c, 3, "past_key", wanted));
    GE_RETURN_IF_ERROR(WantShape(c, 4, "past_value", wanted));
  }
  const auto total = Content(c, 6);
  if (!total || total->size() != 1) return c.FreshDim("cache", true);
  return Checked(c.node(), c.dims().Max(past, total->front()), "the rows of the cache");
}

Status CheckGqaCaches(InferContext& c, Dim size) {
  const bool turned = AttrInt(c.node(), "do_rotary") != 0;
  if (!turned) return {};
  if (!HasInput(c, 7) || !HasInput(c, 8)) {
    return Bad(c.node(),
               "attribute 'do_rotary' is 1 without inputs 'cos_cache' and 'sin_cache', "
               "wanted both");
  }
  const Type& cosine = c.input_type(7);
  GE_RETURN_IF_ERROR(WantRankOf(c, 7, "cos_cache", 2, 2));
  if (!cosine.ranked) return {};
  const Dim half = cosine.dims[1];
  if (half.known() && size.known() && half.value > size.value / 2) {
    return Bad(c.node(), fmt::format("input 'cos_cache' has shape {}, wanted at most {} columns, "
                                     "half the size of a head",
                                     Show(c.dims(), cosine.dims), size.value / 2));
  }
  return WantShape(c, 8, "sin_cache", cosine.dims);
}

Status InferGqa(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckGqaAttrs(c.node()));
  GE_RETURN_IF_ERROR(RefuseGqaExtras(c));
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "query", 3, 3));
  GE_RETURN_IF_ERROR(WantOne(c, 6, "total_sequence_length"));
  const Type& q = c.input_type(0);
  const DType dtype = q.dtype;
  if (!q.ranked) {
    for (size_t o = 0; o < c.output_count(); ++o) {
      if (c.has_output(o)) c.SetOutput(o, UnrankedTensor(dtype));
    }
    return {};
  }
  const Dim batch = q.dims[0], steps = q.dims[1];
  GE_ASSIGN_OR_RETURN(const Dim size, GqaHeadSize(c));
  GE_RETURN_IF_ERROR(CheckGqaCaches(c, size));
  GE_RETURN_IF_ERROR(WantShape(c, 5, "seqlens_k", {{batch}}));
  GE_ASSIGN_OR_RETURN(const Dim rows, GqaCacheRows(c, batch, size));
  const Dim heads = KnownDim(AttrInt(c.node(), "num_heads", 1));
  const Dim kv = KnownDim(AttrInt(c.node(), "kv_num_heads", 1));
  GE_ASSIGN_OR_RETURN(const Dim hidden, Checked(c.node(), c.dims().Mul(heads, size),
                                                "the hidden size of the output"));
  GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, {batch, steps, hidden}));
  for (size_t o = 1; o < c.output_count() && o < 3; ++o) {
    if (c.has_output(o)) GE_RETURN_IF_ERROR(SetTensor(c, o, dtype, {batch, kv, rows, size}));
  }
  return {};
}

// What the steps know: sizes, and how many older keys each sample has, i32[B].
struct Gqa {
  int64_t batch = 0, steps = 0, heads = 0, kv = 0, size = 0, past = 0, rows = 0;
  ValueId older = 0;
  DType step = DType::kFloat;
};

ValueId GqaTurned(Steps* s, const Node& node, const Gqa& g, ValueId v) {
  if (AttrInt(node, "do_rotary") == 0) return v;
  const ValueId own = s->Counting({1, g.steps}, 0, g.steps);
  const ValueId places = s->Pair("Add", own, s->Reshape(g.older, {g.batch, 1}));
  const int64_t half = s->Size(s->In(7), 1);
  return s->Map(
      "RotaryEmbedding",
      {v, s->Cast(s->In(7), g.step), s->Cast(s->In(8), g.step), s->Cast(places, DType::kInt64)},
      {{"interleaved", AttrInt(node, "rotary_interleaved")}, {"rotary_embedding_dim", 2 * half}});
}

// The cache with the new rows behind each sample's older ones: [B,kv,rows,h]. Rows that are not
// used yet are the past's.
ValueId GqaCache(Steps* s, const Gqa& g, ValueId past, ValueId now) {
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

// Which keys a query sees: those up to its own, and of these the last ones of the window.
ValueId GqaSeen(Steps* s, const Node& node, const Gqa& g) {
  const ValueId key = s->Counting({1, 1, 1, g.rows}, 0, g.rows);
  const ValueId own = s->Pair("Add", s->Counting({1, 1, g.steps, 1}, 0, g.steps),
                              s->Reshape(g.older, {g.batch, 1, 1, 1}));
  ValueId seen = s->Pair("LessOrEqual", key, own, DType::kBool);
  const int64_t window = AttrInt(node, "local_window_size");
  if (window > 0) {
    const ValueId begin = s->Pair("Sub", own, s->Int32s({}, {std::min(window, g.rows)}));
    seen = s->Pair("And", seen, s->Pair("Greater", key, begin, DType::kBool));
  }
  return seen;
}

// Heads that share a key stand together as more queries of it.
ValueId GqaAttended(Steps* s, const Node& node, const Gqa& g, ValueId q, ValueId k, ValueId v) {
  const int64_t together = g.heads / g.kv * g.steps;
  double scale = AttrFloat(node, "scale");
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(g.size));
  const ValueId grouped = s->Reshape(q, {g.batch, g.kv, together, g.size});
  ValueId scores = s->Times(s->MatMul(grouped, s->SwapLast(k)), scale);
  const double cap = AttrFloat(node, "softcap");
  if (cap > 0) scores = s->Times(s->Map("Tanh", {s->Times(scores, 1 / cap)}), cap);
  scores = s->Reshape(scores, {g.batch, g.heads, g.steps, g.rows});
  scores = s->Choose(GqaSeen(s, node, g), scores, s->Scalar(g.step, kGqaFill));
  const ValueId shares = s->Map("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const ValueId y = s->MatMul(s->Reshape(shares, {g.batch, g.kv, together, g.rows}), v);
  return AddMerged(s, s->Reshape(y, {g.batch, g.heads, g.steps, g.size}));
}

std::vector<ValueId> DecomposeGqa(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const Steps::Shape x = s.ShapeOf(s.In(0));
  Gqa g{x[0], x[1], AttrInt(node, "num_heads", 1), AttrInt(node, "kv_num_heads", 1)};
  g.size = s.OutShape(0)[2] / g.heads;
  g.past = s.Has(3) ? s.Size(s.In(3), 2) : 0;
  // The rows of the caches are known from those that go out, or nobody wants them.
  g.rows = s.Wants(1) ? s.OutShape(1)[2] : s.Wants(2) ? s.OutShape(2)[2] : g.past + g.steps;
  if (g.size == 0 || g.steps == 0 || g.batch == 0 || g.rows < g.steps) return {};
  g.step = StepDType(s.DTypeOf(s.In(0)));
  const ValueId length = s.Pair("Add", s.In(5), s.Int32s({}, {1 - g.steps}));
  g.older = s.Node1("Max", {length, s.Int32s({1}, {0})}, DType::kInt32, {g.batch});
  ValueId q = s.Cast(s.In(0), g.step), k = 0, v = 0;
  if (s.Has(1)) {
    k = s.Cast(s.In(1), g.step);
    v = s.Cast(s.In(2), g.step);
  } else {
    const int64_t wide = g.heads * g.size, narrow = g.kv * g.size;
    k = s.Slice(q, 2, wide, wide + narrow);
    v = s.Slice(q, 2, wide + narrow, wide + 2 * narrow);
    q = s.Slice(q, 2, 0, wide);
  }
  q = GqaTurned(&s, node, g, AddHeads(&s, q, g.heads));
  k = GqaCache(&s, g, s.In(3), GqaTurned(&s, node, g, AddHeads(&s, k, g.kv)));
  v = GqaCache(&s, g, s.In(4), AddHeads(&s, v, g.kv));
  std::vector<ValueId> out = s.NoOutputs();
  const DType wanted = s.OutDType(0);
  out[0] = s.Cast(GqaAttended(&s, node, g, q, k, v), wanted);
  if (s.Wants(1)) out[1] = s.Cast(k, wanted);
  if (s.Wants(2)) out[2] = s.Cast(v, wanted);
  return out;
}

OpDef GqaRecord() {
  OpDef op = MicrosoftRecord("GroupQueryAttention", InferGqa, DecomposeGqa);
  const Arity opt = Arity::kOptional;
  // ONNX's RotaryEmbedding, which is a part, knows no f64.
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble), kWhole = Bit(DType::kInt32);
  op.inputs = {{"query", kReal, "T"},
               {"key", kReal, "T", opt},
               {"value", kReal, "T", opt},
               {"past_key", kReal, "T", opt},
               {"past_value", kReal, "T", opt},
               {"seqlens_k", kWhole, "M"},
               {"total_sequence_length", kWhole, "M"},
               {"cos_cache", kReal, "T", opt},
               {"sin_cache", kReal, "T", opt},
               {"position_ids", Bit(DType::kInt64), "", opt},
               {"attention_bias", kReal, "T", opt},
               {"head_sink", kReal, "T", opt},
               {"k_scale", Bit(DType::kFloat), "", opt},
               {"v_scale", Bit(DType::kFloat), "", opt},
               {"q_norm_weight", kReal, "T", opt},
               {"k_norm_weight", kReal, "T", opt}};
  op.outputs = {{"output", kReal, "T"},
                {"present_key", kReal, "T", opt},
                {"present_value", kReal, "T", opt},
                {"output_qk", kReal, "T", opt}};
  const AttrKind kInt = AttrKind::kInt, kText = AttrKind::kString, kReals = AttrKind::kFloat;
  op.attrs = {{"num_heads", kInt, true},
              {"kv_num_heads", kInt, true},
              {"scale", kReals, 0.0f},
              {"softcap", kReals, 0.0f},
              {"do_rotary", kInt, 0},
              {"rotary_interleaved", kInt, 0},
              {"local_window_size", kInt, -1},
              {"smooth_softmax", kInt, -1},
              {"causal", kInt, 1},
              {"qk_output", kInt, 0},
              {"qk_norm_epsilon", kReals, 1e-6f},
              {"sliding_window_cache", kInt, 0},
              {"kv_cache_bit_width", kInt, 0},
              {"k_quant_type", kText, "NONE"},
              {"v_quant_type", kText, "NONE"}};
  return op;
}

}  // namespace

// Causal attention in which several heads of the queries share a key, over a cache that each step
// extends.
GE_OP(microsoft_group_query_attention) = GqaRecord();

}  // namespace ge

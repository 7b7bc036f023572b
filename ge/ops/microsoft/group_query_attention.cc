#include "ge/ops/known_ints.h"
#include "ge/ops/microsoft/grouped_heads.h"

namespace ge {
namespace {

Status RefuseGqaExtras(InferContext& c) {
  const std::pair<size_t, const char*> inputs[] = {
      {12, "k_scale"}, {13, "v_scale"}, {16, "query_seqlens"}};
  for (const auto& [i, name] : inputs) GE_RETURN_IF_ERROR(RefuseInput(c, i, name));
  for (const char* name : {"sliding_window_cache", "kv_cache_bit_width"}) {
    GE_RETURN_IF_ERROR(RefuseAttr(c.node(), name, 0));
  }
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    const std::string_view kind = AttrString(c.node(), name);
    if (kind != "NONE") {
      return NotComputed(c.node(), fmt::format("attribute '{}' is '{:.64}', which is not computed "
                                               "here; wanted 'NONE'",
                                               name, kind));
    }
  }
  return {};
}

// The products go out where the attribute says which; nobody has to take them.
Status CheckGqaProducts(InferContext& c) {
  const int64_t kind = AttrInt(c.node(), "qk_output");
  if (kind < 0 || kind > 2) {
    return Bad(c.node(), fmt::format("attribute 'qk_output' is {}, wanted 0 (none), 1 (before the "
                                     "softmax) or 2 (after it)",
                                     kind));
  }
  const bool wanted = c.output_count() > 3 && c.has_output(3);
  if (!wanted || kind != 0) return {};
  return Bad(c.node(), "attribute 'qk_output' is 0 and output 'output_qk' is there, wanted 1 or 2");
}

Status CheckGqaAttrs(const Node& n) {
  GE_RETURN_IF_ERROR(CheckGroupedAttrs(n));
  const int64_t window = AttrInt(n, "local_window_size");
  if (window != -1 && window < 1) {
    return Bad(n, fmt::format("attribute 'local_window_size' is {}, wanted -1 (none) or at least "
                              "1",
                              window));
  }
  GE_RETURN_IF_ERROR(WantFlag(n, "causal"));
  if (AttrInt(n, "causal") == 0 && window != -1) {
    return Bad(n, fmt::format("attribute 'local_window_size' is {} where 'causal' is 0, wanted -1 "
                              "(none)",
                              window));
  }
  const int64_t smooth = AttrInt(n, "smooth_softmax");
  if (smooth < -1 || smooth > 1) {
    return Bad(n,
               fmt::format("attribute 'smooth_softmax' is {}, wanted 0, 1, or -1 for 0", smooth));
  }
  return WantNotNegative(n, "softcap");
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

// One length a sample, as [B] or with an axis of 1.
Status CheckGqaLengths(InferContext& c, Dim batch) {
  const Type& t = c.input_type(5);
  if (!t.ranked || t.rank() != 2) return WantShape(c, 5, "seqlens_k", {{batch}});
  const auto may_be = [](Dim a, Dim b) { return !a.known() || !b.known() || a == b; };
  const Dim one = KnownDim(1), first = t.dims[0], second = t.dims[1];
  const bool fits = (may_be(first, batch) && may_be(second, one)) ||
                    (may_be(first, one) && may_be(second, batch));
  if (fits) return {};
  const std::string samples = c.dims().ToString(batch);
  return Bad(c.node(), fmt::format("input 'seqlens_k' has shape {}, wanted [{}], [{},1] or [1,{}]",
                                   Show(c.dims(), t.dims), samples, samples, samples));
}

// Of the keys that `total_sequence_length` counts: known where that is, or where the bias says it.
Dim GqaKeys(InferContext& c) {
  const auto total = Content(c, 6);
  if (total && total->size() == 1) return total->front();
  const bool biased = HasInput(c, 10) && c.input_type(10).ranked && c.input_type(10).rank() == 4;
  return biased ? c.input_type(10).dims[3] : c.FreshDim("keys", true);
}

Status CheckGqaOptions(InferContext& c, Dim batch, Dim steps, Dim keys) {
  const int64_t heads = AttrInt(c.node(), "num_heads", 1);
  if (HasInput(c, 9)) {
    GE_RETURN_IF_ERROR(WantRankOf(c, 9, "position_ids", 2, 2));
    const Type& t = c.input_type(9);
    const auto differ = [](Dim a, Dim b) { return a.known() && b.known() && a.value != b.value; };
    const bool fits =
        !t.ranked || (!differ(t.dims[0], batch) &&
                      !(t.dims[1].known() && steps.known() && t.dims[1].value < steps.value));
    if (!fits) {
      const Dim wanted[] = {batch, steps};
      return Bad(c.node(),
                 fmt::format("input 'position_ids' has shape {}, wanted {}, or more in its "
                             "second axis",
                             Show(c.dims(), t.dims), Show(c.dims(), wanted)));
    }
  }
  GE_RETURN_IF_ERROR(CheckAttentionBias(c, 10, batch, heads, steps, keys));
  return WantVector(c, 11, "head_sink", KnownDim(heads));
}

// The epsilon of its own, or that of both.
double GqaNormEpsilon(const Node& n, const char* own) {
  return HasAttr(n, own) ? AttrFloat(n, own) : AttrFloat(n, "qk_norm_epsilon");
}

// Queries and keys are normalized head by head, both or neither.
Status CheckGqaNorms(InferContext& c, Dim size) {
  const Node& n = c.node();
  if (HasInput(c, 14) != HasInput(c, 15)) {
    return Bad(n, fmt::format("input '{}' is absent, wanted both 'q_norm_weight' and "
                              "'k_norm_weight' or neither",
                              HasInput(c, 14) ? "k_norm_weight" : "q_norm_weight"));
  }
  for (const char* name : {"qk_norm_epsilon", "q_norm_epsilon", "k_norm_epsilon"}) {
    const double value = HasAttr(n, name) ? AttrFloat(n, name) : 1;
    if (std::isfinite(value) && value > 0) continue;
    return Bad(n, fmt::format("attribute '{}' is {}, wanted above 0 and finite", name, value));
  }
  GE_RETURN_IF_ERROR(WantVector(c, 14, "q_norm_weight", size));
  return WantVector(c, 15, "k_norm_weight", size);
}

Status InferGqa(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckGqaAttrs(c.node()));
  GE_RETURN_IF_ERROR(RefuseGqaExtras(c));
  GE_RETURN_IF_ERROR(CheckGqaProducts(c));
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
  GE_ASSIGN_OR_RETURN(const Dim size, GroupedHeadSize(c));
  GE_RETURN_IF_ERROR(CheckRotaryCaches(c, size, 7));
  GE_RETURN_IF_ERROR(CheckGqaNorms(c, size));
  GE_RETURN_IF_ERROR(CheckGqaLengths(c, batch));
  const bool products = c.output_count() > 3 && c.has_output(3);
  const Dim keys = products || HasInput(c, 10) ? GqaKeys(c) : KnownDim(0);
  GE_RETURN_IF_ERROR(CheckGqaOptions(c, batch, steps, keys));
  GE_ASSIGN_OR_RETURN(const Dim rows, GqaCacheRows(c, batch, size));
  const Dim heads = KnownDim(AttrInt(c.node(), "num_heads", 1));
  const Dim kv = KnownDim(AttrInt(c.node(), "kv_num_heads", 1));
  GE_ASSIGN_OR_RETURN(const Dim hidden, Checked(c.node(), c.dims().Mul(heads, size),
                                                "the hidden size of the output"));
  GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, {batch, steps, hidden}));
  for (size_t o = 1; o < c.output_count() && o < 3; ++o) {
    if (c.has_output(o)) GE_RETURN_IF_ERROR(SetTensor(c, o, dtype, {batch, kv, rows, size}));
  }
  return products ? SetTensor(c, 3, dtype, {batch, heads, steps, keys}) : Status();
}

// position_ids; of a first prompt, whose steps are all keys, its first number alone counts, for
// every sample.
ValueId GqaGivenPlaces(Steps* s, const Grouped& g) {
  const ValueId begin = s->Reshape(s->Slice(s->Slice(s->In(9), 0, 0, 1), 1, 0, 1), {1, 1});
  const ValueId own = s->Cast(s->Counting({1, g.steps}, 0, g.steps), DType::kInt64);
  const ValueId first =
      s->Pair("Equal", s->Reshape(s->In(6), {1, 1}), s->Int32s({}, {g.steps}), DType::kBool);
  return s->Choose(first, s->Pair("Add", own, begin), s->Slice(s->In(9), 1, 0, g.steps));
}

// Which keys a query sees: those up to its own, and of these the last ones of the window; all where
// it is not causal.
ValueId GqaSeen(Steps* s, const Node& node, const Grouped& g) {
  const ValueId key = s->Counting({1, 1, 1, g.rows}, 0, g.rows);
  if (AttrInt(node, "causal") == 0) {
    return s->Pair("Less", key, s->Reshape(g.length, {g.batch, 1, 1, 1}), DType::kBool);
  }
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

// The bias, with 0 for rows of the cache that no key fills.
ValueId GqaBias(Steps* s, const Grouped& g) {
  const ValueId bias = s->Cast(s->In(10), g.step);
  Steps::Shape shape = s->ShapeOf(bias);
  const int64_t more = g.rows - shape[3];
  if (more <= 0) return bias;
  shape[3] = g.rows;
  return s->Node1("Pad", {bias, s->Ints({0, 0, 0, 0, 0, 0, 0, more})}, g.step, shape);
}

// A softmax whose sum has a term more, which takes its share and gives no value: e to the power of
// the head's sink, or of 0.
ValueId GqaShares(Steps* s, const Node& node, const Grouped& g, ValueId scores) {
  const bool smooth = AttrInt(node, "smooth_softmax") == 1;
  if (!s->Has(11) && !smooth) return s->Map("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const ValueId sink = s->Has(11) ? s->Reshape(s->Cast(s->In(11), g.step), {1, g.heads, 1, 1})
                                  : s->Scalar(g.step, 0);
  const Steps::Shape column = {g.batch, g.heads, g.steps, 1};
  const ValueId wide = s->Node1("Expand", {sink, s->Ints(column)}, g.step, column);
  const ValueId shares = s->Map("Softmax", {s->Concat({scores, wide}, 3)}, {{"axis", int64_t{-1}}});
  return s->Slice(shares, 3, 0, g.rows);
}

// Each head over its root mean square, times the weight.
ValueId GqaNormalized(Steps* s, ValueId heads, size_t weight, double epsilon) {
  return s->Map("RMSNormalization", {heads, s->Cast(s->In(weight), s->DTypeOf(heads))},
                {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(epsilon)}});
}

// What is made of queries, keys and values.
struct GqaResult {
  ValueId output = 0, products = 0;  // products: where they are wanted, of all rows of the cache
};

GqaResult GqaAttended(Steps* s, const Node& node, const Grouped& g, const GroupedHeads& h) {
  const int64_t kind = AttrInt(node, "qk_output");
  ValueId scores = GroupedScores(s, node, g, h.q, h.k);
  const double cap = AttrFloat(node, "softcap");
  if (cap > 0) scores = s->Times(s->Map("Tanh", {s->Times(scores, 1 / cap)}), cap);
  if (s->Has(10)) scores = s->Pair("Add", scores, GqaBias(s, g));
  const ValueId seen = GqaSeen(s, node, g);
  GqaResult result;
  if (kind == 1) result.products = s->Choose(seen, scores, s->Scalar(g.step, 0));
  scores = s->Choose(seen, scores, s->Scalar(g.step, kUnseenScore));
  const ValueId shares = GqaShares(s, node, g, scores);
  if (kind == 2) result.products = shares;
  result.output = GroupedValues(s, g, shares, h.v);
  return result;
}

// The rows of the caches are known from those that go out, or nobody wants them.
int64_t GqaRows(const Steps& s, const Grouped& g) {
  for (size_t o = 1; o < 3; ++o) {
    if (s.Wants(o)) return s.OutShape(o)[2];
  }
  return s.Wants(3) ? std::max(g.past, s.OutShape(3)[3]) : g.past + g.steps;
}

std::vector<ValueId> DecomposeGqa(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const Steps::Shape x = s.ShapeOf(s.In(0));
  Grouped g{x[0], x[1], AttrInt(node, "num_heads", 1), AttrInt(node, "kv_num_heads", 1)};
  g.size = s.OutShape(0)[2] / g.heads;
  g.past = s.Has(3) ? s.Size(s.In(3), 2) : 0;
  g.rows = GqaRows(s, g);
  if (g.size == 0 || g.steps == 0 || g.batch == 0 || g.rows < g.steps) return {};
  g.step = StepDType(s.DTypeOf(s.In(0)));
  const ValueId last = s.Reshape(s.In(5), {g.batch});
  g.length = s.Pair("Add", last, s.Int32s({}, {1}));
  const ValueId older = s.Pair("Add", last, s.Int32s({}, {1 - g.steps}));
  g.older = s.Node1("Max", {older, s.Int32s({1}, {0})}, DType::kInt32, {g.batch});
  GroupedHeads h = AddGroupedHeads(&s, g);
  if (s.Has(14)) {
    h.q = GqaNormalized(&s, h.q, 14, GqaNormEpsilon(node, "q_norm_epsilon"));
    h.k = GqaNormalized(&s, h.k, 15, GqaNormEpsilon(node, "k_norm_epsilon"));
  }
  if (AttrInt(node, "do_rotary") != 0) {
    const ValueId places = s.Has(9) ? GqaGivenPlaces(&s, g) : GroupedPlaces(&s, g);
    h.q = GroupedTurned(&s, node, g, h.q, places, 7);
    h.k = GroupedTurned(&s, node, g, h.k, places, 7);
  }
  h.k = GroupedCache(&s, g, s.In(3), h.k);
  h.v = GroupedCache(&s, g, s.In(4), h.v);
  std::vector<ValueId> out = s.NoOutputs();
  const DType wanted = s.OutDType(0);
  const GqaResult result = GqaAttended(&s, node, g, h);
  out[0] = s.Cast(result.output, wanted);
  if (s.Wants(1)) out[1] = s.Cast(h.k, wanted);
  if (s.Wants(2)) out[2] = s.Cast(h.v, wanted);
  if (s.Wants(3)) out[3] = s.Cast(s.Slice(result.products, 3, 0, s.OutShape(3)[3]), wanted);
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
               {"k_norm_weight", kReal, "T", opt},
               {"query_seqlens", kWhole, "M", opt}};
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
              {"q_norm_epsilon", kReals},
              {"k_norm_epsilon", kReals},
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

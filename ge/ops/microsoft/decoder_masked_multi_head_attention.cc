#include "ge/ops/known_ints.h"
#include "ge/ops/microsoft/attention.h"

namespace ge {
namespace {

// exp of it is 0 beside any score that a mask leaves.
constexpr double kDmmhaBehind = -1e30;

// B samples, N heads of h, M rows of the caches, T keys of which the last is this step's. Without
// caches key and value are those of another sequence, [B,N,L,h].
struct DmmhaDims {
  Dim batch, size, rows, keys;
  int64_t heads = 0;
};

bool IsCrossDmmha(const InferContext& c) { return !HasInput(c, 5) && !HasInput(c, 6); }

Status CheckDmmhaAttrs(InferContext& c) {
  const Node& n = c.node();
  const int64_t heads = AttrInt(n, "num_heads");
  if (heads < 1) {
    return Bad(n, fmt::format("attribute 'num_heads' is {}, wanted at least 1", heads));
  }
  for (const char* flag : {"output_qk", "past_present_share_buffer"}) {
    GE_RETURN_IF_ERROR(WantFlag(n, flag));
  }
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "scale"));
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "mask_filter_value"));
  if (HasInput(c, 5) != HasInput(c, 6)) {
    return Bad(n, fmt::format("input '{}' is absent, wanted both 'past_key' and 'past_value' or "
                              "neither",
                              HasInput(c, 5) ? "past_value" : "past_key"));
  }
  const int64_t shared = AttrInt(n, "past_present_share_buffer"), wanted = IsCrossDmmha(c) ? 0 : 1;
  if (shared != wanted) {
    return Bad(n, fmt::format("attribute 'past_present_share_buffer' is {} {} input 'past_key', "
                              "wanted {}",
                              shared, wanted == 1 ? "with" : "without", wanted));
  }
  const bool products = c.output_count() > 3 && c.has_output(3);
  if (products && AttrInt(n, "output_qk") == 0) {
    return Bad(n, "output 'qk' is wanted where attribute 'output_qk' is 0, wanted 1");
  }
  return {};
}

// What decoding over caches needs, and what it may not have without them.
Status CheckDmmhaCaches(InferContext& c, const DmmhaDims& d) {
  const Node& n = c.node();
  if (!IsCrossDmmha(c)) {
    if (!HasInput(c, 7)) {
      return Bad(n, "input 'past_sequence_length' is absent beside 'past_key', wanted it");
    }
    const Dim cache[] = {d.batch, KnownDim(d.heads), d.rows, d.size};
    GE_RETURN_IF_ERROR(WantShape(c, 5, "past_key", cache));
    GE_RETURN_IF_ERROR(WantShape(c, 6, "past_value", cache));
    if (HasInput(c, 1) != HasInput(c, 2)) {
      return Bad(n,
                 "only one of 'key' and 'value' is given, wanted both or, packed into query, "
                 "neither");
    }
    return {};
  }
  if (!HasInput(c, 1) || !HasInput(c, 2)) {
    return Bad(n, "inputs 'key' and 'value' are absent beside no 'past_key', wanted both");
  }
  if (HasInput(c, 4)) {
    return Bad(n, "input 'attention_bias' is given without 'past_key', wanted the node without it");
  }
  for (size_t o = 1; o < c.output_count() && o < 3; ++o) {
    if (c.has_output(o)) {
      return Bad(n, fmt::format("output '{}' is wanted without input 'past_key', wanted that input",
                                o == 1 ? "present_key" : "present_value"));
    }
  }
  return {};
}

// Which sample of its beams a row of the cache is of: [B / beams, beams, M].
Status CheckDmmhaBeams(InferContext& c, const DmmhaDims& d) {
  const Node& n = c.node();
  const auto beams = Content(c, 8);
  const Dim width = beams && beams->size() == 1 ? beams->front() : Dim();
  const bool known = beams && beams->size() == 1 && width.known();
  if (!HasInput(c, 9)) {
    if (!known || width.value == 1) return {};
    return Bad(n,
               fmt::format("input 'beam_width' is {} without 'cache_indirection', wanted both, or "
                           "1",
                           width.value));
  }
  if (IsCrossDmmha(c)) {
    return Bad(n, "input 'cache_indirection' is given without 'past_key', wanted both");
  }
  GE_RETURN_IF_ERROR(WantRankOf(c, 9, "cache_indirection", 3, 3));
  const Type& t = c.input_type(9);
  if (!t.ranked) return {};
  const bool fits = !known || !t.dims[1].known() || t.dims[1].value == width.value;
  if (!fits) {
    return Bad(n,
               fmt::format("input 'cache_indirection' has shape {}, wanted {} in its second axis, "
                           "as 'beam_width' says",
                           Show(c.dims(), t.dims), width.value));
  }
  GE_ASSIGN_OR_RETURN(const Dim all,
                      Checked(n, c.dims().Mul(t.dims[0], t.dims[1]), "the number of beams"));
  GE_RETURN_IF_ERROR(
      SameDim(c, all, d.batch, "samples of 'cache_indirection' and 'query'").status());
  // ONNX Runtime reads the bias of another sample here.
  const Type* bias = HasInput(c, 4) ? &c.input_type(4) : nullptr;
  const bool each = bias != nullptr && bias->ranked && bias->rank() == 4 && bias->dims[0].known() &&
                    bias->dims[0].value != 1;
  if (!each) return WantShape(c, 9, "cache_indirection", {{t.dims[0], t.dims[1], d.rows}});
  return NotComputed(n,
                     fmt::format("input 'attention_bias' has shape {} beside 'cache_indirection', "
                                 "which is not computed here; wanted 1 in its first axis",
                                 Show(c.dims(), bias->dims)));
}

// T, where the length of the past is known or an input has a number for each key.
Dim DmmhaKeys(InferContext& c, bool cross) {
  if (cross) {
    const Type* k = HasInput(c, 1) ? &c.input_type(1) : nullptr;
    return k != nullptr && k->ranked && k->rank() == 4 ? k->dims[2] : c.FreshDim("keys", false);
  }
  const auto past = Content(c, 7);
  if (past && past->size() == 1) {
    const auto all = c.dims().Add(past->front(), KnownDim(1));
    if (all) return *all;
  }
  const Type *mask = HasInput(c, 3) ? &c.input_type(3) : nullptr,
             *bias = HasInput(c, 4) ? &c.input_type(4) : nullptr;
  if (mask != nullptr && mask->ranked && mask->rank() == 2) return mask->dims[1];
  if (bias != nullptr && bias->ranked && bias->rank() == 4) return bias->dims[3];
  return c.FreshDim("keys", true);
}

Result<DmmhaDims> ReadDmmhaDims(InferContext& c) {
  const Node& n = c.node();
  const bool cross = IsCrossDmmha(c), packed = !cross && !HasInput(c, 1);
  const Type& q = c.input_type(0);
  DmmhaDims d;
  d.batch = q.dims[0];
  d.heads = AttrInt(n, "num_heads", 1);
  GE_ASSIGN_OR_RETURN(d.size, HeadSize(c, q.dims[2], packed ? 3 * d.heads : d.heads,
                                       packed ? "the packed 'query'" : "'query'"));
  const Type* past = cross ? nullptr : &c.input_type(5);
  d.keys = DmmhaKeys(c, cross);
  d.rows = past == nullptr                     ? d.keys
           : past->ranked && past->rank() == 4 ? past->dims[2]
                                               : c.FreshDim("cache", false);
  if (packed) return d;
  const Dim one[] = {d.batch, KnownDim(1), q.dims[2]};
  const Dim other[] = {d.batch, KnownDim(d.heads), d.keys, d.size};
  for (size_t i : {size_t{1}, size_t{2}}) {
    if (!HasInput(c, i)) continue;
    const char* name = i == 1 ? "key" : "value";
    if (cross) {
      GE_RETURN_IF_ERROR(WantShape(c, i, name, other));
    } else {
      GE_RETURN_IF_ERROR(WantShape(c, i, name, one));
    }
  }
  return d;
}

Status InferDmmha(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckDmmhaAttrs(c));
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "query", 3, 3));
  const Type& q = c.input_type(0);
  const DType dtype = q.dtype;
  if (!q.ranked) {
    for (size_t o = 0; o < c.output_count(); ++o) {
      if (c.has_output(o)) c.SetOutput(o, UnrankedTensor(dtype));
    }
    return {};
  }
  if (q.dims[1].known() && q.dims[1].value != 1) {
    return Bad(c.node(), fmt::format("input 'query' has shape {}, wanted 1 step in its second axis",
                                     Show(c.dims(), q.dims)));
  }
  for (const auto& [i, name] :
       {std::pair{size_t{7}, "past_sequence_length"}, std::pair{size_t{8}, "beam_width"}}) {
    GE_RETURN_IF_ERROR(WantOne(c, i, name));
  }
  GE_ASSIGN_OR_RETURN(const DmmhaDims d, ReadDmmhaDims(c));
  GE_RETURN_IF_ERROR(CheckDmmhaCaches(c, d));
  GE_RETURN_IF_ERROR(CheckDmmhaBeams(c, d));
  const Dim heads = KnownDim(d.heads), one = KnownDim(1);
  if (HasInput(c, 3)) GE_RETURN_IF_ERROR(WantShape(c, 3, "mask_index", {{d.batch, d.keys}}));
  GE_RETURN_IF_ERROR(CheckAttentionBias(c, 4, d.batch, d.heads, one, d.keys));
  GE_ASSIGN_OR_RETURN(const Dim hidden,
                      Checked(c.node(), c.dims().Mul(heads, d.size), "the hidden size"));
  GE_ASSIGN_OR_RETURN(const Dim all,
                      Checked(c.node(), c.dims().Mul(hidden, KnownDim(3)), "the size of 'bias'"));
  GE_RETURN_IF_ERROR(WantVector(c, 10, "bias", all));
  const std::vector<Dim> dims[] = {{d.batch, one, hidden},
                                   {d.batch, heads, d.rows, d.size},
                                   {d.batch, heads, d.rows, d.size},
                                   {d.batch, heads, one, d.keys}};
  for (size_t o = 0; o < c.output_count(); ++o) {
    if (c.has_output(o)) GE_RETURN_IF_ERROR(SetTensor(c, o, dtype, dims[o]));
  }
  return {};
}

// ---- steps -------------------------------------------------------------------------------------

struct Dmmha {
  int64_t batch = 0, heads = 0, size = 0, rows = 0, keys = 0;
  ValueId past = 0;  // how many rows of the caches are keys before this step, i32[1,1,1,1]
  DType step = DType::kFloat;
};

// Part 0, 1 or 2 of query, key and value plus its part of the bias: [B,N,1,h].
ValueId DmmhaHead(Steps* s, const Dmmha& d, int64_t part) {
  const int64_t hidden = d.heads * d.size;
  const bool packed = !s->Has(1);
  ValueId v = s->Cast(s->In(packed ? 0 : static_cast<size_t>(part)), d.step);
  if (packed) v = s->Slice(v, 2, part * hidden, (part + 1) * hidden);
  if (s->Has(10)) {
    const ValueId bias =
        s->Slice(s->Cast(s->In(10), d.step), 0, part * hidden, (part + 1) * hidden);
    v = s->Pair("Add", v, bias);
  }
  return s->Reshape(v, {d.batch, d.heads, 1, d.size});
}

// The cache of input i with this step's row where the past ends.
ValueId DmmhaCache(Steps* s, const Dmmha& d, size_t i, ValueId now) {
  const ValueId row = s->Counting({1, 1, d.rows, 1}, 0, d.rows);
  const ValueId mine = s->Pair("Equal", row, d.past, DType::kBool);
  return s->Choose(mine, now, s->Cast(s->In(i), d.step));
}

// Rows before this step are of the beams that the indirection names.
ValueId DmmhaOfBeams(Steps* s, const Dmmha& d, ValueId cache) {
  if (!s->Has(9)) return cache;
  const int64_t beams = s->Size(s->In(9), 1);
  Steps::Shape own, first;
  for (int64_t b = 0; b < d.batch; ++b) {
    own.push_back(b % beams);
    first.push_back(b / beams * beams);
  }
  const ValueId older = s->Pair("Less", s->Counting({1, d.rows}, 0, d.rows),
                                s->Reshape(d.past, {1, 1}), DType::kBool);
  const ValueId beam =
      s->Choose(older, s->Reshape(s->In(9), {d.batch, d.rows}), s->Int32s({d.batch, 1}, own));
  const ValueId from = s->Pair("Add", beam, s->Int32s({d.batch, 1}, first));
  const Steps::Shape whole = {d.batch, d.heads, d.rows, d.size};
  const ValueId index = s->Node1(
      "Expand", {s->Reshape(from, {d.batch, 1, d.rows, 1}), s->Ints(whole)}, DType::kInt32, whole);
  return s->Node1("GatherElements", {cache, index}, d.step, whole, {{"axis", int64_t{0}}});
}

// A term of the scores that has T columns, with 0 for the rows behind them.
ValueId DmmhaWide(Steps* s, const Dmmha& d, ValueId term) {
  Steps::Shape shape = s->ShapeOf(term);
  const int64_t more = d.rows - shape[3];
  if (more <= 0) return term;
  shape[3] = d.rows;
  return s->Node1("Pad", {term, s->Ints({0, 0, 0, 0, 0, 0, 0, more})}, d.step, shape);
}

// Q * K^T * scale + terms, [B,N,1,rows].
ValueId DmmhaScores(Steps* s, const Node& node, const Dmmha& d, ValueId q, ValueId k) {
  double scale = AttrFloat(node, "scale");
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(d.size));
  ValueId scores = s->Times(s->MatMul(q, s->SwapLast(k)), scale);
  if (s->Has(3)) {
    const int64_t keys = s->Size(s->In(3), 1);
    const double fill = AttrFloat(node, "mask_filter_value");
    const ValueId term = AddMaskTerm(s, s->In(3), d.batch, 1, keys, d.step, fill);
    scores = s->Pair("Add", scores, DmmhaWide(s, d, term));
  }
  if (!s->Has(4)) return scores;
  return s->Pair("Add", scores, DmmhaWide(s, d, s->Cast(s->In(4), d.step)));
}

std::vector<ValueId> DecomposeDmmha(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const bool cross = !s.Has(5);
  Dmmha d{s.ShapeOf(s.In(0))[0], AttrInt(node, "num_heads", 1)};
  d.size = s.OutShape(0)[2] / d.heads;
  d.rows = s.Size(s.In(cross ? 1 : 5), 2);
  if (d.batch == 0 || d.size == 0 || d.rows == 0) return {};
  d.step = StepDType(s.DTypeOf(s.In(0)));
  const ValueId q = DmmhaHead(&s, d, 0);
  ValueId k = 0, v = 0, present_k = 0, present_v = 0;
  if (cross) {
    k = s.Cast(s.In(1), d.step);
    v = s.Cast(s.In(2), d.step);
  } else {
    d.past = s.Reshape(s.In(7), {1, 1, 1, 1});
    present_k = DmmhaCache(&s, d, 5, DmmhaHead(&s, d, 1));
    present_v = DmmhaCache(&s, d, 6, DmmhaHead(&s, d, 2));
    k = DmmhaOfBeams(&s, d, present_k);
    v = DmmhaOfBeams(&s, d, present_v);
  }
  ValueId scores = DmmhaScores(&s, node, d, q, k);
  const ValueId products = scores;
  if (!cross) {
    const ValueId row = s.Counting({1, 1, 1, d.rows}, 0, d.rows);
    scores = s.Choose(s.Pair("LessOrEqual", row, d.past, DType::kBool), scores,
                      s.Scalar(d.step, kDmmhaBehind));
  }
  const ValueId shares = s.Map("Softmax", {scores}, {{"axis", int64_t{-1}}});
  std::vector<ValueId> out = s.NoOutputs();
  const DType wanted = s.OutDType(0);
  out[0] = s.Cast(AddMerged(&s, s.MatMul(shares, v)), wanted);
  if (s.Wants(1)) out[1] = s.Cast(present_k, wanted);
  if (s.Wants(2)) out[2] = s.Cast(present_v, wanted);
  if (s.Wants(3)) out[3] = s.Cast(s.Slice(products, 3, 0, s.OutShape(3)[3]), wanted);
  return out;
}

OpDef DmmhaRecord() {
  OpDef op = MicrosoftRecord("DecoderMaskedMultiHeadAttention", InferDmmha, DecomposeDmmha);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kReal = Bit(DType::kFloat) | Bit(DType::kFloat16), kWhole = Bit(DType::kInt32);
  op.inputs = {{"query", kReal, "T"},
               {"key", kReal, "T", opt},
               {"value", kReal, "T", opt},
               {"mask_index", kWhole, "M", opt},
               {"attention_bias", kReal, "T", opt},
               {"past_key", kReal, "T", opt},
               {"past_value", kReal, "T", opt},
               {"past_sequence_length", kWhole, "M", opt},
               {"beam_width", kWhole, "M", opt},
               {"cache_indirection", kWhole, "M", opt},
               {"bias", kReal, "T", opt}};
  op.outputs = {{"output", kReal, "T"},
                {"present_key", kReal, "T", opt},
                {"present_value", kReal, "T", opt},
                {"qk", kReal, "T", opt}};
  const AttrKind kInt = AttrKind::kInt, kFloat = AttrKind::kFloat;
  op.attrs = {{"num_heads", kInt, true},
              {"output_qk", kInt, 0},
              {"mask_filter_value", kFloat, -10000.0f},
              {"scale", kFloat, 0.0f},
              {"past_present_share_buffer", kInt, 0}};
  return op;
}

}  // namespace

// Attention of one step: over caches that it extends, row by row of the beam that the row is of, or
// to keys and values of another sequence.
GE_OP(microsoft_decoder_masked_multi_head_attention) = DmmhaRecord();

}  // namespace ge

#include "ge/ops/microsoft/attention.h"

namespace ge {
namespace {

// query is [B,S,N*h] or packed with key and value, [B,S,N,3,h]. key is [B,L,N*h], packed with
// value, [B,L,N,2,h], or heads already, [B,N,L,h].
struct MhaSizes {
  Dim batch, steps, keys, size, v_size, past = KnownDim(0);
};

Status CheckMhaRanks(InferContext& c) {
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "query", 3, 5));
  const Type& query = c.input_type(0);
  const bool packed = query.ranked ? query.rank() == 5 : !HasInput(c, 1);
  if (HasInput(c, 1) == packed) {
    return Bad(c.node(), packed ? "input 'key' is given beside a query of rank 5, which holds it "
                                  "already; leave it out"
                                : "input 'key' is absent, wanted one beside a query of rank 3");
  }
  if (packed)
    return HasInput(c, 2) ? Bad(c.node(),
                                "input 'value' is given beside a query of rank "
                                "5, which holds it already; leave it out")
                          : Status();
  const Type& key = c.input_type(1);
  if (!key.ranked) return {};
  if (key.rank() < 3 || key.rank() > 5) {
    return Bad(c.node(), fmt::format("input 'key' has shape {}, wanted rank 3, 4 or 5",
                                     Show(c.dims(), key.dims)));
  }
  if (HasInput(c, 2) == (key.rank() == 5)) {
    return Bad(c.node(),
               fmt::format("input 'value' is {} beside a key of shape {}, wanted the "
                           "opposite: a key of rank 5 holds it",
                           HasInput(c, 2) ? "given" : "absent", Show(c.dims(), key.dims)));
  }
  return HasInput(c, 2) ? WantRankOf(c, 2, "value", key.rank(), key.rank()) : Status();
}

Status ReadMhaPacked(InferContext& c, size_t i, const char* name, int64_t parts, MhaSizes* s) {
  const Type& t = c.input_type(i);
  const Dim heads = KnownDim(AttrInt(c.node(), "num_heads", 1));
  const Dim wanted[] = {t.dims[0], t.dims[1], heads, KnownDim(parts), t.dims[4]};
  GE_RETURN_IF_ERROR(WantShape(c, i, name, wanted));
  s->keys = t.dims[1];
  s->size = s->v_size = t.dims[4];
  return {};
}

// All of query, key and value are ranked.
Result<MhaSizes> ReadMha(InferContext& c) {
  const int64_t heads = AttrInt(c.node(), "num_heads", 1);
  const Type& q = c.input_type(0);
  MhaSizes s;
  s.batch = q.dims[0];
  s.steps = q.dims[1];
  if (q.rank() == 5) {
    GE_RETURN_IF_ERROR(ReadMhaPacked(c, 0, "query", 3, &s));
    return s;
  }
  GE_ASSIGN_OR_RETURN(const Dim size, HeadSize(c, q.dims[2], heads, "'query'"));
  const Type& k = c.input_type(1);
  if (k.rank() == 5) {
    GE_RETURN_IF_ERROR(ReadMhaPacked(c, 1, "key", 2, &s));
  } else {
    const Type& v = c.input_type(2);
    const bool split = k.rank() == 4;
    s.keys = k.dims[split ? 2 : 1];
    if (split) {
      s.size = k.dims[3];
      s.v_size = v.dims[3];
    } else {
      GE_ASSIGN_OR_RETURN(s.size, HeadSize(c, k.dims[2], heads, "'key'"));
      GE_ASSIGN_OR_RETURN(s.v_size, HeadSize(c, v.dims[2], heads, "'value'"));
    }
    GE_ASSIGN_OR_RETURN(s.keys,
                        SameDim(c, s.keys, v.dims[split ? 2 : 1], "lengths of 'key' and 'value'"));
    GE_ASSIGN_OR_RETURN(s.batch, SameDim(c, s.batch, v.dims[0], "batches of 'query' and 'value'"));
  }
  GE_ASSIGN_OR_RETURN(s.batch, SameDim(c, s.batch, k.dims[0], "batches of 'query' and 'key'"));
  GE_ASSIGN_OR_RETURN(s.size, SameDim(c, s.size, size, "sizes of heads of 'query' and 'key'"));
  return s;
}

// Reads the past's length too.
Status CheckMhaPast(InferContext& c, MhaSizes* s) {
  if (HasInput(c, 6) != HasInput(c, 7)) {
    return Bad(c.node(), fmt::format("input '{}' is absent, wanted both 'past_key' and "
                                     "'past_value' or neither",
                                     HasInput(c, 6) ? "past_value" : "past_key"));
  }
  if (!HasInput(c, 6)) return {};
  if (HasInput(c, 1) && c.input_type(1).rank() == 4) {
    return Bad(c.node(),
               "input 'past_key' is given beside a key of rank 4, wanted one of them: "
               "such a key is the whole cache");
  }
  const Type& past = c.input_type(6);
  s->past = past.ranked && past.rank() == 4 ? past.dims[2] : c.FreshDim("past", false);
  const Dim heads = KnownDim(AttrInt(c.node(), "num_heads", 1));
  GE_RETURN_IF_ERROR(WantShape(c, 6, "past_key", {{s->batch, heads, s->past, s->size}}));
  return WantShape(c, 7, "past_value", {{s->batch, heads, s->past, s->v_size}});
}

Status CheckMhaRest(InferContext& c, const MhaSizes& s, Dim total) {
  const int64_t heads = AttrInt(c.node(), "num_heads", 1);
  if (HasInput(c, 3)) {
    const bool packed = c.input_type(0).rank() == 5 || c.input_type(1).rank() == 5;
    if (packed) return RefuseInput(c, 3, "bias");
    auto all = c.dims().Add(s.size, s.size);
    if (all) all = c.dims().Add(*all, s.v_size);
    if (all) all = c.dims().Mul(*all, KnownDim(heads));
    GE_ASSIGN_OR_RETURN(const Dim size, Checked(c.node(), all, "the size of 'bias'"));
    GE_RETURN_IF_ERROR(WantVector(c, 3, "bias", size));
  }
  if (HasInput(c, 4)) {
    GE_RETURN_IF_ERROR(CheckMaskIndex(c, 4, "key_padding_mask", s.batch, s.steps, total));
    if (c.input_type(4).ranked && c.input_type(4).rank() == 4) {
      return Bad(c.node(), "input 'key_padding_mask' has rank 4, wanted rank 1, 2 or 3");
    }
  }
  return CheckAttentionBias(c, 5, s.batch, heads, s.steps, total);
}

Status InferMha(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckAttentionMsAttrs(c.node()));
  GE_RETURN_IF_ERROR(RefuseInput(c, 8, "past_sequence_length"));
  GE_RETURN_IF_ERROR(RefuseInput(c, 9, "cache_indirection"));
  const DType dtype = c.input_type(0).dtype;
  bool ranked = true;
  for (size_t i = 0; i < 3; ++i) ranked = ranked && (!HasInput(c, i) || c.input_type(i).ranked);
  GE_RETURN_IF_ERROR(CheckMhaRanks(c));
  if (!ranked) {
    for (size_t o = 0; o < c.output_count(); ++o) {
      if (c.has_output(o)) c.SetOutput(o, UnrankedTensor(dtype));
    }
    return {};
  }
  GE_ASSIGN_OR_RETURN(MhaSizes s, ReadMha(c));
  GE_RETURN_IF_ERROR(CheckMhaPast(c, &s));
  const Dim heads = KnownDim(AttrInt(c.node(), "num_heads", 1));
  GE_ASSIGN_OR_RETURN(const Dim total,
                      Checked(c.node(), c.dims().Add(s.past, s.keys), "the length with the past"));
  GE_RETURN_IF_ERROR(CheckMhaRest(c, s, total));
  GE_ASSIGN_OR_RETURN(const Dim hidden, Checked(c.node(), c.dims().Mul(heads, s.v_size),
                                                "the hidden size of the output"));
  const std::vector<Dim> dims[] = {{s.batch, s.steps, hidden},
                                   {s.batch, heads, total, s.size},
                                   {s.batch, heads, total, s.v_size},
                                   {s.batch, heads, s.steps, total}};
  for (size_t o = 0; o < c.output_count(); ++o) {
    if (c.has_output(o)) GE_RETURN_IF_ERROR(SetTensor(c, o, dtype, dims[o]));
  }
  return {};
}

// Part `i` of a packed tensor [B,L,N,parts,h], as [B,N,L,h].
ValueId MhaUnpacked(Steps* s, ValueId packed, int64_t i) {
  const Steps::Shape x = s->ShapeOf(packed);
  const ValueId one = s->Reshape(s->Slice(packed, 3, i, i + 1), {x[0], x[1], x[2], x[4]});
  return s->Transpose(one, {0, 2, 1, 3});
}

Attended MhaHeads(Steps* s, const Node& node) {
  const int64_t heads = AttrInt(node, "num_heads", 1);
  const DType step = StepDType(s->DTypeOf(s->In(0)));
  const ValueId q = s->Cast(s->In(0), step);
  if (s->Rank(q) == 5) return {MhaUnpacked(s, q, 0), MhaUnpacked(s, q, 1), MhaUnpacked(s, q, 2)};
  int64_t begin = 0;
  // A part of the bias goes to each of Q, K and V.
  const auto biased = [&](ValueId v, int64_t size) {
    if (!s->Has(3)) return v;
    const ValueId part = s->Slice(s->Cast(s->In(3), step), 0, begin, begin + size);
    begin += size;
    return s->Pair("Add", v, part);
  };
  const auto headed = [&](ValueId v) { return AddHeads(s, biased(v, s->Size(v, 2)), heads); };
  Attended a;
  a.q = headed(q);
  const ValueId k = s->Cast(s->In(1), step);
  if (s->Rank(k) == 5) {
    a.k = MhaUnpacked(s, k, 0);
    a.v = MhaUnpacked(s, k, 1);
  } else if (s->Rank(k) == 4) {
    a.k = k;
    a.v = s->Cast(s->In(2), step);
  } else {
    a.k = headed(k);
    a.v = headed(s->Cast(s->In(2), step));
  }
  return a;
}

std::vector<ValueId> DecomposeMha(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(0));
  Attended a = MhaHeads(&s, node);
  const DType step = s.DTypeOf(a.q);
  if (s.Has(6)) {
    a.past = s.Size(s.In(6), 2);
    a.k = s.Concat({s.Cast(s.In(6), step), a.k}, 2);
    a.v = s.Concat({s.Cast(s.In(7), step), a.v}, 2);
  }
  a.mask = s.In(4);
  a.bias = s.In(5);
  std::vector<ValueId> out = s.NoOutputs();
  out[0] = s.Cast(AddAttended(&s, node, &a), wanted);
  // A whole cache that came in goes out again; a result needs a node of its own.
  if (a.k == s.In(1)) {
    a.k = s.Map("Identity", {a.k});
    a.v = s.Map("Identity", {a.v});
  }
  const ValueId rest[] = {0, a.k, a.v, a.scores};
  for (size_t o = 1; o < out.size(); ++o) {
    if (s.Wants(o)) out[o] = s.Cast(rest[o], wanted);
  }
  return out;
}

OpDef MhaRecord() {
  OpDef op = MicrosoftRecord("MultiHeadAttention", InferMha, DecomposeMha);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kWhole = Bit(DType::kInt32);
  op.inputs = {{"query", kFloats, "T"},
               {"key", kFloats, "T", opt},
               {"value", kFloats, "T", opt},
               {"bias", kFloats, "T", opt},
               {"key_padding_mask", kWhole, "M", opt},
               {"attention_bias", kFloats, "T", opt},
               {"past_key", kFloats, "T", opt},
               {"past_value", kFloats, "T", opt},
               {"past_sequence_length", kWhole, "M", opt},
               {"cache_indirection", kWhole, "M", opt}};
  op.outputs = {{"output", kFloats, "T"},
                {"present_key", kFloats, "T", opt},
                {"present_value", kFloats, "T", opt},
                {"qk", kFloats, "T", opt}};
  op.attrs = {{"num_heads", AttrKind::kInt, true},
              {"unidirectional", AttrKind::kInt, 0},
              {"scale", AttrKind::kFloat, 0.0f},
              {"mask_filter_value", AttrKind::kFloat, -10000.0f}};
  return op;
}

}  // namespace

// Attention of projected queries to projected keys and values, packed or apart, with a cache.
GE_OP(microsoft_multi_head_attention) = MhaRecord();

}  // namespace ge

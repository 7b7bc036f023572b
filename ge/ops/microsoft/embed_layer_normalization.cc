#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

// Batch, length and hidden size.
struct EmbedSizes {
  Dim batch, steps, hidden;
};

Status CheckEmbedInputs(InferContext& c, EmbedSizes* s) {
  const Type& ids = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "input_ids", 2, 2));
  s->batch = ids.ranked ? ids.dims[0] : c.FreshDim("batch", false);
  s->steps = ids.ranked ? ids.dims[1] : c.FreshDim("steps", false);
  const Type& words = c.input_type(2);
  const bool shaped = words.ranked && words.rank() == 2;
  s->hidden = shaped ? words.dims[1] : c.FreshDim("hidden", false);
  if (HasInput(c, 1) != HasInput(c, 4)) {
    return Bad(c.node(), fmt::format("input '{}' is absent, wanted both 'segment_ids' and "
                                     "'segment_embedding' or neither",
                                     HasInput(c, 1) ? "segment_embedding" : "segment_ids"));
  }
  const std::pair<size_t, const char*> tables[] = {
      {2, "word_embedding"}, {3, "position_embedding"}, {4, "segment_embedding"}};
  for (const auto& [i, name] : tables) {
    if (!HasInput(c, i)) continue;
    GE_RETURN_IF_ERROR(WantRankOf(c, i, name, 2, 2));
    if (!c.input_type(i).ranked) continue;
    GE_ASSIGN_OR_RETURN(
        s->hidden, SameDim(c, c.input_type(i).dims[1], s->hidden, "the embeddings' second axes"));
  }
  GE_RETURN_IF_ERROR(WantVector(c, 5, "gamma", s->hidden));
  GE_RETURN_IF_ERROR(WantVector(c, 6, "beta", s->hidden));
  const Dim grid[] = {s->batch, s->steps};
  if (HasInput(c, 1)) GE_RETURN_IF_ERROR(WantShape(c, 1, "segment_ids", grid));
  if (HasInput(c, 7)) GE_RETURN_IF_ERROR(WantShape(c, 7, "mask", grid));
  if (!HasInput(c, 8)) return {};
  const Type& positions = c.input_type(8);
  const bool shared = positions.ranked && positions.rank() == 2 && positions.dims[0] == KnownDim(1);
  const Dim places[] = {shared ? KnownDim(1) : s->batch, s->steps};
  return WantShape(c, 8, "position_ids", places);
}

Status InferEmbed(InferContext& c) {
  GE_RETURN_IF_ERROR(WantNotNegative(c.node(), "epsilon"));
  EmbedSizes s;
  GE_RETURN_IF_ERROR(CheckEmbedInputs(c, &s));
  const DType dtype = c.input_type(2).dtype;
  GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, {s.batch, s.steps, s.hidden}));
  if (c.output_count() > 1 && c.has_output(1)) {
    GE_RETURN_IF_ERROR(SetTensor(c, 1, DType::kInt32, {s.batch}));
  }
  if (c.output_count() > 2 && c.has_output(2)) {
    GE_RETURN_IF_ERROR(SetTensor(c, 2, dtype, {s.batch, s.steps, s.hidden}));
  }
  return {};
}

// How many of a row's mask are 1; zeros where there is no mask.
ValueId AddEmbedMaskIndex(Steps* s) {
  const int64_t batch = s->Size(s->In(0), 0);
  if (!s->Has(7)) {
    return s->Map("Identity", {s->Int32s({batch}, Steps::Shape(static_cast<size_t>(batch), 0))});
  }
  const ValueId one = s->Int32s({}, {1});
  const ValueId ones = s->Cast(s->Pair("Equal", s->In(7), one, DType::kBool), DType::kInt32);
  return s->Reshape(s->Reduce("ReduceSum", ones, {1}), {batch});
}

std::vector<ValueId> DecomposeEmbed(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(2)), step = StepDType(wanted);
  const int64_t steps = s.Size(s.In(0), 1);
  const ValueId places = s.Has(8) ? s.In(8) : s.Counting({1, steps}, 0, steps);
  const auto rows = [&](size_t table, ValueId ids) {
    return s.Cast(s.Gather(s.In(table), ids), step);
  };
  ValueId sum = s.Pair("Add", rows(2, s.In(0)), rows(3, places));
  if (s.Has(1)) sum = s.Pair("Add", sum, rows(4, s.In(1)));
  const ValueId y = s.Map("LayerNormalization", {sum, s.Cast(s.In(5), step), s.Cast(s.In(6), step)},
                          {{"axis", int64_t{-1}}, {"epsilon", AttrFloat(node, "epsilon")}});
  std::vector<ValueId> out = s.NoOutputs();
  out[0] = s.Cast(y, wanted);
  if (s.Wants(1)) out[1] = AddEmbedMaskIndex(&s);
  if (s.Wants(2)) out[2] = s.Cast(sum, wanted);
  return out;
}

OpDef EmbedRecord() {
  OpDef op = MicrosoftRecord("EmbedLayerNormalization", InferEmbed, DecomposeEmbed);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kIds = Bit(DType::kInt32);
  op.inputs = {{"input_ids", kIds, "T1"},
               {"segment_ids", kIds, "T1", opt},
               {"word_embedding", kFloats, "T"},
               {"position_embedding", kFloats, "T"},
               {"segment_embedding", kFloats, "T", opt},
               {"gamma", kFloats, "T"},
               {"beta", kFloats, "T"},
               {"mask", kIds, "T1", opt},
               {"position_ids", kIds, "T1", opt}};
  op.outputs = {{"output", kFloats, "T"},
                {"mask_index", kIds, "T1", opt},
                {"embedding_sum", kFloats, "T", opt}};
  op.attrs = {{"epsilon", AttrKind::kFloat, 1e-12f}, {"mask_index_type", AttrKind::kInt}};
  return op;
}

}  // namespace

// LayerNormalization of the sum of a word's, a place's and a segment's row.
GE_OP(microsoft_embed_layer_normalization) = EmbedRecord();

}  // namespace ge

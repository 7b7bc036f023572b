#include "ge/ops/microsoft/self_attention.h"

namespace ge {
namespace {

constexpr SelfAttentionPorts kAttentionMsPorts{3, 4, 5};

Status InferAttentionMs(InferContext& c) {
  GE_RETURN_IF_ERROR(RefuseInput(c, 6, "past_sequence_length"));
  return InferSelfAttention(c, kAttentionMsPorts, c.input_type(0).dtype);
}

std::vector<ValueId> DecomposeAttentionMs(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType step = StepDType(s.DTypeOf(s.In(0)));
  const ValueId product = s.MatMul(s.Cast(s.In(0), step), s.Cast(s.In(1), step));
  return AddSelfAttention(&s, node, kAttentionMsPorts, s.PairIf("Add", product, s.In(2)));
}

OpDef AttentionMsRecord() {
  OpDef op = MicrosoftRecord("Attention", InferAttentionMs, DecomposeAttentionMs);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kWhole = Bit(DType::kInt32);
  op.inputs = {{"input", kFloats, "T"},
               {"weights", kFloats, "T"},
               {"bias", kFloats, "T", opt},
               {"mask_index", kWhole, "M", opt},
               {"past", kFloats, "T", opt},
               {"attention_bias", kFloats, "T", opt},
               {"past_sequence_length", kWhole, "M", opt}};
  op.outputs = {{"output", kFloats, "T"}, {"present", kFloats, "T", opt}};
  op.attrs = SelfAttentionAttrs();
  op.attrs.push_back({"qkv_hidden_sizes", AttrKind::kInts});
  op.attrs.push_back({"rotary_embedding_dim", AttrKind::kInt});
  return op;
}

}  // namespace

// Self-attention with the projection to Q, K and V inside, as in BERT and GPT-2.
GE_OP(microsoft_attention) = AttentionMsRecord();

}  // namespace ge

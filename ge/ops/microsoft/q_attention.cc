#include "ge/ops/microsoft/self_attention.h"

namespace ge {
namespace {

constexpr SelfAttentionPorts kQAttentionPorts{5, 8, 0};

Status InferQAttention(InferContext& c) {
  const Type& w = c.input_type(1);
  const bool shaped = w.ranked && w.rank() == 2;
  const Dim columns = shaped ? w.dims[1] : c.FreshDim("columns", false);
  GE_RETURN_IF_ERROR(WantOne(c, 3, "input_scale"));
  GE_RETURN_IF_ERROR(WantOneOrColumns(c, 4, "weight_scale", columns));
  GE_RETURN_IF_ERROR(WantOne(c, 6, "input_zero_point"));
  GE_RETURN_IF_ERROR(WantOneOrColumns(c, 7, "weight_zero_point", columns));
  return InferSelfAttention(c, kQAttentionPorts, c.input_type(2).dtype);
}

std::vector<ValueId> DecomposeQAttention(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType step = StepDType(s.DTypeOf(s.In(2)));
  const ValueId product = s.Cast(s.IntegerProduct(s.In(0), s.In(1), s.In(6), s.In(7)), step);
  const ValueId scale = s.Pair("Mul", s.Cast(s.In(3), step), s.Cast(s.In(4), step));
  const ValueId all = s.PairIf("Add", s.Pair("Mul", product, scale), s.In(2));
  return AddSelfAttention(&s, node, kQAttentionPorts, all);
}

OpDef QAttentionRecord() {
  OpDef op = MicrosoftRecord("QAttention", InferQAttention, DecomposeQAttention);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kReal = Bit(DType::kFloat) | Bit(DType::kFloat16);
  op.inputs = {{"input", kBytes, "T1"},
               {"weight", kBytes, "T2"},
               {"bias", kReal, "T3"},
               {"input_scale", kReal, "T3"},
               {"weight_scale", kReal, "T3"},
               {"mask_index", Bit(DType::kInt32), "T4", opt},
               {"input_zero_point", kBytes, "T1", opt},
               {"weight_zero_point", kBytes, "T2", opt},
               {"past", kReal, "T3", opt}};
  op.outputs = {{"output", kReal, "T3"}, {"present", kReal, "T3", opt}};
  op.attrs = SelfAttentionAttrs();
  return op;
}

}  // namespace

// Attention whose input and weights are quantized; what follows their product is not.
GE_OP(microsoft_q_attention) = QAttentionRecord();

}  // namespace ge

#include "ge/ops/families/channel_moments.h"

namespace ge {
namespace {

Status InferBatchNormalizationGrad(InferContext& c) {
  GE_RETURN_IF_ERROR(WantEpsilon(c.node()));
  Dim channels;
  GE_RETURN_IF_ERROR(WantChannels(c, 1, 2, {"scale", "mean", "variance"}, &channels));
  if (c.input_type(1).ranked) GE_RETURN_IF_ERROR(WantShape(c, 0, "dY", c.input_type(1).dims));
  c.SetOutput(0, c.input_type(1));
  for (size_t i = 1; i < 3; ++i) {
    if (c.has_output(i)) GE_RETURN_IF_ERROR(SetTensor(c, i, c.input_type(0).dtype, {channels}));
  }
  return {};
}

// With u = (x - mean) / deviation: (dY - mean of dY - u * mean of dY u) * scale / deviation.
std::vector<ValueId> DecomposeBatchNormalizationGrad(Transaction& t, FunctionId fn,
                                                     const Node& node) {
  Parts p(&t, fn, node);
  const ValueId dy = node.inputs[0], x = node.inputs[1];
  const Type type = p.TypeOf(x), row = p.TypeOf(node.inputs[2]);
  for (size_t i = 1; i < 5; ++i) {
    if (!p.TypeOf(node.inputs[i]).ranked) return {};
  }
  const auto wide = [&](ValueId v) { return OverChannels(&p, v, type.rank()); };
  const ValueId moved =
      p.Add("Add", {node.inputs[4], p.Scalar(type.dtype, AttrFloat(node, "epsilon"))}, row);
  const ValueId inverse = p.Add("Reciprocal", {p.Add("Sqrt", {moved}, row)}, row);
  const ValueId u =
      p.Add("Mul", {p.Add("Sub", {x, wide(node.inputs[3])}, type), wide(inverse)}, type);
  const ValueId product = p.Add("Mul", {dy, u}, type);
  const ValueId axes = p.Ints(AxesButChannels(type.rank()));
  const std::vector<Attr> flat = {{"keepdims", int64_t{0}}};
  const auto mean = [&](ValueId v) {
    return wide(p.Add("ReduceMean", {v, axes}, row, {{"keepdims", int64_t{0}}}));
  };
  const ValueId centred = p.Add("Sub", {dy, mean(dy)}, type);
  const ValueId rest = p.Add("Sub", {centred, p.Add("Mul", {u, mean(product)}, type)}, type);
  const ValueId by = p.Add("Mul", {node.inputs[2], inverse}, row);
  std::vector<ValueId> made = {p.Add("Mul", {rest, wide(by)}, type)};
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    const ValueId v = i == 1 ? product : dy;
    made.push_back(node.outputs[i] == 0 ? 0 : p.Add("ReduceSum", {v, axes}, row, flat));
  }
  return made;
}

OpDef BatchNormalizationGradRecord() {
  OpDef op{"ge", "BatchNormalizationGrad", 1, {}, {}, {}, InferBatchNormalizationGrad};
  op.inputs = {{"dY", kMomentTypes, "T"},
               {"X", kMomentTypes, "T"},
               {"scale", kMomentTypes, "T"},
               {"mean", kMomentTypes, "T"},
               {"variance", kMomentTypes, "T"}};
  op.outputs = {{"dX", kMomentTypes, "T"},
                {"dscale", kMomentTypes, "T", Arity::kOptional},
                {"dB", kMomentTypes, "T", Arity::kOptional}};
  op.attrs = {{"epsilon", AttrKind::kFloat, 1e-5f}};
  op.work = PerOutput<9>;
  op.decompose = DecomposeBatchNormalizationGrad;
  return op;
}

}  // namespace

// How what BatchNormalizationTraining makes changes with X, scale and B, its moments included.
GE_OP(batch_normalization_grad) = BatchNormalizationGradRecord();

}  // namespace ge

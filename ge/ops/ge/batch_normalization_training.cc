#include "ge/ops/families/channel_moments.h"

namespace ge {
namespace {

Status InferBatchNormalizationTraining(InferContext& c) {
  GE_RETURN_IF_ERROR(WantEpsilon(c.node()));
  Dim channels;
  GE_RETURN_IF_ERROR(WantChannels(c, 0, 1, {"scale", "B"}, &channels));
  c.SetOutput(0, c.input_type(0));
  for (size_t i = 1; i < 3; ++i) {
    if (c.has_output(i)) GE_RETURN_IF_ERROR(SetTensor(c, i, c.input_type(0).dtype, {channels}));
  }
  return {};
}

// x * a + b with one a and b a channel, so that what follows it may go along.
std::vector<ValueId> DecomposeBatchNormalizationTraining(Transaction& t, FunctionId fn,
                                                         const Node& node) {
  Parts p(&t, fn, node);
  const Type x = p.TypeOf(node.inputs[0]), row = p.TypeOf(node.inputs[1]);
  if (!x.ranked || !row.ranked) return {};
  const std::vector<ValueId> moments =
      t.AddNode(fn, node.id, "ge", "ChannelMoments", {node.inputs[0]}, {}, {row, row}, {&node});
  const ValueId moved =
      p.Add("Add", {moments[1], p.Scalar(x.dtype, AttrFloat(node, "epsilon"))}, row);
  const ValueId a = p.Add("Div", {node.inputs[1], p.Add("Sqrt", {moved}, row)}, row);
  const ValueId b = p.Add("Sub", {node.inputs[2], p.Add("Mul", {moments[0], a}, row)}, row);
  const ValueId by = OverChannels(&p, a, x.rank()), shift = OverChannels(&p, b, x.rank());
  const ValueId y = p.Add("Add", {p.Add("Mul", {node.inputs[0], by}, x), shift}, x);
  std::vector<ValueId> made = {y};
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    made.push_back(node.outputs[i] == 0 ? 0 : moments[i - 1]);
  }
  return made;
}

OpDef BatchNormalizationTrainingRecord() {
  OpDef op{"ge", "BatchNormalizationTraining", 1, {}, {}, {}, InferBatchNormalizationTraining};
  op.inputs = {{"X", kMomentTypes, "T"}, {"scale", kMomentTypes, "T"}, {"B", kMomentTypes, "T"}};
  op.outputs = {{"Y", kMomentTypes, "T"},
                {"mean", kMomentTypes, "T", Arity::kOptional},
                {"variance", kMomentTypes, "T", Arity::kOptional}};
  op.attrs = {{"epsilon", AttrKind::kFloat, 1e-5f}};
  op.work = PerOutput<5>;
  op.decompose = DecomposeBatchNormalizationTraining;
  return op;
}

}  // namespace

// (X - mean) / sqrt(variance + epsilon) * scale + B by the batch's own moments, which come out too.
GE_OP(batch_normalization_training) = BatchNormalizationTrainingRecord();

}  // namespace ge

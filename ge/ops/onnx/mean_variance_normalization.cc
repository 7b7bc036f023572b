#include "ge/ops/families/normalization.h"

namespace ge {
namespace {

Status InferMeanVarianceNormalization(InferContext& c) {
  const Type& x = c.input_type(0);
  if (x.ranked) {
    const auto found =
        NormalizeAxes(c.node(), AttrInts(c.node(), "axes"), static_cast<int64_t>(x.rank()));
    if (!found.ok()) return found.status();
  }
  return InferSame(c);
}

std::vector<ValueId> DecomposeMeanVarianceNormalization(Transaction& t, FunctionId fn,
                                                        const Node& node) {
  constexpr double kAdded = 1e-9;  // to the deviation, by ONNX's own function
  Parts p(&t, fn, node);
  const Type given = p.TypeOf(node.inputs[0]);
  const auto found =
      NormalizeAxes(node, AttrInts(node, "axes"), static_cast<int64_t>(given.rank()));
  if (!given.ranked || !found.ok() || found->empty()) return {};
  const DType step = StepDType(given.dtype);
  const Centred c = AddCentred(&p, p.Cast(node.inputs[0], step), *found);
  const ValueId root = p.Add("Sqrt", {c.variance}, c.row);
  const ValueId deviation = p.Add("Add", {root, p.Scalar(step, kAdded)}, c.row);
  return {p.Cast(p.Add("Div", {c.d, deviation}, p.TypeOf(c.d)), given.dtype)};
}

OpDef MeanVarianceNormalizationRecord() {
  OpDef op{"", "MeanVarianceNormalization",    13,          {}, {},
           {}, InferMeanVarianceNormalization, PerOutput<8>};
  op.inputs = {{"X", kFloats, "T"}};
  op.outputs = {{"Y", kFloats, "T"}};
  op.attrs = {{"axes", AttrKind::kInts, std::vector<int64_t>{0, 2, 3}}};
  op.decompose = DecomposeMeanVarianceNormalization;
  return op;
}

}  // namespace

// (x - mean) / (deviation + 1e-9) over `axes`, by default all but the channels' of N x C x H x W.
GE_OP(mean_variance_normalization) = MeanVarianceNormalizationRecord();

}  // namespace ge

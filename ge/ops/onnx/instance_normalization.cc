#include "ge/ops/families/normalization.h"

namespace ge {
namespace {

Status InferInstanceNormalization(InferContext& c) { return InferPerChannel(c, "scale", "B"); }

std::vector<ValueId> DecomposeInstanceNormalization(Transaction& t, FunctionId fn,
                                                    const Node& node) {
  Parts p(&t, fn, node);
  const Type given = p.TypeOf(node.inputs[0]);
  if (!given.ranked || given.rank() < 3 || !p.TypeOf(node.inputs[1]).ranked ||
      !p.TypeOf(node.inputs[2]).ranked) {
    return {};
  }
  std::vector<int64_t> axes;
  for (size_t a = 2; a < given.rank(); ++a) axes.push_back(static_cast<int64_t>(a));
  const ValueId x = p.Cast(node.inputs[0], StepDType(given.dtype));
  const ValueId y = AddStandard(&p, node, AddCentred(&p, x, axes));
  return {p.Cast(AddPerChannel(&p, node, y), given.dtype)};
}

OpDef InstanceNormalizationRecord() {
  OpDef op{"", "InstanceNormalization", 22, {}, {}, {}, InferInstanceNormalization, PerOutput<8>};
  op.inputs = {{"input", kFloats, "T"}, {"scale", kFloats, "T"}, {"B", kFloats, "T"}};
  op.outputs = {{"output", kFloats, "T"}};
  op.attrs = {{"epsilon", AttrKind::kFloat, 1e-5f}};
  op.decompose = DecomposeInstanceNormalization;
  return op;
}

}  // namespace

// (x - mean) / sqrt(variance + epsilon) * scale + B, statistics over each plane of each instance.
GE_OP(instance_normalization) = InstanceNormalizationRecord();

}  // namespace ge

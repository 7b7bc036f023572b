#include "ge/ops/families/normalization.h"

namespace ge {
namespace {

Status InferGroupNormalization(InferContext& c) {
  const Type& x = c.input_type(0);
  const int64_t groups = AttrInt(c.node(), "num_groups");
  if (groups < 1) {
    return Bad(c.node(), fmt::format("attribute 'num_groups' is {}, wanted at least 1", groups));
  }
  if (x.ranked && x.rank() > 1 && x.dims[1].known() && x.dims[1].value % groups != 0) {
    return Bad(c.node(), fmt::format("input 'X' has {} channels, wanted a multiple of num_groups "
                                     "{}",
                                     x.dims[1].value, groups));
  }
  GE_RETURN_IF_ERROR(WantStash(c.node()));
  return InferPerChannel(c, "scale", "bias");
}

// The groups become an axis, and go again. For known shapes without an empty axis.
std::vector<ValueId> DecomposeGroupNormalization(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type given = p.TypeOf(node.inputs[0]);
  if (!given.is_static() || given.rank() < 3 || !p.TypeOf(node.inputs[1]).ranked ||
      !p.TypeOf(node.inputs[2]).ranked) {
    return {};
  }
  const int64_t groups = AttrInt(node, "num_groups", 1);
  std::vector<int64_t> shape, grouped = {given.dims[0].value, groups, 1};
  for (const Dim& d : given.dims) {
    if (d.value == 0) return {};
    shape.push_back(d.value);
    if (shape.size() > 1) grouped[2] *= d.value;
  }
  grouped[2] /= groups;
  const DType step = StepDType(given.dtype);
  const ValueId x =
      p.Add("Reshape", {p.Cast(node.inputs[0], step), p.Ints(grouped)}, TensorType(step, grouped));
  const ValueId y = AddStandard(&p, node, AddCentred(&p, x, {2}));
  const ValueId back = p.Add("Reshape", {y, p.Ints(shape)}, TensorType(step, shape));
  return {p.Cast(AddPerChannel(&p, node, back), given.dtype)};
}

OpDef GroupNormalizationRecord() {
  OpDef op{"", "GroupNormalization", 21, {}, {}, {}, InferGroupNormalization, PerOutput<8>};
  op.inputs = {{"X", kFloats, "T"}, {"scale", kFloats, "T"}, {"bias", kFloats, "T"}};
  op.outputs = {{"Y", kFloats, "T"}};
  op.attrs = {{"epsilon", AttrKind::kFloat, 1e-5f},
              {"num_groups", AttrKind::kInt, true},
              {"stash_type", AttrKind::kInt, 1}};
  op.decompose = DecomposeGroupNormalization;
  return op;
}

}  // namespace

// (x - mean) / sqrt(variance + epsilon) * scale + bias, statistics over the channels of a group.
GE_OP(group_normalization) = GroupNormalizationRecord();

}  // namespace ge

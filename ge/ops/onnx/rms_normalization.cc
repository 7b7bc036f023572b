#include "ge/ops/decompose.h"
#include "ge/ops/families/normalization.h"

namespace ge {
namespace {

Status InferRmsNormalization(InferContext& c) {
  const Type &x = c.input_type(0), &scale = c.input_type(1);
  GE_RETURN_IF_ERROR(WantEpsilon(c.node()));
  GE_RETURN_IF_ERROR(WantStash(c.node()));
  if (x.ranked) {
    GE_RETURN_IF_ERROR(WantRank(x, 1, "RMSNormalization: input 'X'"));
    const auto axis = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(x.rank()),
                                    "attribute 'axis'");
    if (!axis.ok()) return Bad(c.node(), axis.status().message());
  }
  GE_RETURN_IF_ERROR(WantScaleThatBroadcasts(c));
  Type y = x;
  y.dtype = scale.dtype;
  c.SetOutput(0, std::move(y));
  return {};
}

// x over the root of the mean square, times scale, in the steps of ONNX's function but for its
// rounding to 16 bits before the scale.
std::vector<ValueId> DecomposeRmsNormalization(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type given = p.TypeOf(node.inputs[0]);
  const auto rank = static_cast<int64_t>(given.rank());
  int64_t axis = AttrInt(node, "axis");
  axis += axis < 0 ? rank : 0;
  if (!given.ranked || axis < 0 || axis >= rank) return {};
  const DType wanted = p.TypeOf(node.inputs[1]).dtype;
  const bool doubles = given.dtype == DType::kDouble || wanted == DType::kDouble;
  const DType step = doubles ? DType::kDouble : DType::kFloat;
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  Type row = type;
  std::vector<int64_t> which;
  for (int64_t a = axis; a < rank; ++a) {
    which.push_back(a);
    row.dims[static_cast<size_t>(a)] = KnownDim(1);
  }
  const ValueId mean = p.Add("ReduceMean", {p.Add("Mul", {x, x}, type), p.Ints(which)}, row);
  const ValueId epsilon = p.Scalar(step, AttrFloat(node, "epsilon"));
  const ValueId root = p.Add("Sqrt", {p.Add("Add", {mean, epsilon}, row)}, row);
  const ValueId y = p.Add("Div", {x, root}, type);
  return {p.Cast(p.Add("Mul", {y, p.Cast(node.inputs[1], step)}, type), wanted)};
}

OpDef RmsNormalizationRecord() {
  OpDef op{"", "RMSNormalization", 23, {}, {}, {}, InferRmsNormalization, PerOutput<5>};
  op.inputs = {{"X", kFloats, "T"}, {"scale", kFloats, "V"}};
  op.outputs = {{"Y", kFloats, "V"}};
  op.attrs = {{"axis", AttrKind::kInt, -1},
              {"epsilon", AttrKind::kFloat, 1e-5f},
              {"stash_type", AttrKind::kInt, 1}};
  op.decompose = DecomposeRmsNormalization;
  return op;
}

}  // namespace

// x / sqrt(mean of squares + epsilon) over the axes from `axis` on, times scale.
GE_OP(rms_normalization) = RmsNormalizationRecord();

}  // namespace ge

#include "ge/ops/families/normalization.h"

namespace ge {
namespace {

Status InferSimplified(InferContext& c) {
  const Type x = c.input_type(0), scale = c.input_type(1);
  GE_RETURN_IF_ERROR(WantEpsilon(c.node()));
  GE_RETURN_IF_ERROR(WantStash(c.node()));
  const bool root = c.output_count() > 1 && c.has_output(1);
  // Of the two dtypes that the saved roots may have, the first stage's.
  const DType saved = x.dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
  Type y = x;
  y.dtype = scale.dtype;
  c.SetOutput(0, std::move(y));
  if (!x.ranked) {
    if (root) c.SetOutput(1, UnrankedTensor(saved));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(x, 1, "SimplifiedLayerNormalization: input 'X'"));
  const auto axis =
      NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(x.rank()), "attribute 'axis'");
  if (!axis.ok()) return Bad(c.node(), axis.status().message());
  const auto first = static_cast<size_t>(*axis);
  // ONNX Runtime's optimizer writes scales that broadcast, too.
  GE_RETURN_IF_ERROR(WantScaleThatBroadcasts(c));
  if (!root) return {};
  std::vector<Dim> dims = x.dims;
  for (size_t d = first; d < dims.size(); ++d) dims[d] = KnownDim(1);
  return SetTensor(c, 1, saved, std::move(dims));
}

// RMSNormalization; the roots, where they are wanted, by steps of their own.
std::vector<ValueId> DecomposeSimplified(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type given = p.TypeOf(node.inputs[0]), out = p.TypeOf(node.outputs[0]);
  const int64_t axis = AttrInt(node, "axis");
  const double epsilon = AttrFloat(node, "epsilon");
  if (!given.ranked) return {};
  std::vector<ValueId> answer(node.outputs.size(), 0);
  answer[0] = p.Add("RMSNormalization", node.inputs, out, {{"axis", axis}, {"epsilon", epsilon}});
  if (answer.size() < 2 || node.outputs[1] == 0) return answer;
  const ValueId x = p.Cast(node.inputs[0], StepDType(given.dtype));
  const Type type = p.TypeOf(x);
  Type row = type;
  std::vector<int64_t> axes;
  const auto rank = static_cast<int64_t>(given.rank());
  for (int64_t a = axis < 0 ? axis + rank : axis; a < rank; ++a) {
    axes.push_back(a);
    row.dims[static_cast<size_t>(a)] = KnownDim(1);
  }
  const ValueId mean = p.Add("ReduceMean", {p.Add("Mul", {x, x}, type), p.Ints(axes)}, row);
  const ValueId moved = p.Add("Add", {mean, p.Scalar(type.dtype, epsilon)}, row);
  const ValueId root = p.Add("Sqrt", {moved}, row);
  answer[1] = p.Cast(p.Add("Reciprocal", {root}, row), p.TypeOf(node.outputs[1]).dtype);
  return answer;
}

OpDef SimplifiedRecord() {
  OpDef op{"", "SimplifiedLayerNormalization", 1, {}, {}, {}, InferSimplified, PerOutput<5>};
  const DTypeSet saved = Bit(DType::kFloat) | Bit(DType::kDouble);
  op.inputs = {{"X", kFloats, "T"}, {"scale", kFloats, "V"}};
  op.outputs = {{"Y", kFloats, "V"}, {"inv_std_var", saved, "U", Arity::kOptional}};
  op.attrs = {{"axis", AttrKind::kInt, -1},
              {"epsilon", AttrKind::kFloat, 1e-5f},
              {"stash_type", AttrKind::kInt, 1}};
  op.decompose = DecomposeSimplified;
  return op;
}

}  // namespace

// x / sqrt(mean of squares + epsilon) over the axes from `axis` on, times scale. ONNX Runtime puts
// it into ONNX's own domain, whose RMSNormalization came later.
GE_OP(simplified_layer_normalization) = SimplifiedRecord();

}  // namespace ge

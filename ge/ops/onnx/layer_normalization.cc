#include <fmt/format.h>

#include <cmath>

#include "ge/ops/decompose.h"
#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Scale and B must broadcast to X without making it larger.
Status WantNarrower(InferContext& c, size_t i, const char* name) {
  const Type &x = c.input_type(0), &t = c.input_type(i);
  if (!x.ranked || !t.ranked) return {};
  bool fits = t.rank() <= x.rank();
  for (size_t d = 0; fits && d < t.rank(); ++d) {
    const Dim &mine = t.dims[d], &wide = x.dims[x.rank() - t.rank() + d];
    fits = !mine.known() || mine == KnownDim(1) || !wide.known() || mine == wide;
  }
  if (fits) return {};
  return Bad(c.node(), fmt::format("input '{}' has shape {}, wanted one that broadcasts to X's {}",
                                   name, Show(c.dims(), t.dims), Show(c.dims(), x.dims)));
}

Status InferLayerNormalization(InferContext& c) {
  const Type x = c.input_type(0);
  const auto epsilon = static_cast<float>(AttrFloat(c.node(), "epsilon"));
  if (!std::isfinite(epsilon) || epsilon < 0) {
    return Bad(c.node(), fmt::format("attribute 'epsilon' is {}, wanted a finite number that is "
                                     "not negative",
                                     epsilon));
  }
  const int64_t stash = AttrInt(c.node(), "stash_type");
  if (stash != static_cast<int64_t>(DType::kFloat) &&
      stash != static_cast<int64_t>(DType::kBfloat16)) {
    return Bad(c.node(),
               fmt::format("attribute 'stash_type' is {}, wanted 1 (f32) or 16 (bf16)", stash));
  }
  GE_RETURN_IF_ERROR(WantNarrower(c, 1, "Scale"));
  if (c.input_count() > 2 && c.has_input(2)) GE_RETURN_IF_ERROR(WantNarrower(c, 2, "B"));
  std::vector<Dim> dims = x.dims;
  if (x.ranked) {
    GE_RETURN_IF_ERROR(WantRank(x, 1, "LayerNormalization: input 'X'"));
    const auto axis = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(x.rank()),
                                    "attribute 'axis'");
    if (!axis.ok()) return Bad(c.node(), axis.status().message());
    for (size_t d = static_cast<size_t>(*axis); d < dims.size(); ++d) dims[d] = KnownDim(1);
  }
  c.SetOutput(0, x);
  for (size_t i = 1; i < c.output_count(); ++i) {
    if (!c.has_output(i)) continue;
    const auto dtype = static_cast<DType>(stash);
    if (x.ranked) {
      GE_RETURN_IF_ERROR(SetTensor(c, i, dtype, dims));
    } else {
      c.SetOutput(i, UnrankedTensor(dtype));
    }
  }
  return {};
}

// The mean of d^2 under a root, and d over it, in the steps that exporters write. Scale and B meet
// what is not rounded yet (StepDType), where ONNX's own function rounds a 16-bit result three
// times.
std::vector<ValueId> DecomposeLayerNormalization(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type given = p.TypeOf(node.inputs[0]);
  const auto rank = static_cast<int64_t>(given.rank());
  int64_t axis = AttrInt(node, "axis");
  axis += axis < 0 ? rank : 0;
  if (!given.ranked || axis < 0 || axis >= rank) return {};
  const DType step = StepDType(given.dtype);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  Type row = type;
  std::vector<int64_t> which;
  for (int64_t a = axis; a < rank; ++a) {
    which.push_back(a);
    row.dims[static_cast<size_t>(a)] = KnownDim(1);
  }
  const ValueId axes = p.Ints(which);
  const ValueId mean = p.Add("ReduceMean", {x, axes}, row);
  const ValueId d = p.Add("Sub", {x, mean}, type);
  const ValueId variance = p.Add("ReduceMean", {p.Add("Mul", {d, d}, type), axes}, row);
  const ValueId epsilon = p.Scalar(step, AttrFloat(node, "epsilon"));
  const ValueId deviation = p.Add("Sqrt", {p.Add("Add", {variance, epsilon}, row)}, row);
  ValueId y = p.Add("Div", {d, deviation}, type);
  y = p.Add("Mul", {y, p.Cast(node.inputs[1], step)}, type);
  if (node.inputs.size() > 2 && node.inputs[2]) {
    y = p.Add("Add", {y, p.Cast(node.inputs[2], step)}, type);
  }
  std::vector<ValueId> out(node.outputs.size(), 0);
  const auto stash = static_cast<DType>(AttrInt(node, "stash_type"));
  if (!out.empty() && node.outputs[0]) out[0] = p.Cast(y, given.dtype);
  if (out.size() > 1 && node.outputs[1]) out[1] = p.Cast(mean, stash);
  if (out.size() > 2 && node.outputs[2]) {
    out[2] = p.Cast(p.Add("Reciprocal", {deviation}, row), stash);
  }
  return out;
}

OpDef LayerNormalizationRecord() {
  OpDef op{"", "LayerNormalization", 17, {}, {}, {}, InferLayerNormalization, PerOutput<8>};
  const DTypeSet stashed = Bit(DType::kFloat) | Bit(DType::kBfloat16);
  op.inputs = {{"X", kFloats, "T"}, {"Scale", kFloats, "T"}, {"B", kFloats, "T", Arity::kOptional}};
  op.outputs = {{"Y", kFloats, "T"},
                {"Mean", stashed, "U", Arity::kOptional},
                {"InvStdDev", stashed, "U", Arity::kOptional}};
  op.attrs = {{"axis", AttrKind::kInt, -1},
              {"epsilon", AttrKind::kFloat, 1e-5f},
              {"stash_type", AttrKind::kInt, 1}};
  op.decompose = DecomposeLayerNormalization;
  return op;
}

}  // namespace

// (x - mean) / sqrt(variance + epsilon) over the axes from `axis` on, times Scale, plus B.
GE_OP(layer_normalization) = LayerNormalizationRecord();

}  // namespace ge

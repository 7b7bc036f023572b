#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

// Tensor, scale and zero point `i` of the list stand from input 2 + 3 * i on.
size_t QLinearConcatParts(size_t inputs) { return (inputs - 2) / 3; }

Status CheckQLinearConcat(InferContext& c) {
  if ((c.input_count() - 2) % 3 != 0) {
    return Bad(c.node(), fmt::format("found {} inputs after 'Y_zero_point', wanted a multiple of "
                                     "3: each tensor with its scale and zero point",
                                     c.input_count() - 2));
  }
  GE_RETURN_IF_ERROR(WantOne(c, 0, "Y_scale"));
  GE_RETURN_IF_ERROR(WantOne(c, 1, "Y_zero_point"));
  for (size_t p = 0; p < QLinearConcatParts(c.input_count()); ++p) {
    const size_t i = 2 + 3 * p;
    const DType x = c.input_type(i).dtype, scale = c.input_type(i + 1).dtype,
                zero = c.input_type(i + 2).dtype;
    if (x == DType::kFloat || scale != DType::kFloat || zero != x) {
      return Bad(c.node(), fmt::format("inputs {} to {} are {}, {} and {}, wanted a tensor of 8 "
                                       "bits, an f32 scale and a zero point as the tensor",
                                       i, i + 2, DTypeName(x), DTypeName(scale), DTypeName(zero)));
    }
    GE_RETURN_IF_ERROR(WantOne(c, i + 1, "scale"));
    GE_RETURN_IF_ERROR(WantOne(c, i + 2, "zero point"));
  }
  return {};
}

Status InferQLinearConcat(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckQLinearConcat(c));
  const DType out = c.input_type(1).dtype;
  const Type& first = c.input_type(2);
  bool ranked = true;
  for (size_t i = 2; i < c.input_count(); i += 3) ranked = ranked && c.input_type(i).ranked;
  if (!ranked) {
    c.SetOutput(0, UnrankedTensor(out));
    return {};
  }
  const auto axis = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(first.rank()),
                                  "attribute 'axis'");
  if (!axis.ok()) return Bad(c.node(), axis.status().message());
  std::vector<Dim> dims = first.dims;
  for (size_t i = 5; i < c.input_count(); i += 3) {
    const Type& x = c.input_type(i);
    if (x.rank() != dims.size()) {
      return Bad(c.node(), fmt::format("input {} has shape {}, wanted rank {} as the first tensor "
                                       "has",
                                       i, Show(c.dims(), x.dims), dims.size()));
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d == static_cast<size_t>(*axis)) {
        GE_ASSIGN_OR_RETURN(dims[d],
                            Checked(c.node(), c.dims().Add(dims[d], x.dims[d]), "the joined axis"));
      } else {
        GE_ASSIGN_OR_RETURN(
            dims[d], SameDim(c, dims[d], x.dims[d], fmt::format("axis {} of the tensors", d)));
      }
    }
  }
  return SetTensor(c, 0, out, std::move(dims));
}

std::vector<ValueId> DecomposeQLinearConcat(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  std::vector<ValueId> parts;
  for (size_t i = 2; i < node.inputs.size(); i += 3) {
    parts.push_back(s.Dequantize(s.In(i), s.In(i + 1), s.In(i + 2)));
  }
  int64_t axis = AttrInt(node, "axis");
  axis += axis < 0 ? s.Rank(parts[0]) : 0;
  return {s.Quantize(s.Concat(parts, axis), s.In(0), s.In(1), s.OutDType(0))};
}

OpDef QLinearConcatRecord() {
  OpDef op = MicrosoftRecord("QLinearConcat", InferQLinearConcat, DecomposeQLinearConcat);
  constexpr DTypeSet kScale = Bit(DType::kFloat);
  op.inputs = {{"Y_scale", kScale},
               {"Y_zero_point", kBytes, "T8"},
               {"inputs", kBytes | kScale, "", Arity::kVariadic, 3}};
  op.outputs = {{"Y", kBytes, "T8"}};
  op.attrs = {{"axis", AttrKind::kInt, true}};
  return op;
}

}  // namespace

// Quantized tensors behind each other, quantized again by one scale.
GE_OP(microsoft_q_linear_concat) = QLinearConcatRecord();

}  // namespace ge

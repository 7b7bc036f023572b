#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferQLinearWhere(InferContext& c) {
  const char* names[] = {"condition",    "X",       "x_scale",     "x_zero_point", "Y", "y_scale",
                         "y_zero_point", "z_scale", "z_zero_point"};
  for (size_t i : {2u, 3u, 5u, 6u, 7u, 8u}) GE_RETURN_IF_ERROR(WantOne(c, i, names[i]));
  const DType out = c.input_type(1).dtype;
  std::vector<std::vector<Dim>> shapes;
  for (size_t i : {0u, 1u, 4u}) {
    if (!c.input_type(i).ranked) {
      c.SetOutput(0, UnrankedTensor(out));
      return {};
    }
    shapes.push_back(c.input_type(i).dims);
  }
  GE_ASSIGN_OR_RETURN(std::vector<Dim> dims, BroadcastDims(c, shapes));
  return SetTensor(c, 0, out, std::move(dims));
}

std::vector<ValueId> DecomposeQLinearWhere(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const ValueId x = s.Dequantize(s.In(1), s.In(2), s.In(3));
  const ValueId y = s.Dequantize(s.In(4), s.In(5), s.In(6));
  return {s.Quantize(s.Choose(s.In(0), x, y), s.In(7), s.In(8), s.OutDType(0))};
}

OpDef QLinearWhereRecord() {
  OpDef op = MicrosoftRecord("QLinearWhere", InferQLinearWhere, DecomposeQLinearWhere);
  constexpr DTypeSet kScale = Bit(DType::kFloat);
  op.inputs = {
      {"condition", Bit(DType::kBool)}, {"X", kBytes, "T"},  {"x_scale", kScale},
      {"x_zero_point", kBytes, "T"},    {"Y", kBytes, "T"},  {"y_scale", kScale},
      {"y_zero_point", kBytes, "T"},    {"z_scale", kScale}, {"z_zero_point", kBytes, "T"}};
  op.outputs = {{"Z", kBytes, "T"}};
  return op;
}

}  // namespace

// X where the condition is true, else Y, both quantized, by the scale of the result.
GE_OP(microsoft_q_linear_where) = QLinearWhereRecord();

}  // namespace ge

#include "ge/ops/onnx/quantize_grid.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferDequantizeLinear(InferContext& c) {
  const int64_t stated = AttrInt(c.node(), "output_dtype");
  const DType scale = c.input_type(1).dtype;
  DType out = scale;
  if (stated != 0) {
    out = static_cast<DType>(stated);
    if (stated < 0 || stated >= kDTypeCount || (kShortFloats & Bit(out)) == 0) {
      return Bad(c.node(), fmt::format("attribute 'output_dtype' is {}, wanted the number of f32, "
                                       "f16 or bf16",
                                       stated));
    }
  } else if ((kShortFloats & Bit(scale)) == 0) {
    return Bad(c.node(), fmt::format("the scale is {}, which the output cannot be; wanted "
                                     "attribute 'output_dtype'",
                                     DTypeName(scale)));
  }
  GE_RETURN_IF_ERROR(CheckQuantizeGrid(c));
  Type t = c.input_type(0);
  t.dtype = out;
  c.SetOutput(0, std::move(t));
  return {};
}

OpDef DequantizeLinearRecord() {
  constexpr DTypeSet kWhole = kQuantizedTypes | Bit(DType::kInt32);
  OpDef op{"", "DequantizeLinear",    28,          {}, {{"y", kShortFloats, "T3"}},
           {}, InferDequantizeLinear, PerOutput<2>};
  op.inputs = {{"x", kWhole, "T1"},
               {"x_scale", kShortFloats | Bit(DType::kFloat8e8m0), "T2"},
               {"x_zero_point", kWhole, "T1", Arity::kOptional}};
  op.attrs = {{"axis", AttrKind::kInt, 1},
              {"block_size", AttrKind::kInt, 0},
              {"output_dtype", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// y = (x - zero point) * scale.
GE_OP(dequantize_linear) = DequantizeLinearRecord();

}  // namespace ge

#include "ge/ops/onnx/quantize_grid.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferQuantizeLinear(InferContext& c) {
  const Node& n = c.node();
  const int64_t stated = AttrInt(n, "output_dtype"), precision = AttrInt(n, "precision");
  const auto known = [](int64_t t, DTypeSet set) {
    return t > 0 && t < kDTypeCount && (set & Bit(static_cast<DType>(t))) != 0;
  };
  if (stated != 0 && !known(stated, kQuantizedTypes)) {
    return Bad(n, fmt::format("attribute 'output_dtype' is {}, wanted the number of an integer "
                              "dtype of at most 16 bits, a float8, a float6 or float4e2m1",
                              stated));
  }
  if (precision != 0 && !known(precision, kFloats)) {
    return Bad(n, fmt::format("attribute 'precision' is {}, wanted the number of f32, f64, f16 or "
                              "bf16",
                              precision));
  }
  DType out = stated != 0 ? static_cast<DType>(stated) : DType::kUint8;
  if (c.input_count() > 2 && c.has_input(2)) {
    const DType zero = c.input_type(2).dtype;
    if (stated != 0 && out != zero) {
      return Bad(n, fmt::format("attribute 'output_dtype' is {}, wanted {} as the zero point has",
                                DTypeName(out), DTypeName(zero)));
    }
    out = zero;
  }
  GE_RETURN_IF_ERROR(CheckQuantizeGrid(c));
  Type t = c.input_type(0);
  t.dtype = out;
  c.SetOutput(0, std::move(t));
  return {};
}

OpDef QuantizeLinearRecord() {
  constexpr DTypeSet kReal = kShortFloats | Bit(DType::kInt32);
  OpDef op{"", "QuantizeLinear",    28,          {}, {{"y", kQuantizedTypes, "T3"}},
           {}, InferQuantizeLinear, PerOutput<3>};
  op.inputs = {{"x", kReal, "T1"},
               {"y_scale", kReal | Bit(DType::kFloat8e8m0), "T2"},
               {"y_zero_point", kQuantizedTypes, "T3", Arity::kOptional}};
  op.attrs = {{"axis", AttrKind::kInt, 1},
              {"block_size", AttrKind::kInt, 0},
              {"output_dtype", AttrKind::kInt, 0},
              {"precision", AttrKind::kInt, 0},
              {"saturate", AttrKind::kInt, 1}};
  return op;
}

}  // namespace

// y = saturate(round(x / scale) + zero point), in a narrow dtype.
GE_OP(quantize_linear) = QuantizeLinearRecord();

}  // namespace ge

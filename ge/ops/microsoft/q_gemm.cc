#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

// Rows and columns after the transposition on demand.
std::pair<Dim, Dim> QGemmSides(InferContext& c, size_t i, const char* flag) {
  const Type& t = c.input_type(i);
  if (!t.ranked) return {c.FreshDim("gemm", false), c.FreshDim("gemm", false)};
  const bool turned = AttrInt(c.node(), flag) != 0;
  return {t.dims[turned ? 1 : 0], t.dims[turned ? 0 : 1]};
}

Status InferQGemm(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(WantFlag(n, "transA"));
  GE_RETURN_IF_ERROR(WantFlag(n, "transB"));
  GE_RETURN_IF_ERROR(WantFiniteAttr(n, "alpha"));
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "A", 2, 2));
  GE_RETURN_IF_ERROR(WantRankOf(c, 3, "B", 2, 2));
  const auto [rows, inner] = QGemmSides(c, 0, "transA");
  const auto [inner_b, columns] = QGemmSides(c, 3, "transB");
  GE_RETURN_IF_ERROR(SameDim(c, inner, inner_b, "inner sizes of 'A' and 'B'").status());
  GE_RETURN_IF_ERROR(WantOne(c, 1, "a_scale"));
  GE_RETURN_IF_ERROR(WantOne(c, 2, "a_zero_point"));
  GE_RETURN_IF_ERROR(WantOneOrColumns(c, 4, "b_scale", columns));
  GE_RETURN_IF_ERROR(WantOneOrColumns(c, 5, "b_zero_point", columns));
  GE_RETURN_IF_ERROR(WantOne(c, 7, "y_scale"));
  GE_RETURN_IF_ERROR(WantOne(c, 8, "y_zero_point"));
  if (HasInput(c, 7) != HasInput(c, 8)) {
    return Bad(n, fmt::format("input '{}' is absent, wanted both 'y_scale' and 'y_zero_point' or "
                              "neither, for a result in floats",
                              HasInput(c, 7) ? "y_zero_point" : "y_scale"));
  }
  if (HasInput(c, 6) && c.input_type(6).ranked) {
    const std::vector<Dim>& bias = c.input_type(6).dims;
    const Dim out[] = {rows, columns};
    bool fits = bias.size() <= 2;
    for (size_t back = 1; fits && back <= bias.size(); ++back) {
      const Dim have = bias[bias.size() - back], want = out[2 - back];
      fits = !have.known() || have.value == 1 || !want.known() || have == want;
    }
    if (!fits) {
      return Bad(n, fmt::format("input 'C' has shape {}, wanted one that broadcasts to {}",
                                Show(c.dims(), bias), Show(c.dims(), out)));
    }
  }
  const DType out = HasInput(c, 8) ? c.input_type(8).dtype : DType::kFloat;
  return SetTensor(c, 0, out, {rows, columns});
}

// The sum in int32, C with it, scaled at once.
std::vector<ValueId> DecomposeQGemm(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const auto side = [&](size_t i, const char* flag) {
    return AttrInt(node, flag) != 0 ? s.SwapLast(s.In(i)) : s.In(i);
  };
  const ValueId a = side(0, "transA"), b = side(3, "transB");
  ValueId sum = s.IntegerProduct(a, b, s.In(2), s.In(5));
  if (s.Has(6)) sum = s.Pair("Add", sum, s.In(6));
  const ValueId scale = s.Times(s.Pair("Mul", s.In(1), s.In(4)), AttrFloat(node, "alpha"));
  const ValueId y = s.Pair("Mul", s.Cast(sum, DType::kFloat), scale);
  return {s.Has(7) ? s.Quantize(y, s.In(7), s.In(8), s.OutDType(0)) : y};
}

OpDef QGemmRecord() {
  OpDef op = MicrosoftRecord("QGemm", InferQGemm, DecomposeQGemm);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kScale = Bit(DType::kFloat);
  op.inputs = {{"A", kBytes, "TA"},
               {"a_scale", kScale},
               {"a_zero_point", kBytes, "TA"},
               {"B", kBytes, "TB"},
               {"b_scale", kScale},
               {"b_zero_point", kBytes, "TB"},
               {"C", Bit(DType::kInt32), "TC", opt},
               {"y_scale", kScale, "", opt},
               {"y_zero_point", kBytes, "TYZ", opt}};
  op.outputs = {{"Y", kBytes | kScale}};
  op.attrs = {{"alpha", AttrKind::kFloat, 1.0f},
              {"transA", AttrKind::kInt, 0},
              {"transB", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// The product of quantized matrices plus C in its own quanta, as floats or quantized again.
GE_OP(microsoft_q_gemm) = QGemmRecord();

}  // namespace ge

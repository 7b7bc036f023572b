#include <fmt/format.h>

#include <cmath>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Rows and columns of an operand after its transposition; two fresh dims when unranked.
Result<std::vector<Dim>> Matrix(InferContext& c, size_t i, const char* name, const char* flag) {
  const Type& t = c.input_type(i);
  if (!t.ranked) return std::vector<Dim>{c.FreshDim("gemm", false), c.FreshDim("gemm", false)};
  if (t.rank() != 2) {
    return Bad(c.node(), fmt::format("input '{}' has shape {}, wanted rank 2; use MatMul for "
                                     "batches",
                                     name, Show(c.dims(), t.dims)));
  }
  if (AttrInt(c.node(), flag) != 0) return std::vector<Dim>{t.dims[1], t.dims[0]};
  return t.dims;
}

// C broadcasts to M x N in one direction.
Status CheckBias(InferContext& c, std::span<const Dim> out) {
  const Type& t = c.input_type(2);
  if (!t.ranked) return {};
  bool fits = t.rank() <= 2;
  for (size_t back = 1; fits && back <= t.rank(); ++back) {
    const Dim have = t.dims[t.rank() - back], want = out[2 - back];
    fits = !have.known() || have.value == 1 || !want.known() || have == want;
  }
  if (fits) return {};
  return Bad(c.node(), fmt::format("input 'C' has shape {}, wanted one that broadcasts to {}",
                                   Show(c.dims(), t.dims), Show(c.dims(), out)));
}

Status InferGemm(InferContext& c) {
  if (!std::isfinite(AttrFloat(c.node(), "alpha")) || !std::isfinite(AttrFloat(c.node(), "beta"))) {
    return Bad(c.node(), "attribute 'alpha' or 'beta' is not finite, wanted finite numbers");
  }
  GE_ASSIGN_OR_RETURN(std::vector<Dim> a, Matrix(c, 0, "A", "transA"));
  GE_ASSIGN_OR_RETURN(std::vector<Dim> b, Matrix(c, 1, "B", "transB"));
  if (a[1].known() && b[0].known() && a[1] != b[0]) {
    return Bad(c.node(), fmt::format("inner sizes {} and {} of {} x {} (after transposition) "
                                     "differ, wanted equal; transpose or reshape one",
                                     a[1].value, b[0].value, Show(c.dims(), a), Show(c.dims(), b)));
  }
  const std::vector<Dim> out = {a[0], b[1]};
  if (c.input_count() > 2 && c.has_input(2)) GE_RETURN_IF_ERROR(CheckBias(c, out));
  return SetTensor(c, 0, c.input_type(0).dtype, out);
}

Work EffortGemm(const Node& node, std::span<const Type> in, std::span<const Type> out) {
  const bool known = !in.empty() && in[0].is_static() && in[0].rank() == 2 && !out.empty();
  const size_t axis = AttrInt(node, "transA") != 0 ? 0 : 1;
  const double inner = known ? static_cast<double>(in[0].dims[axis].value) : 0;
  return {known ? (2 * inner + 2) * ElementsOf(out[0]) : 0, BytesOf(in, out)};
}

constexpr DTypeSet kTypesGemm = kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64);

}  // namespace

// alpha * A' * B' + beta * C, A' and B' transposed on demand.
GE_OP(gemm) = {
    "",
    "Gemm",
    13,
    {{"A", kTypesGemm, "T"}, {"B", kTypesGemm, "T"}, {"C", kTypesGemm, "T", Arity::kOptional}},
    {{"Y", kTypesGemm, "T"}},
    {{"alpha", AttrKind::kFloat, 1.0f},
     {"beta", AttrKind::kFloat, 1.0f},
     {"transA", AttrKind::kInt, 0},
     {"transB", AttrKind::kInt, 0}},
    InferGemm,
    EffortGemm};

}  // namespace ge

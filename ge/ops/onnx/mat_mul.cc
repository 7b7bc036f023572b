#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferMatMul(InferContext& c) {
  const Type& a = c.input_type(0);
  const Type& b = c.input_type(1);
  if (!a.ranked || !b.ranked) {
    c.SetOutput(0, UnrankedTensor(a.dtype));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(a, 1, "MatMul: input 'A'"));
  GE_RETURN_IF_ERROR(WantRank(b, 1, "MatMul: input 'B'"));
  const Dim inner_a = a.dims.back();
  const Dim inner_b = b.rank() == 1 ? b.dims[0] : b.dims[b.rank() - 2];
  if (inner_a.known() && inner_b.known() && inner_a != inner_b) {
    return Bad(c.node(), fmt::format("inner sizes {} and {} of shapes {} and {} differ, wanted "
                                     "equal",
                                     inner_a.value, inner_b.value, Show(c.dims(), a.dims),
                                     Show(c.dims(), b.dims)));
  }
  std::vector<std::vector<Dim>> batches(2);
  if (a.rank() > 2) batches[0].assign(a.dims.begin(), a.dims.end() - 2);
  if (b.rank() > 2) batches[1].assign(b.dims.begin(), b.dims.end() - 2);
  GE_ASSIGN_OR_RETURN(std::vector<Dim> dims, BroadcastDims(c, batches));
  if (a.rank() > 1) dims.push_back(a.dims[a.rank() - 2]);
  if (b.rank() > 1) dims.push_back(b.dims.back());
  return SetTensor(c, 0, a.dtype, std::move(dims));
}

Work EffortMatMul(const Node&, std::span<const Type> in, std::span<const Type> out) {
  const bool known = !out.empty() && !in.empty() && in[0].is_static() && in[0].rank() > 0;
  const double inner = known ? static_cast<double>(in[0].dims.back().value) : 0;
  return {known ? 2 * inner * ElementsOf(out[0]) : 0, BytesOf(in, out)};
}

constexpr DTypeSet kTypesMatMul = kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64);

}  // namespace

// Matrix products with numpy's rules for vectors and for broadcast batches.
GE_OP(mat_mul) = {"",
                  "MatMul",
                  13,
                  {{"A", kTypesMatMul, "T"}, {"B", kTypesMatMul, "T"}},
                  {{"Y", kTypesMatMul, "T"}},
                  {},
                  InferMatMul,
                  EffortMatMul};

}  // namespace ge

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferDet(InferContext& c) {
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(x, 2, "Det: input 'X'"));
  const size_t lead = x.rank() - 2;
  const auto square = SameDim(c, x.dims[lead], x.dims[lead + 1], "rows and columns of input 'X'");
  if (!square.ok()) return square.status();
  return SetTensor(c, 0, x.dtype, {x.dims.begin(), x.dims.begin() + static_cast<ptrdiff_t>(lead)});
}

// Elimination: n^3 / 3 multiply-adds a matrix.
Work EffortDet(const Node&, std::span<const Type> in, std::span<const Type> out) {
  const bool known = !in.empty() && in[0].is_static() && in[0].rank() >= 2;
  const double n = known ? static_cast<double>(in[0].dims.back().value) : 0;
  return {ElementsOf(in[0]) * n * 2 / 3, BytesOf(in, out)};
}

}  // namespace

// The determinants of square matrices.
GE_OP(det) = {"", "Det", 22, {{"X", kFloats, "T"}}, {{"Y", kFloats, "T"}}, {}, InferDet, EffortDet};

}  // namespace ge

#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferCompress(InferContext& c) {
  const Type& x = c.input_type(0);
  const Dim kept = c.FreshDim("kept", true);
  if (!HasAttr(c.node(), "axis")) return SetTensor(c, 0, x.dtype, {kept});
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  const auto axis =
      NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(x.rank()), "attribute 'axis'");
  if (!axis.ok()) return Bad(c.node(), axis.status().message());
  std::vector<Dim> dims = x.dims;
  dims[static_cast<size_t>(*axis)] = kept;
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

}  // namespace

// Slices along an axis, or elements in row-major order, for which the condition holds.
GE_OP(compress) = {"",
                   "Compress",
                   28,
                   {{"input", kClassic, "T"}, {"condition", Bit(DType::kBool), "T1"}},
                   {{"output", kClassic, "T"}},
                   {{"axis", AttrKind::kInt}},
                   InferCompress,
                   PerOutput<0>};

}  // namespace ge

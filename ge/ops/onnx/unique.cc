#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferUnique(InferContext& c) {
  const Type& x = c.input_type(0);
  const Dim count = c.FreshDim("unique", true);
  const bool by_axis = HasAttr(c.node(), "axis");
  std::vector<Dim> dims = {count};
  Dim length = c.FreshDim("inverse", true);
  if (by_axis && x.ranked) {
    const auto axis = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(x.rank()),
                                    "attribute 'axis'");
    if (!axis.ok()) return Bad(c.node(), axis.status().message());
    dims = x.dims;
    length = dims[static_cast<size_t>(*axis)];
    dims[static_cast<size_t>(*axis)] = count;
  }
  if (by_axis && !x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
  } else {
    GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  }
  for (size_t i = 1; i < c.output_count(); ++i) {
    if (c.has_output(i)) {
      GE_RETURN_IF_ERROR(SetTensor(c, i, DType::kInt64, {i == 2 ? length : count}));
    }
  }
  return {};
}

}  // namespace

// Distinct elements, or slices along an axis: where each stood first, which each element is, and
// how often each occurs.
GE_OP(unique) = {"",
                 "Unique",
                 28,
                 {{"X", kClassic, "T"}},
                 {{"Y", kClassic, "T"},
                  {"indices", Bit(DType::kInt64), "", Arity::kOptional},
                  {"inverse_indices", Bit(DType::kInt64), "", Arity::kOptional},
                  {"counts", Bit(DType::kInt64), "", Arity::kOptional}},
                 {{"axis", AttrKind::kInt}, {"sorted", AttrKind::kInt, 1}},
                 InferUnique,
                 PerOutput<0>};

}  // namespace ge

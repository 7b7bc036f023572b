#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status CheckPadArguments(InferContext& c) {
  const std::string_view mode = AttrString(c.node(), "mode");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    return Bad(c.node(), fmt::format("attribute 'mode' is '{:.64}', wanted constant, reflect, edge "
                                     "or wrap",
                                     mode));
  }
  const Type& pads = c.input_type(1);
  if (pads.ranked && pads.rank() != 1) {
    return Bad(c.node(), "input 'pads' has shape " + Show(c.dims(), pads.dims) +
                             ", wanted rank 1: begins, then ends");
  }
  if (c.input_count() < 3 || !c.has_input(2)) return {};
  const Type& value = c.input_type(2);
  const auto count = ElementCount(value);
  if (value.ranked && (value.rank() > 1 || (count && *count != 1))) {
    return Bad(c.node(), "input 'constant_value' has shape " + Show(c.dims(), value.dims) +
                             ", wanted a scalar");
  }
  return {};
}

// The axes that are padded; nullopt when only the data decide.
Result<std::optional<std::vector<int64_t>>> PaddedAxes(InferContext& c) {
  const auto rank = static_cast<int64_t>(c.input_type(0).rank());
  std::vector<int64_t> axes;
  if (c.input_count() > 3 && c.has_input(3)) {
    const auto numbers = Numbers(c, 3);
    if (!numbers) return std::optional<std::vector<int64_t>>();
    GE_ASSIGN_OR_RETURN(axes, NormalizeAxes(c.node(), *numbers, rank));
  } else {
    for (int64_t a = 0; a < rank; ++a) axes.push_back(a);
  }
  return std::optional(std::move(axes));
}

Status InferPad(InferContext& c) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(CheckPadArguments(c));
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  GE_ASSIGN_OR_RETURN(const auto axes, PaddedAxes(c));
  const auto pads = Content(c, 1);
  std::vector<Dim> dims = x.dims;
  if (!axes) {
    for (Dim& d : dims) d = c.FreshDim("pad", true);
    return SetTensor(c, 0, x.dtype, std::move(dims));
  }
  const size_t n = axes->size();
  const auto count = ElementCount(c.input_type(1));
  if (count && *count != static_cast<int64_t>(2 * n)) {
    return Bad(c.node(), fmt::format("input 'pads' has {} entries, wanted {}: a begin and an end "
                                     "for each of {} axes",
                                     *count, 2 * n, n));
  }
  const bool known = pads && pads->size() == 2 * n;
  for (size_t i = 0; i < n; ++i) {
    Dim& size = dims[static_cast<size_t>((*axes)[i])];
    if (!known) {
      size = c.FreshDim("pad", true);
      continue;
    }
    auto sum = c.dims().Add(size, (*pads)[i]);
    if (sum) sum = c.dims().Add(*sum, (*pads)[n + i]);
    GE_ASSIGN_OR_RETURN(size, Checked(c.node(), sum, "a padded size"));
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

OpDef PadRecord() {
  OpDef op{"", "Pad", 25, {}, {{"output", kAnyDType, "T"}}, {}};
  op.inputs = {{"data", kAnyDType, "T"},
               {"pads", Bit(DType::kInt64)},
               {"constant_value", kAnyDType, "T", Arity::kOptional},
               {"axes", kIndex, "Tind", Arity::kOptional}};
  op.attrs = {{"mode", AttrKind::kString, "constant"}};
  op.infer = InferPad;
  op.work = PerOutput<0>;
  return op;
}

}  // namespace

// Elements before and after some axes: one value, or the tensor reflected, at its edge, or wrapped
// around. Negative pads cut.
GE_OP(pad) = PadRecord();

}  // namespace ge

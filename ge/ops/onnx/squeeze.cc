#include <algorithm>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Axes that the data decide: the rank is known when their number is.
Status InferSqueezeOfUnknownAxes(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& axes = c.input_type(1);
  if (!x.ranked || !axes.is_static()) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  const auto rank = static_cast<int64_t>(x.rank());
  const int64_t count = ElementCount(axes).value_or(0);
  if (count > rank) {
    return Bad(c.node(), "input 'axes' has " + std::to_string(count) +
                             " entries, wanted at most the rank " + std::to_string(rank));
  }
  std::vector<Dim> dims;
  for (int64_t i = count; i < rank; ++i) dims.push_back(c.FreshDim("squeeze", true));
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

// Without axes every size of 1 goes, so a symbolic size leaves the rank open.
Status InferNoAxes(InferContext& c) {
  const Type& x = c.input_type(0);
  std::vector<Dim> dims;
  for (const Dim& d : x.dims) {
    const bool may_be_one = !d.known() && LowerBound(c.dims(), d).value_or(0) <= 1;
    if (may_be_one) {
      c.SetOutput(0, UnrankedTensor(x.dtype));
      return {};
    }
    if (d != KnownDim(1)) dims.push_back(d);
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

Status InferSqueeze(InferContext& c) {
  const Type& x = c.input_type(0);
  const bool given = c.input_count() > 1 && c.has_input(1);
  const auto numbers = given ? Numbers(c, 1) : std::nullopt;
  if (given && !numbers) return InferSqueezeOfUnknownAxes(c);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  if (!given) {
    GE_RETURN_IF_ERROR(InferNoAxes(c));
    PassContent(c);
    return {};
  }
  GE_ASSIGN_OR_RETURN(std::vector<int64_t> axes,
                      NormalizeAxes(c.node(), *numbers, static_cast<int64_t>(x.rank())));
  std::vector<Dim> dims;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) == axes.end()) {
      dims.push_back(x.dims[i]);
    } else if (x.dims[i].known() && x.dims[i].value != 1) {
      return Bad(c.node(), "axis " + std::to_string(i) + " of shape " + Show(c.dims(), x.dims) +
                               " has size " + std::to_string(x.dims[i].value) +
                               ", wanted 1 to remove it");
    }
  }
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  PassContent(c);
  return {};
}

}  // namespace

// Removes axes of size 1: those given, or all of them.
GE_OP(squeeze) = {"",
                  "Squeeze",
                  25,
                  {{"data", kAnyDType, "T"}, {"axes", Bit(DType::kInt64), "", Arity::kOptional}},
                  {{"squeezed", kAnyDType, "T"}},
                  {},
                  InferSqueeze,
                  PerOutput<0>};

}  // namespace ge

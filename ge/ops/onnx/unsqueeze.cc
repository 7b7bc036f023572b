#include <algorithm>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferUnsqueeze(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& axes_type = c.input_type(1);
  if (axes_type.ranked && axes_type.rank() > 1) {
    return Bad(c.node(),
               "input 'axes' has shape " + Show(c.dims(), axes_type.dims) + ", wanted rank 1");
  }
  const auto numbers = Numbers(c, 1);
  const auto count =
      numbers ? std::optional(static_cast<int64_t>(numbers->size())) : ElementCount(axes_type);
  if (!x.ranked || !count) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  if (*count > static_cast<int64_t>(kMaxRank)) {
    return SetTensor(c, 0, x.dtype, std::vector<Dim>(kMaxRank + 1));
  }
  const int64_t rank = static_cast<int64_t>(x.rank()) + *count;
  std::vector<Dim> dims;
  if (!numbers) {
    for (int64_t i = 0; i < rank; ++i) dims.push_back(c.FreshDim("unsqueeze", true));
    return SetTensor(c, 0, x.dtype, std::move(dims));
  }
  GE_ASSIGN_OR_RETURN(std::vector<int64_t> axes, NormalizeAxes(c.node(), *numbers, rank));
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    const bool added = std::find(axes.begin(), axes.end(), i) != axes.end();
    dims.push_back(added ? KnownDim(1) : x.dims[next++]);
  }
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  PassContent(c);
  return {};
}

}  // namespace

// Adds axes of size 1 at the given places of the result.
GE_OP(unsqueeze) = {"",
                    "Unsqueeze",
                    25,
                    {{"data", kAnyDType, "T"}, {"axes", Bit(DType::kInt64)}},
                    {{"expanded", kAnyDType, "T"}},
                    {},
                    InferUnsqueeze,
                    PerOutput<0>};

}  // namespace ge

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferTranspose(InferContext& c) {
  const Type& x = c.input_type(0);
  std::vector<int64_t> perm = AttrInts(c.node(), "perm");
  if (perm.empty() && x.ranked) {
    for (size_t i = x.rank(); i > 0; --i) perm.push_back(static_cast<int64_t>(i - 1));
  }
  const size_t rank = x.ranked ? x.rank() : perm.size();
  if (perm.size() != rank) {
    return Bad(c.node(), fmt::format("attribute 'perm' has {} entries, wanted {}: the input has "
                                     "rank {}",
                                     perm.size(), rank, rank));
  }
  std::vector<bool> seen(rank);
  for (int64_t p : perm) {
    if (p < 0 || p >= static_cast<int64_t>(rank) || seen[static_cast<size_t>(p)]) {
      return Bad(c.node(),
                 fmt::format("attribute 'perm' holds {}{}, wanted each of 0 to {} once", p,
                             p >= 0 && p < static_cast<int64_t>(rank) ? " twice" : "", rank - 1));
    }
    seen[static_cast<size_t>(p)] = true;
  }
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  std::vector<Dim> dims;
  for (int64_t p : perm) dims.push_back(x.dims[static_cast<size_t>(p)]);
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  if (rank <= 1) PassContent(c);
  return {};
}

}  // namespace

// Axis i of the result is axis perm[i] of the input; without perm the axes are reversed.
GE_OP(transpose) = {"",
                    "Transpose",
                    25,
                    {{"data", kAnyDType, "T"}},
                    {{"transposed", kAnyDType, "T"}},
                    {{"perm", AttrKind::kInts}},
                    InferTranspose,
                    PerOutput<0>};

}  // namespace ge

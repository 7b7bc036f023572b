#include <fmt/format.h>

#include "ge/ops/families/indexing.h"
#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferGatherND(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& indices = c.input_type(1);
  const int64_t batch = AttrInt(c.node(), "batch_dims");
  const auto fits = [batch](const Type& t) {
    return !t.ranked || (batch >= 0 && batch < static_cast<int64_t>(t.rank()));
  };
  if (batch < 0 || !fits(x) || !fits(indices)) {
    return Bad(c.node(), fmt::format("attribute 'batch_dims' is {}, wanted 0 or more and less than "
                                     "the ranks of 'data' and 'indices'",
                                     batch));
  }
  const auto lead = static_cast<size_t>(batch);
  std::optional<size_t> length;
  if (x.ranked) {
    GE_ASSIGN_OR_RETURN(length, TupleLength(c, x.rank() - lead));
  }
  if (!x.ranked || !indices.ranked || !length) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  std::vector<Dim> dims(indices.dims.begin(), indices.dims.end() - 1);
  for (size_t d = 0; d < lead; ++d) {
    GE_ASSIGN_OR_RETURN(dims[d], SameDim(c, x.dims[d], indices.dims[d],
                                         fmt::format("batch axis {} of 'data' and 'indices'", d)));
  }
  dims.insert(dims.end(), x.dims.begin() + static_cast<ptrdiff_t>(lead + *length), x.dims.end());
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

}  // namespace

// Slices of data at index tuples, which stand in the last axis of indices.
GE_OP(gather_nd) = {"",
                    "GatherND",
                    13,
                    {{"data", kClassic, "T"}, {"indices", Bit(DType::kInt64)}},
                    {{"output", kClassic, "T"}},
                    {{"batch_dims", AttrKind::kInt, 0}},
                    InferGatherND,
                    PerOutput<0>};

}  // namespace ge

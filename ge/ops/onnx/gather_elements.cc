#include "ge/ops/families/indexing.h"
#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferGatherElements(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& indices = c.input_type(1);
  if (x.ranked) {
    GE_ASSIGN_OR_RETURN(const size_t axis, IndexedAxis(c));
    GE_RETURN_IF_ERROR(CheckElementIndices(c, axis));
  }
  if (indices.ranked) return SetTensor(c, 0, x.dtype, indices.dims);
  c.SetOutput(0, UnrankedTensor(x.dtype));
  return {};
}

}  // namespace

// out[i][j][k] = data[index[i][j][k]][j][k], the index standing at one axis.
GE_OP(gather_elements) = {"",
                          "GatherElements",
                          13,
                          {{"data", kClassic, "T"}, {"indices", kIndex, "Tind"}},
                          {{"output", kClassic, "T"}},
                          {{"axis", AttrKind::kInt, 0}},
                          InferGatherElements,
                          PerOutput<0>};

}  // namespace ge

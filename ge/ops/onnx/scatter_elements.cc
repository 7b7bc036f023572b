#include "ge/ops/families/indexing.h"
#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferScatterElements(InferContext& c) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(CheckReduction(c));
  if (c.input_type(1).ranked) {
    GE_RETURN_IF_ERROR(WantShape(c, 2, "updates", c.input_type(1).dims));
  }
  if (x.ranked) {
    GE_ASSIGN_OR_RETURN(const size_t axis, IndexedAxis(c));
    GE_RETURN_IF_ERROR(CheckElementIndices(c, axis));
  }
  return InferSame(c);
}

OpDef ScatterElementsRecord() {
  OpDef op{"", "ScatterElements", 18, {}, {{"output", kClassic, "T"}}, {}};
  op.inputs = {{"data", kClassic, "T"}, {"indices", kIndex, "Tind"}, {"updates", kClassic, "T"}};
  op.attrs = {{"axis", AttrKind::kInt, 0}, {"reduction", AttrKind::kString, "none"}};
  op.infer = InferScatterElements;
  op.work = PerOutput<0>;
  return op;
}

}  // namespace

// A copy of data in which out[index[i][j]][j] becomes, or is reduced with, updates[i][j].
GE_OP(scatter_elements) = ScatterElementsRecord();

}  // namespace ge

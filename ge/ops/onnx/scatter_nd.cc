#include "ge/ops/families/indexing.h"
#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferScatterND(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& indices = c.input_type(1);
  GE_RETURN_IF_ERROR(CheckReduction(c));
  if (x.ranked) {
    if (x.rank() == 0) return Bad(c.node(), "input 'data' is a scalar, wanted rank 1 or more");
    GE_ASSIGN_OR_RETURN(const std::optional<size_t> length, TupleLength(c, x.rank()));
    if (length) {
      std::vector<Dim> wanted(indices.dims.begin(), indices.dims.end() - 1);
      wanted.insert(wanted.end(), x.dims.begin() + static_cast<ptrdiff_t>(*length), x.dims.end());
      GE_RETURN_IF_ERROR(WantShape(c, 2, "updates", wanted));
    }
  }
  return InferSame(c);
}

OpDef ScatterNDRecord() {
  OpDef op{"", "ScatterND", 18, {}, {{"output", kClassic, "T"}}, {}};
  op.inputs = {
      {"data", kClassic, "T"}, {"indices", Bit(DType::kInt64)}, {"updates", kClassic, "T"}};
  op.attrs = {{"reduction", AttrKind::kString, "none"}};
  op.infer = InferScatterND;
  op.work = PerOutput<0>;
  return op;
}

}  // namespace

// A copy of data whose slices at index tuples become, or are reduced with, the updates.
GE_OP(scatter_nd) = ScatterNDRecord();

}  // namespace ge

#include <fmt/format.h>

#include "ge/ops/elementwise.h"

namespace ge {
namespace {

// The slope broadcasts to X, never X to the slope.
Status InferPRelu(InferContext& c) {
  const Type &x = c.input_type(0), &slope = c.input_type(1);
  if (x.ranked && slope.ranked) {
    bool fits = slope.rank() <= x.rank();
    for (size_t back = 1; fits && back <= slope.rank(); ++back) {
      const Dim from = slope.dims[slope.rank() - back], to = x.dims[x.rank() - back];
      fits = !from.known() || from.value == 1 || !to.known() || from.value == to.value;
    }
    if (!fits) {
      return Bad(c.node(), fmt::format("input 'slope' has shape {}, wanted one that broadcasts to "
                                       "{}, the shape of input 'X'",
                                       Show(c.dims(), slope.dims), Show(c.dims(), x.dims)));
    }
  }
  return InferSame(c);
}

OpDef PReluRecord() {
  const DTypeSet types = kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64);
  OpDef op{"", "PRelu", 16, {{"X", types, "T"}, {"slope", types, "T"}}, {{"Y", types, "T"}}, {}};
  op.infer = InferPRelu;
  op.work = PerOutput<2>;
  return op;
}

}  // namespace

// x, or slope * x where x is negative.
GE_OP(p_relu) = PReluRecord();

}  // namespace ge

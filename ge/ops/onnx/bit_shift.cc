#include <fmt/format.h>

#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferBitShift(InferContext& c) {
  const std::string_view way = AttrString(c.node(), "direction");
  if (way != "LEFT" && way != "RIGHT") {
    return Bad(c.node(),
               fmt::format("attribute 'direction' is '{:.64}', wanted 'LEFT' or 'RIGHT'", way));
  }
  return InferBroadcast(c);
}

OpDef BitShiftRecord() {
  OpDef op{"", "BitShift", 28, {}, {}, {{"direction", AttrKind::kString, true}}, InferBitShift};
  op.inputs = {{"X", kInts, "T"}, {"Y", kInts, "T"}};
  op.outputs = {{"Z", kInts, "T"}};
  return op;
}

}  // namespace

// X's bits moved by Y places, with broadcasting. Copies of the sign bit come in from the left. A
// shift by the width or more, or by a negative number, leaves the sign alone of a right shift, else
// 0.
GE_OP(bit_shift) = BitShiftRecord();

}  // namespace ge

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
  OpDef op{"", "BitShift", 11, {}, {}, {{"direction", AttrKind::kString, true}}, InferBitShift};
  op.inputs = {{"X", kUnsignedInts, "T"}, {"Y", kUnsignedInts, "T"}};
  op.outputs = {{"Z", kUnsignedInts, "T"}};
  return op;
}

}  // namespace

// X's bits moved by Y places, with broadcasting; a shift by the width or more leaves 0.
GE_OP(bit_shift) = BitShiftRecord();

}  // namespace ge

#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

// The way back needs the mask that was drawn.
std::vector<Val> DropoutWithMask(Back& b) {
  return b.y(1) || !b.x(2) ? std::vector<Val>{} : Again(b, {b.x(0), b.x(1), b.x(2)}, 2);
}

void DropoutBack(Back& b) {
  if (!b.x(2)) return b.Give(0, b.ct());
  Fn& fn = b.fn();
  const int32_t dtype = b.type(b.ct()).dtype;
  const Val ratio = b.x(1) ? fn.Cast(b.x(1), dtype) : fn.Scalar(dtype, 0.5);
  const Val kept = Where(b.y(1), b.ct() / (1 - ratio), 0.0);
  b.Give(0, Where(b.x(2), kept, b.ct()));
}

}  // namespace

GE_GRAD(dropout) {
  return {
      {"",
       "Dropout",
       DropoutBack,
       {{1, "which elements it drops is drawn anew for another ratio", true}, {2, "true or false"}},
       DropoutWithMask}};
}

}  // namespace ge::grad

// Max, Min, Clip, Mean and Mod. Elements that are the extreme one together share equally; Clip's
// bounds belong to what passes.
#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

void SharedBack(Back& b) {
  if (b.inputs() == 1) return b.Give(0, b.ct());
  const int32_t dtype = b.type(b.y()).dtype;
  std::vector<Val> at;
  for (uint32_t i = 0; i < b.inputs(); ++i) {
    at.push_back(Ones(Compare("Equal", b.x(i), b.y()), dtype));
  }
  const Val share = b.ct() / b.fn().Sum(at);
  for (uint32_t i = 0; i < b.inputs(); ++i) {
    if (b.wants(i)) b.Give(i, at[i] * share);
  }
}

void AverageBack(Back& b) {
  const Val share = b.ct() / static_cast<double>(b.inputs());
  for (uint32_t i = 0; i < b.inputs(); ++i) b.Give(i, share);
}

// min(max(x, low), high): high wins where the bounds cross.
void ClipBack(Back& b) {
  const Val x = b.x(0), low = b.x(1), high = b.x(2);
  Fn& fn = b.fn();
  const Val below = low ? Compare("Less", x, low) : Val{};
  const Val above = high ? Compare("Greater", low ? fn.Op("Max", {x, low}) : x, high) : Val{};
  const Val zero = fn.Scalar(b.type(x).dtype, 0);
  const auto keep = [&](Val v) { return above ? Where(above, zero, v) : v; };
  if (b.wants(0)) b.Give(0, keep(below ? Where(below, zero, b.ct()) : b.ct()));
  if (b.wants(1)) b.Give(1, keep(Where(below, b.ct(), zero)));
  if (b.wants(2)) b.Give(2, Where(above, b.ct(), zero));
}

// y = x - n d with whole n. At its jumps the slope of either side.
// y = a - n b, n the rounded quotient, which does not move.
void ModBack(Back& b) {
  b.Give(0, b.ct());
  if (b.wants(1)) b.Give(1, -(b.ct() * Unary("Round", (b.x(0) - b.y()) / b.x(1))));
}

}  // namespace

GE_GRAD(extreme) {
  return {{"", "Max", SharedBack},
          {"", "Min", SharedBack},
          {"", "Mean", AverageBack},
          {"", "Clip", ClipBack},
          {"", "Mod", ModBack}};
}

}  // namespace ge::grad

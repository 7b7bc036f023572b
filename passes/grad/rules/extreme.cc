// Max, Min, Clip, Mean and Mod. Elements that are the extreme one together share equally; Clip's
// bounds belong to what passes.
#include <cstring>
#include <optional>

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

// A constant of one element.
std::optional<double> KnownFloat(Back& b, Val v) {
  const ge_edit* e = b.fn().edit();
  const ge_value& value = *e->value(e->host, b.fn().id(), v.id);
  const bool single = value.type.dtype == GE_F32 && value.data_bytes == sizeof(float);
  const bool twice = value.type.dtype == GE_F64 && value.data_bytes == sizeof(double);
  if (value.data == nullptr || (!single && !twice)) return std::nullopt;
  float narrow = 0;
  double wide = 0;
  std::memcpy(single ? static_cast<void*>(&narrow) : &wide, value.data, value.data_bytes);
  return single ? narrow : wide;
}

// Whether the bounds are known not to cross.
bool AreOrdered(Back& b, Val low, Val high) {
  if (!low || !high) return low || high;
  const auto from = KnownFloat(b, low), to = KnownFloat(b, high);
  return from && to && *from <= *to;
}

// min(max(x, low), high): high wins where the bounds cross.
void ClipBack(Back& b) {
  const Val x = b.x(0), low = b.x(1), high = b.x(2);
  Fn& fn = b.fn();
  if (!b.wants(1) && !b.wants(2) && AreOrdered(b, low, high)) {
    // What passed is what did not change: one mask over memory.
    return b.Give(0, Where(Compare("Equal", x, b.y()), b.ct(), 0));
  }
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

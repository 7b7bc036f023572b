#include <fmt/format.h>

#include "ge/ops/elementwise.h"

namespace ge {
namespace {

// The sign of the divisor.
std::optional<Dim> FoldFloorMod(DimTable& d, Dim a, Dim b) {
  if (b == KnownDim(0)) return std::nullopt;  // the data decide whether it is ever computed
  if (a.known() && b == KnownDim(-1)) return KnownDim(0);  // INT64_MIN / -1 overflows
  if (LowerBound(d, b).value_or(0) < 1 && !(a.known() && b.known())) return std::nullopt;
  return d.Mod(a, b);
}

// The sign of the dividend; both agree when neither side is negative.
std::optional<Dim> FoldTruncatedMod(DimTable& d, Dim a, Dim b) {
  if (b == KnownDim(0)) return std::nullopt;
  if (a.known() && b.known()) return KnownDim(b.value == -1 ? 0 : a.value % b.value);
  if (LowerBound(d, a).value_or(-1) < 0 || LowerBound(d, b).value_or(0) < 1) return std::nullopt;
  return d.Mod(a, b);
}

Status InferMod(InferContext& c) {
  const int64_t fmod = AttrInt(c.node(), "fmod");
  if (fmod != 0 && fmod != 1) {
    return Bad(c.node(), fmt::format("attribute 'fmod' is {}, wanted 0 or 1", fmod));
  }
  return InferFolded(c, fmod == 0 ? FoldFloorMod : FoldTruncatedMod);
}

OpDef ModRecord() {
  OpDef op = Binary("Mod", 28, kNumeric, InferMod);
  op.attrs = {{"fmod", AttrKind::kInt, 0}};
  op.work = PerOutput<10>;
  return op;
}

}  // namespace

// The remainder of a / b with broadcasting: with b's sign or, with fmod, with a's.
GE_OP(mod) = ModRecord();

}  // namespace ge

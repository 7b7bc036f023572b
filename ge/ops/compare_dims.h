// Comparisons of known contents: 1 or 0 where the ranges of the symbols decide them, nullopt where
// they do not. Any thread may call.
#pragma once

#include <optional>

#include "ge/ops/known_ints.h"

namespace ge {

// a < b.
inline std::optional<Dim> LessDim(DimTable& d, Dim a, Dim b) {
  if (a.known() && b.known()) return KnownDim(a.value < b.value);
  const auto difference = d.Sub(a, b);
  if (!difference) return std::nullopt;
  if (UpperBound(d, *difference).value_or(0) < 0) return KnownDim(1);
  if (LowerBound(d, *difference).value_or(-1) >= 0) return KnownDim(0);
  return std::nullopt;
}

inline std::optional<Dim> NotDim(std::optional<Dim> truth) {
  if (!truth) return std::nullopt;
  return KnownDim(*truth == KnownDim(0));
}

}  // namespace ge

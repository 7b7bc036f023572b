// Comparisons of known contents: 1 or 0 where the ranges of the symbols decide them, else nullopt.
// Any thread may call.
#pragma once

#include <optional>

#include "ge/ops/known_ints.h"

namespace ge {

// left < right.
inline std::optional<Dim> LessDim(DimTable& dims, Dim left, Dim right) {
  if (left.known() && right.known()) return KnownDim(left.value < right.value);
  const auto difference = dims.Sub(left, right);
  if (!difference) return std::nullopt;
  if (UpperBound(dims, *difference).value_or(0) < 0) return KnownDim(1);
  if (LowerBound(dims, *difference).value_or(-1) >= 0) return KnownDim(0);
  return std::nullopt;
}

inline std::optional<Dim> NotDim(std::optional<Dim> truth) {
  if (!truth) return std::nullopt;
  return KnownDim(*truth == KnownDim(0));
}

}  // namespace ge

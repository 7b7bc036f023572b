// WatchConditions: what `ge run --watch` looks for in values. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ge/base/status.h"
#include "ge/capsule/statistics.h"
#include "ge/ir/dtype.h"

namespace ge::tool {

struct WatchConditions {
  bool nan = false, inf = false;
  std::optional<double> above;  // magnitudes beyond it; infinity is one, NaN is none

  // INVALID_ARGUMENT: not "nan", "inf" or "abs>NUMBER", with commas between.
  static Result<WatchConditions> Parse(std::string_view text);
  // Whether some element of a tensor with these statistics meets one.
  bool Meets(const TensorStatistics& s) const;
  bool Meets(double element) const;
};

// The first element that meets a condition, if any.
struct WatchedElement {
  uint64_t index = 0;  // in row-major order
  double value = 0;
};
std::optional<WatchedElement> FirstMeeting(const WatchConditions& conditions, DType dtype,
                                           std::span<const std::byte> bytes);

}  // namespace ge::tool

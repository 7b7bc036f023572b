// state_window of com.microsoft's operators with a state: with W > 0 states have an axis of W in
// front, the state after each of the last W steps, of which the last is read back. Not an operator.
// Any thread may call.
#pragma once

#include <algorithm>

#include "ge/ops/microsoft/checks.h"

namespace ge {

inline constexpr int64_t kMostStateWindow = 8;  // ONNX Runtime's limit

inline Status WantStateWindow(const Node& n) {
  const int64_t window = AttrInt(n, "state_window");
  if (window >= 0 && window <= kMostStateWindow) return {};
  return Bad(
      n, fmt::format("attribute 'state_window' is {}, wanted 0 to {}", window, kMostStateWindow));
}

// How many states a window has of so many steps: the last one always, which is the first state
// where there are no steps.
inline int64_t StatesInWindow(int64_t window, int64_t steps) {
  return std::max<int64_t>(1, std::min(window, steps));
}

}  // namespace ge

// Milliseconds of a clock that never steps back; for durations only.
#pragma once

#include <chrono>

namespace ge {

inline double NowMs() {
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

}  // namespace ge

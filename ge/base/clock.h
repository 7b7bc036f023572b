// Times of a clock that never steps back; for durations only.
#pragma once

#include <chrono>
#include <cstdint>

namespace ge {

inline uint64_t NowNs() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

inline double NowMs() {
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

}  // namespace ge

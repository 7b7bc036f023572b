// Spend and StopScope end a launch of plain loops at the host's wish. Loops report their work with
// Spend; now and then Spend reads ge_launch.stop. If it is set, Spend throws Stopped through the
// kernel, which owns nothing at run time, and Exec::Run returns GE_CANCELLED. A launch runs in one
// thread, so the stop word is thread-local.
#pragma once

#include <cstdint>

namespace ref {

struct Stopped {};

namespace stop_detail {
// A few milliseconds of the slowest loops.
inline constexpr int64_t kBetweenLooks = 1 << 20;
inline thread_local const uint32_t* word = nullptr;  // of the launch; may be null
inline thread_local int64_t left = kBetweenLooks;
}  // namespace stop_detail

inline void LookForStop() {
  stop_detail::left = stop_detail::kBetweenLooks;
  const uint32_t* word = stop_detail::word;
  if (word != nullptr && __atomic_load_n(word, __ATOMIC_RELAXED) != 0) throw Stopped();
}

// `work`: elements visited, or multiply-adds, since the last call. Loops whose work does not grow
// with the bytes they touch call it at least every 2^28 of them, mostly once a row.
inline void Spend(int64_t work) {
  if ((stop_detail::left -= work) < 0) LookForStop();
}

// Sets the stop word while a launch runs.
class StopScope {
 public:
  explicit StopScope(const uint32_t* word) : outer_(stop_detail::word) { stop_detail::word = word; }
  ~StopScope() { stop_detail::word = outer_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const uint32_t* outer_;
};

}  // namespace ref

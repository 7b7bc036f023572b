#include "ge/run/run_clock.h"

#include <algorithm>
#include <chrono>

namespace ge {

uint64_t RunClock::Now() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

RunClock::RunClock(const Plan& plan) : plan_(plan) {
  const size_t rows = plan.functions[0].segments.size() + 1;
  warm_ns_.assign(rows * kKeep, 0.0f);
  cold_ns_.assign(rows, 0.0f);
  constexpr int kReads = 64;
  const uint64_t begin = Now();
  uint64_t end = begin;
  for (int i = 0; i < kReads; ++i) end = Now();
  read_ns_ = static_cast<double>(end - begin) / kReads;
}

void RunClock::Take(std::span<const uint64_t> stamps, bool cold) {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  const auto& code = plan_.functions[0].code;
  if (!lock.owns_lock() || stamps.size() != code.size() + 1) return;
  for (size_t i = 0; i < code.size(); ++i) {
    // Work on a stream is not over when its launch returns.
    if (code[i].op != PlanOp::kLaunch || code[i].stream != 0) continue;
    Put(code[i].segment, static_cast<double>(stamps[i + 1] - stamps[i]) - read_ns_, cold);
  }
  const double all = static_cast<double>(stamps.back() - stamps.front());
  Put(plan_.functions[0].segments.size(), all - read_ns_ * static_cast<double>(code.size()), cold);
  ++(cold ? colds_ : warm_);
}

void RunClock::Put(size_t row, double ns, bool cold) {
  const float kept = static_cast<float>(std::max(ns, 1.0));
  if (cold) {
    cold_ns_[row] = kept;
  } else {
    warm_ns_[row * kKeep + warm_ % kKeep] = kept;
  }
}

RunClock::Sample RunClock::Of(size_t row) const {
  if (warm_ == 0) {
    if (colds_ == 0 || cold_ns_[row] == 0) return {};
    return {cold_ns_[row], 1, true};
  }
  const uint32_t n = std::min(warm_, kKeep);
  auto begin = warm_ns_.begin() + static_cast<int64_t>(row * kKeep);
  std::vector<float> sorted(begin, begin + n);
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() == 0) return {};  // not timed by itself
  return {sorted[n / 2], n, false};
}

RunClock::Summary RunClock::Read() const {
  std::lock_guard<std::mutex> lock(mutex_);
  Summary out;
  const size_t n = plan_.functions[0].segments.size();
  for (size_t s = 0; s < n; ++s) out.segments.push_back(Of(s));
  out.total = Of(n);
  return out;
}

uint32_t RunClock::warm_runs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return warm_;
}

}  // namespace ge

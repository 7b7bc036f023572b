#include "ge/run/run_clock.h"

#include <algorithm>

#include "ge/base/clock.h"

namespace ge {

uint64_t RunClock::Now() { return NowNs(); }

RunClock::RunClock(const Plan& plan) : plan_(plan) {
  const PlanFunction& f = plan.functions[0];
  event_device_.assign(f.events.size(), 0);
  for (uint32_t i = 0; i < f.code.size(); ++i) {
    const Instruction& in = f.code[i];
    if (in.stream == 0) continue;
    if (in.op == PlanOp::kSignal) event_device_[in.event] = f.streams[in.stream].device;
    const bool moves = in.op == PlanOp::kCopy && f.values[in.src].domain != f.values[in.dst].domain;
    if (moves) copies_.push_back(i);
  }
  busy_.reserve(f.code.size());
  const size_t rows = f.segments.size() + copies_.size() + plan.devices.size() + 1;
  warm_ns_.assign(rows * kKeep, 0.0f);
  cold_ns_.assign(rows, 0.0f);
  constexpr int kReads = 64;
  const uint64_t begin = Now();
  uint64_t end = begin;
  for (int i = 0; i < kReads; ++i) end = Now();
  read_ns_ = static_cast<double>(end - begin) / kReads;
}

void RunClock::Take(std::span<const uint64_t> stamps, std::span<const Span> work, bool cold) {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  const auto& code = plan_.functions[0].code;
  if (!lock.owns_lock() || stamps.size() != code.size() + 1) return;
  for (size_t i = 0; i < code.size(); ++i) {
    // Work on a stream is not over when its launch returns: its stamps tell, if anything.
    if (code[i].op != PlanOp::kLaunch || code[i].stream != 0) continue;
    Put(code[i].segment, static_cast<double>(stamps[i + 1] - stamps[i]) - read_ns_, cold);
  }
  if (work.size() == code.size()) PutWork(stamps, work, cold);
  const double all = static_cast<double>(stamps.back() - stamps.front());
  Put(cold_ns_.size() - 1, all - read_ns_ * static_cast<double>(code.size()), cold);
  ++(cold ? colds_ : warm_);
}

void RunClock::PutWork(std::span<const uint64_t> stamps, std::span<const Span> work, bool cold) {
  const PlanFunction& f = plan_.functions[0];
  for (size_t i = 0; i < work.size(); ++i) {
    if (f.code[i].op != PlanOp::kLaunch || work[i].end == 0) continue;
    Put(f.code[i].segment, static_cast<double>(work[i].end - work[i].begin), cold);
  }
  size_t row = f.segments.size();
  for (const uint32_t i : copies_) {
    if (work[i].end != 0) Put(row, static_cast<double>(work[i].end - work[i].begin), cold);
    ++row;
  }
  NoteBusy(stamps, work);
  for (DeviceId d = 0; d < plan_.devices.size(); ++d, ++row) {
    const Visits visits = plan_.devices[d].async ? VisitsOf(d, stamps) : Visits();
    if (visits.count != 0) Put(row, static_cast<double>(visits.idle_ns) / visits.count, cold);
  }
}

// The host works in what it does itself, and elsewhere calls or waits.
void RunClock::NoteBusy(std::span<const uint64_t> stamps, std::span<const Span> work) {
  const PlanFunction& f = plan_.functions[0];
  busy_.clear();
  for (size_t i = 0; i < work.size(); ++i) {
    const Instruction& in = f.code[i];
    if (in.op != PlanOp::kLaunch && in.op != PlanOp::kCopy) continue;
    const DeviceId device = f.streams[in.stream].device;
    if (in.stream == 0) busy_.push_back({{stamps[i], stamps[i + 1]}, 0});
    if (in.stream != 0 && work[i].end != 0) busy_.push_back({work[i], device});
  }
  std::sort(busy_.begin(), busy_.end(),
            [](const Busy& a, const Busy& b) { return a.span.begin < b.span.begin; });
}

// Time between the two in which the device or the host worked.
uint64_t RunClock::BusyIn(DeviceId device, uint64_t begin, uint64_t end) const {
  uint64_t sum = 0, at = begin;
  for (const Busy& b : busy_) {
    if (b.device != 0 && b.device != device) continue;
    const uint64_t from = std::max(at, b.span.begin), until = std::min(end, b.span.end);
    if (until <= from) continue;
    sum += until - from;
    at = until;
  }
  return sum;
}

// A visit begins with the host's first call to a stream of the device and ends when the host has
// waited for one. What it waits for without a call between belongs to the same visit.
RunClock::Visits RunClock::VisitsOf(DeviceId device, std::span<const uint64_t> stamps) {
  const PlanFunction& f = plan_.functions[0];
  Visits out;
  bool open = false;
  uint64_t begin = 0;
  for (size_t i = 0; i < f.code.size(); ++i) {
    const Instruction& in = f.code[i];
    if (in.stream != 0 && f.streams[in.stream].device == device && !open) {
      open = true;
      begin = stamps[i];
      ++out.count;
    }
    if (in.op != PlanOp::kWait || in.stream != 0 || event_device_[in.event] != device) continue;
    if (!open) begin = stamps[i];
    const uint64_t end = stamps[i + 1];
    out.idle_ns += end - begin - std::min(end - begin, BusyIn(device, begin, end));
    open = false;
  }
  if (open && out.count > 0) --out.count;  // nobody waited for the last
  return out;
}

void RunClock::Put(size_t row, double ns, bool cold) {
  const float kept = static_cast<float>(std::max(ns, 1.0));
  if (cold) {
    cold_ns_[row] = kept;
  } else {
    warm_ns_[row * kKeep + warm_ % kKeep] = kept;
  }
}

RunClock::Sample RunClock::Of(size_t row, double share) const {
  if (warm_ == 0) {
    if (colds_ == 0 || cold_ns_[row] == 0) return {};
    return {cold_ns_[row], 1, true};
  }
  const uint32_t n = std::min(warm_, kKeep);
  auto begin = warm_ns_.begin() + static_cast<int64_t>(row * kKeep);
  std::vector<float> sorted(begin, begin + n);
  std::erase(sorted, 0.0f);  // of runs in which it was not timed by itself
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) return {};
  const auto at = static_cast<size_t>(share * static_cast<double>(sorted.size()));
  return {sorted[at], static_cast<uint32_t>(sorted.size()), false};
}

RunClock::Summary RunClock::Read() const {
  std::lock_guard<std::mutex> lock(mutex_);
  Summary out;
  const size_t n = plan_.functions[0].segments.size();
  for (size_t s = 0; s < n; ++s) out.segments.push_back(Of(s));
  size_t row = n;
  for (const uint32_t i : copies_) out.copies.push_back({i, Of(row++)});
  // Whatever else the machine does makes a visit longer, and nothing makes it shorter.
  constexpr double kOfWaits = 0.25;
  for (size_t d = 0; d < plan_.devices.size(); ++d) out.waits.push_back(Of(row++, kOfWaits));
  out.total = Of(row);
  return out;
}

uint32_t RunClock::warm_runs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return warm_;
}

}  // namespace ge

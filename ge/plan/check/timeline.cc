#include "ge/plan/check/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/plan/check/describe.h"

namespace ge::check {

// One pass in the host's order of issue: a device takes a wait for an event's signals so far, so
// whatever an instruction waits for stands before it, and nothing can block another.
class TimelineMaker {
 public:
  explicit TimelineMaker(const PlanFunction& f) : f_(f) {
    t_.streams_ = static_cast<uint32_t>(f.streams.size());
    t_.stream_.resize(f.code.size());
    t_.index_.resize(f.code.size());
    t_.start_.resize(f.code.size() * t_.streams_);
    clock_.assign(t_.streams_, std::vector<uint32_t>(t_.streams_));
    signals_.resize(f.events.size());
  }

  Result<Timeline> Run() {
    std::vector<uint32_t> count(t_.streams_);
    for (uint32_t i = 0; i < f_.code.size(); ++i) {
      t_.stream_[i] = f_.code[i].stream;
      t_.index_[i] = count[f_.code[i].stream]++;
      GE_RETURN_IF_ERROR(Issue(i));
    }
    t_.end_ = clock_[0];
    return std::move(t_);
  }

 private:
  uint32_t* Start(uint32_t i) { return &t_.start_[size_t{i} * t_.streams_]; }
  void Join(uint32_t* start, const uint32_t* other) const {
    for (uint32_t s = 0; s < t_.streams_; ++s) start[s] = std::max(start[s], other[s]);
  }

  Status Issue(uint32_t i) {
    const Instruction& in = f_.code[i];
    uint32_t* start = Start(i);
    Join(start, clock_[0].data());  // all that the host has executed by now
    Join(start, clock_[in.stream].data());
    // A timeline event stands at 0 before anything is signalled: a wait for 0 orders nothing.
    if (in.op == PlanOp::kWait && in.event_value > 0) {
      const std::vector<uint32_t>& so_far = signals_[in.event];  // values ascending
      const auto signal = std::partition_point(so_far.begin(), so_far.end(), [&](uint32_t s) {
        return f_.code[s].event_value < in.event_value;
      });
      if (signal == so_far.end()) return Early(i);
      Join(start, Start(*signal));
    }
    if (in.op == PlanOp::kSignal) signals_[in.event].push_back(i);
    std::copy(start, start + t_.streams_, clock_[in.stream].begin());
    clock_[in.stream][in.stream] = t_.index_[i] + 1;
    return {};
  }

  Status Early(uint32_t i) const {
    const Instruction& wait = f_.code[i];
    for (uint32_t s = i + 1; s < f_.code.size(); ++s) {
      const Instruction& in = f_.code[s];
      if (in.op != PlanOp::kSignal || in.event != wait.event || in.event_value < wait.event_value) {
        continue;
      }
      return Fault(f_, fmt::format("{} is issued before {}; wanted the signal first, since devices "
                                   "count an event that nobody has signalled yet as reached",
                                   InstructionText(f_, i), InstructionText(f_, s)));
    }
    return Fault(f_, fmt::format("{} waits for nothing: no instruction signals event {} to {} or "
                                 "more",
                                 InstructionText(f_, i), wait.event, wait.event_value));
  }

  const PlanFunction& f_;
  Timeline t_;
  std::vector<std::vector<uint32_t>> clock_;    // per stream: what is finished for it
  std::vector<std::vector<uint32_t>> signals_;  // per event: those issued so far
};

Result<Timeline> Timeline::Make(const PlanFunction& function) {
  return TimelineMaker(function).Run();
}

}  // namespace ge::check

#include "ge/plan/check/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/plan/check/describe.h"

namespace ge::check {

// Runs host and streams as far as they go, in any order that the model permits: the clocks do not
// depend on which, since a wait always joins the first signal that reaches its value.
class TimelineMaker {
 public:
  explicit TimelineMaker(const PlanFunction& f) : f_(f) {
    t_.streams_ = static_cast<uint32_t>(f.streams.size());
    t_.stream_.resize(f.code.size());
    t_.index_.resize(f.code.size());
    t_.start_.resize(f.code.size() * t_.streams_);
    clock_.assign(t_.streams_, std::vector<uint32_t>(t_.streams_));
    queue_.resize(t_.streams_);
    next_.resize(t_.streams_);
    signals_.resize(f.events.size());
    std::vector<uint32_t> count(t_.streams_);
    for (uint32_t i = 0; i < f.code.size(); ++i) {
      const Instruction& in = f.code[i];
      t_.stream_[i] = in.stream;
      t_.index_[i] = count[in.stream]++;
      if (in.op == PlanOp::kSignal) signals_[in.event].push_back(i);
    }
    done_.resize(f.code.size());
  }

  Result<Timeline> Run() {
    bool moved = true;
    while (moved) {
      moved = AdvanceHost();
      for (uint32_t s = 1; s < t_.streams_; ++s) moved = AdvanceStream(s) || moved;
    }
    GE_RETURN_IF_ERROR(StuckWait());
    t_.end_ = clock_[0];
    return std::move(t_);
  }

 private:
  uint32_t* Start(uint32_t i) { return &t_.start_[size_t{i} * t_.streams_]; }

  // The signal that lets a wait pass, or nullptr when there is none in the function.
  const uint32_t* SignalFor(const Instruction& wait) const {
    const std::vector<uint32_t>& of_event = signals_[wait.event];
    const auto it = std::partition_point(of_event.begin(), of_event.end(), [&](uint32_t i) {
      return f_.code[i].event_value < wait.event_value;
    });
    return it == of_event.end() ? nullptr : &*it;
  }

  // Executes instruction i on its stream; false when it is a wait that cannot pass yet.
  bool Execute(uint32_t i) {
    const Instruction& in = f_.code[i];
    std::vector<uint32_t>& clock = clock_[in.stream];
    uint32_t* start = Start(i);
    // A timeline event stands at 0 before anything is signalled: a wait for 0 orders nothing.
    if (in.op == PlanOp::kWait && in.event_value > 0) {
      const uint32_t* signal = SignalFor(in);
      if (!signal || !done_[*signal]) return false;
      const uint32_t* other = Start(*signal);
      for (uint32_t s = 0; s < t_.streams_; ++s) start[s] = std::max(start[s], other[s]);
    }
    for (uint32_t s = 0; s < t_.streams_; ++s) start[s] = std::max(start[s], clock[s]);
    std::copy(start, start + t_.streams_, clock.begin());
    clock[in.stream] = t_.index_[i] + 1;
    done_[i] = true;
    return true;
  }

  bool AdvanceHost() {
    const uint32_t before = issued_;
    while (issued_ < f_.code.size()) {
      const uint32_t s = f_.code[issued_].stream;
      if (s == 0) {
        if (!Execute(issued_)) break;
      } else {
        std::copy(clock_[0].begin(), clock_[0].end(), Start(issued_));
        queue_[s].push_back(issued_);
      }
      ++issued_;
    }
    return issued_ != before;
  }

  bool AdvanceStream(uint32_t s) {
    const size_t before = next_[s];
    while (next_[s] < queue_[s].size() && Execute(queue_[s][next_[s]])) ++next_[s];
    return next_[s] != before;
  }

  // Names a wait that nothing signals, since that is the cause; else one of a circle.
  Status StuckWait() const {
    std::vector<uint32_t> stuck;
    if (issued_ < f_.code.size()) stuck.push_back(issued_);
    for (uint32_t s = 1; s < t_.streams_; ++s) {
      if (next_[s] < queue_[s].size()) stuck.push_back(queue_[s][next_[s]]);
    }
    if (stuck.empty()) return {};
    const auto alone = std::find_if(stuck.begin(), stuck.end(),
                                    [&](uint32_t i) { return !SignalFor(f_.code[i]); });
    return Stuck(alone != stuck.end() ? *alone : stuck.front());
  }

  Status Stuck(uint32_t i) const {
    const Instruction& in = f_.code[i];
    const uint32_t* signal = SignalFor(in);
    if (!signal) {
      return Fault(f_, fmt::format("deadlock: {} never passes, because no instruction signals "
                                   "event {} to {} or more",
                                   InstructionText(f_, i), in.event, in.event_value));
    }
    return Fault(f_, fmt::format("deadlock: {} never passes, because {} can only run after it; "
                                 "wanted the signal before the wait",
                                 InstructionText(f_, i), InstructionText(f_, *signal)));
  }

  const PlanFunction& f_;
  Timeline t_;
  uint32_t issued_ = 0;                         // instructions that the host has passed
  std::vector<std::vector<uint32_t>> clock_;    // per stream: what is finished for it
  std::vector<std::vector<uint32_t>> queue_;    // per stream: instructions in queue order
  std::vector<size_t> next_;                    // per stream: first of queue_ that is not executed
  std::vector<std::vector<uint32_t>> signals_;  // per event, values ascending
  std::vector<bool> done_;
};

Result<Timeline> Timeline::Make(const PlanFunction& function) {
  return TimelineMaker(function).Run();
}

}  // namespace ge::check

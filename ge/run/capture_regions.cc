#include "ge/run/capture_regions.h"

#include <algorithm>
#include <span>

namespace ge {
namespace {

// A capture's launch and the events around it cost about as much as so many calls.
constexpr uint32_t kLeastCalls = 4;
// Work in ns that a wait or a signal moved to the border of a region may hold up. A launch costs
// the host some 5,000: what a region saves is worth a few of them.
constexpr double kHeldUpNs = 20'000;

class Finder {
 public:
  Finder(const Plan& plan, const std::vector<bool>& captures)
      : plan_(plan), f_(plan.functions[0]), captures_(captures) {
    PairWaits();
  }

  CaptureRegions Run() {
    const uint32_t n = static_cast<uint32_t>(f_.code.size());
    for (uint32_t i = 0; i < n;) {
      if (!Takes(i)) {
        ++i;
        continue;
      }
      uint32_t end = i + 1;
      while (end < n && DeviceAt(end) == DeviceAt(i) && Takes(end)) ++end;
      Cut(i, end);
      i = end;
    }
    return std::move(out_);
  }

 private:
  bool Works(uint32_t i) const {
    return f_.code[i].op == PlanOp::kLaunch || f_.code[i].op == PlanOp::kCopy;
  }
  DeviceId DeviceAt(uint32_t i) const { return f_.streams[f_.code[i].stream].device; }
  double NsAt(uint32_t i) const {
    const Instruction& in = f_.code[i];
    if (in.op != PlanOp::kLaunch || in.predicted_ns > 0) return in.predicted_ns;
    return f_.segments[in.segment].predicted_ns;
  }
  double NsOf(uint32_t first, uint32_t end) const {
    double ns = 0;
    for (uint32_t i = first; i < end; ++i) ns += NsAt(i);
    return ns;
  }

  // Is it bound by the caller, with a new address at any run? A state's address stands still.
  bool Callers(PlanValueId id) const {
    while (f_.values[id].alias_of != 0 && f_.values[id].arena < 0) id = f_.values[id].alias_of;
    const PlanValue& v = f_.values[id];
    const bool bound = v.kind == PlanValueKind::kInput || v.kind == PlanValueKind::kOutput;
    return bound && v.arena < 0 && v.state == 0 && v.bytes > 0;
  }
  bool TouchesCallers(const Instruction& in) const {
    if (in.op == PlanOp::kCopy) return Callers(in.src) || Callers(in.dst);
    const PlanSegment& s = f_.segments[in.segment];
    const auto any = [&](const std::vector<PlanValueId>& ids) {
      return std::any_of(ids.begin(), ids.end(), [&](PlanValueId v) { return Callers(v); });
    };
    return any(s.inputs) || any(s.outputs);
  }

  // Whether instruction i may be in a region; counts the work that may not.
  bool Takes(uint32_t i) {
    const Instruction& in = f_.code[i];
    if (in.stream == 0 || !captures_[plan_.devices[DeviceAt(i)].engine]) return false;
    if (!Works(i)) return in.op == PlanOp::kSignal || signal_of_[i] < i;
    if (counted_.insert({i, true}).second) ++out_.work;
    const char* why = nullptr;
    if (in.op == PlanOp::kLaunch && !f_.segments[in.segment].capturable) {
      why = "the engine does not let its launch be captured";
    } else if (TouchesCallers(in)) {
      why = "it touches a buffer of the caller's";
    }
    if (why != nullptr && counted_[i]) ++out_.outside[why];
    if (why != nullptr) counted_[i] = false;
    return why == nullptr;
  }

  // By wait: the signal that lets it pass, and by signal: its first and last wait.
  void PairWaits() {
    const uint32_t n = static_cast<uint32_t>(f_.code.size());
    signal_of_.assign(n, UINT32_MAX);
    waits_of_.resize(n);
    std::vector<std::vector<uint32_t>> signals(f_.events.size());
    for (uint32_t i = 0; i < n; ++i) {
      const Instruction& in = f_.code[i];
      if (in.op == PlanOp::kSignal) signals[in.event].push_back(i);
      if (in.op != PlanOp::kWait) continue;
      const auto& of = signals[in.event];
      const auto it = std::partition_point(of.begin(), of.end(), [&](uint32_t s) {
        return f_.code[s].event_value < in.event_value;
      });
      if (it == of.end()) continue;
      signal_of_[i] = *it;
      waits_of_[*it].push_back(i);
    }
  }

  bool OutwardSignal(uint32_t i, uint32_t first, uint32_t end) const {
    return f_.code[i].op == PlanOp::kSignal &&
           std::any_of(waits_of_[i].begin(), waits_of_[i].end(),
                       [&](uint32_t w) { return w < first || w >= end; });
  }

  // Cuts [first, end) where a border would hold up too much, and keeps what is worth it.
  void Cut(uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; ++i) {
      const Instruction& in = f_.code[i];
      const bool waits = in.op == PlanOp::kWait && signal_of_[i] < first;
      uint32_t at = 0;
      if (waits && NsOf(first, i) > kHeldUpNs) at = i;
      if (OutwardSignal(i, first, end) && NsOf(i + 1, end) > kHeldUpNs) at = i + 1;
      if (at <= first || at >= end) continue;
      Keep(first, at);
      return Cut(at, end);
    }
    Keep(first, end);
  }

  void Keep(uint32_t first, uint32_t end) {
    while (first < end && !Works(first)) ++first;
    while (end > first && !Works(end - 1)) --end;
    uint32_t work = 0;
    for (uint32_t i = first; i < end; ++i) work += Works(i);
    if (work < kLeastCalls) {
      if (work > 0) out_.outside["too few calls in a row"] += work;
      return;
    }
    out_.inside += work;
    CaptureRegion s;
    s.device = DeviceAt(first);
    s.first = first;
    s.end = end;
    for (uint32_t i = first; i < end; ++i) Sort(i, &s);
    for (uint32_t k = 1; k < s.stream.size(); ++k) {
      if (Uses(s.stream[k], 0, first)) s.joined.push_back(s.stream[k]);
      if (Uses(s.stream[k], end, static_cast<uint32_t>(f_.code.size()))) {
        s.released.push_back(s.stream[k]);
      }
    }
    out_.found.push_back(std::move(s));
  }

  void Sort(uint32_t i, CaptureRegion* s) const {
    const Instruction& in = f_.code[i];
    if (std::find(s->stream.begin(), s->stream.end(), in.stream) == s->stream.end()) {
      s->stream.push_back(in.stream);
    }
    if (in.op == PlanOp::kWait && signal_of_[i] < s->first) {
      s->before.push_back(i);
      return;
    }
    if (OutwardSignal(i, s->first, s->end)) s->behind.push_back(i);
    const auto inward = [&](uint32_t w) { return w >= s->first && w < s->end; };
    if (in.op == PlanOp::kSignal &&
        std::none_of(waits_of_[i].begin(), waits_of_[i].end(), inward)) {
      return;
    }
    s->inner.push_back(i);
  }

  bool Uses(uint32_t stream, uint32_t first, uint32_t end) const {
    return std::any_of(f_.code.begin() + first, f_.code.begin() + end,
                       [&](const Instruction& in) { return in.stream == stream; });
  }

  const Plan& plan_;
  const PlanFunction& f_;
  const std::vector<bool>& captures_;
  std::vector<uint32_t> signal_of_;              // by wait; UINT32_MAX = none before it
  std::vector<std::vector<uint32_t>> waits_of_;  // by signal
  std::map<uint32_t, bool> counted_;             // work seen so far: not yet refused
  CaptureRegions out_;
};

}  // namespace

CaptureRegions FindCaptureRegions(const Plan& plan, const std::vector<bool>& captures) {
  const auto any = [&](const PlanStream& s) { return captures[plan.devices[s.device].engine]; };
  const std::vector<PlanStream>& streams = plan.functions[0].streams;
  if (std::none_of(streams.begin(), streams.end(), any)) return {};
  return Finder(plan, captures).Run();
}

}  // namespace ge

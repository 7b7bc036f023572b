#include "tools/ge/observe/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "ge/plan/check/check.h"
#include "tools/ge/observe/plan_names.h"
#include "tools/ge/observe/trace_writer.h"

namespace ge::tool {
namespace {

uint64_t NsOf(double ms) { return static_cast<uint64_t>(ms * 1e6); }

// Spans of one thread, which nest because one calls the other. Rounding may let a span end behind
// the one around it.
void WriteStages(std::vector<StageSpan> spans, TraceWriter::Track track, TraceWriter* out) {
  std::sort(spans.begin(), spans.end(), [](const StageSpan& x, const StageSpan& y) {
    return x.begin_ms != y.begin_ms ? x.begin_ms < y.begin_ms : x.ms > y.ms;
  });
  std::vector<uint64_t> open;  // their ends
  for (const StageSpan& s : spans) {
    const uint64_t begin = NsOf(s.begin_ms);
    while (!open.empty() && open.back() <= begin) {
      out->EndSlice(track, open.back());
      open.pop_back();
    }
    const uint64_t end = NsOf(s.begin_ms + s.ms);
    out->BeginSlice(track, begin, "stage", s.name);
    open.push_back(open.empty() ? end : std::min(end, open.back()));
  }
  for (; !open.empty(); open.pop_back()) out->EndSlice(track, open.back());
}

// What all executions of one plan share.
struct TracedPlan {
  explicit TracedPlan(const Compiled& compiled) : names(compiled) {
    const uint32_t count = static_cast<uint32_t>(compiled.plan.functions[0].code.size());
    for (uint32_t i = 0; i < count; ++i) instructions.push_back(names.Instruction(i));
    for (DomainId d = 0; d < compiled.check.max_live_bytes.size(); ++d) {
      if (compiled.check.max_live_bytes[d] == 0) continue;
      auto moments = LiveBytes(compiled.plan, d);
      if (moments.ok()) live.emplace_back(d, *std::move(moments));
    }
  }
  PlanNames names;
  std::vector<std::string> instructions;
  std::vector<std::pair<DomainId, std::vector<LiveMoment>>> live;
};

class RunTracer {
 public:
  RunTracer(TraceWriter* out, TraceWriter::Track host) : out_(out), host_(host) {}

  void Write(const ObservedRun& run, size_t number) {
    out_->BeginSlice(host_, run.begin_ns, "run", fmt::format("run {}", number));
    uint64_t at = run.begin_ns;
    for (const PlanTimes& p : run.plans) {
      Slice(at, p.begin_ns, "run", "host");
      WritePlan(p, run.plans.size() > 1);
      at = p.end_ns;
    }
    Slice(at, run.end_ns, "run", "host");
    out_->EndSlice(host_, run.end_ns);
  }

 private:
  // Work that a stream has and that nobody has seen end.
  struct Queued {
    uint64_t begin_ns = 0;
    std::string name;
    uint32_t count = 0;
  };

  const TracedPlan& Of(const Compiled& compiled) {
    std::unique_ptr<TracedPlan>& known = plans_[&compiled];
    if (!known) known = std::make_unique<TracedPlan>(compiled);
    return *known;
  }

  void Slice(uint64_t begin, uint64_t end, const char* category, std::string_view name,
             const std::vector<TraceNote>& notes = {}) {
    if (begin == end) return;
    out_->BeginSlice(host_, begin, category, name, notes);
    out_->EndSlice(host_, end);
  }

  void WritePlan(const PlanTimes& times, bool piece) {
    const Compiled& c = *times.plan;
    const TracedPlan& traced = Of(c);
    if (piece) out_->BeginSlice(host_, times.begin_ns, "piece", c.plan.functions[0].name);
    Slice(times.begin_ns, times.first_ns, "run", "prepare");
    uint64_t at = times.first_ns;
    for (size_t i = 0; i < times.moments.size();) {
      const size_t first = i;  // of the steps inside, if any
      while (i + 1 < times.moments.size() && times.moments[i].step != kWholeInstruction) ++i;
      const std::span steps(&times.moments[first], i - first);
      WriteInstruction(c, traced, times.moments[i].instruction, at, times.moments[i].ns, steps);
      at = times.moments[i++].ns;
    }
    for (auto& [stream, queued] : queued_) EndQueued(c, traced, stream, at, &queued);
    queued_.clear();
    Slice(at, times.end_ns, "run", "finish");
    if (piece) out_->EndSlice(host_, times.end_ns);
    WriteMemory(c, traced, times);
  }

  void WriteInstruction(const Compiled& c, const TracedPlan& traced, uint32_t index, uint64_t begin,
                        uint64_t end, std::span<const RunMoment> steps) {
    const PlanFunction& fn = c.plan.functions[0];
    const Instruction& ins = fn.code[index];
    const std::string& name = traced.instructions[index];
    std::vector<TraceNote> notes;
    if (ins.op == PlanOp::kLaunch) {
      const PlanSegment& s = fn.segments[ins.segment];
      notes = {{"segment", uint64_t{ins.segment}},
               {"device", c.plan.devices[s.device].name},
               {"predicted_us", s.predicted_ns / 1e3}};
      if (s.conversion < 0) {
        notes.push_back({"nodes", uint64_t{traced.names.NodesOf(ins.segment).size()}});
      }
    }
    if (ins.op == PlanOp::kCopy) {
      notes = {{"bytes", static_cast<uint64_t>(fn.values[ins.dst].bytes)},
               {"to", c.plan.domains[fn.values[ins.dst].domain].name}};
    }
    if (end > begin) {
      out_->BeginSlice(host_, begin, traced.names.Kind(index), name, notes);
      uint64_t at = begin;
      for (const RunMoment& m : steps) {
        const std::vector<uint32_t> nodes = traced.names.NodesOf(ins.segment, m.step);
        Slice(at, m.ns, "step", nodes.empty() ? "step" : traced.names.Joined(nodes));
        at = m.ns;
      }
      out_->EndSlice(host_, end);
    }
    const bool works = ins.op == PlanOp::kLaunch || ins.op == PlanOp::kCopy;
    if (works && ins.stream != 0) {
      Queued& q = queued_[ins.stream];
      if (q.count++ == 0) {
        q.begin_ns = end;
        q.name = name;
      }
    }
    if (ins.op == PlanOp::kWait && ins.stream == 0) SeeEnded(c, traced, index, end);
  }

  // The host has waited for a signal: what its stream got before is done.
  void SeeEnded(const Compiled& c, const TracedPlan& traced, uint32_t wait, uint64_t ns) {
    const auto& code = c.plan.functions[0].code;
    for (uint32_t i = wait; i-- > 0;) {
      const Instruction& ins = code[i];
      if (ins.op != PlanOp::kSignal || ins.event != code[wait].event ||
          ins.event_value < code[wait].event_value) {
        continue;
      }
      // Work that was queued behind the signal goes on, and is seen by a later wait.
      const bool more = std::any_of(code.begin() + i, code.begin() + wait, [&](const auto& later) {
        return later.stream == ins.stream && later.op != PlanOp::kSignal &&
               later.op != PlanOp::kWait;
      });
      const auto it = queued_.find(ins.stream);
      if (it == queued_.end() || more) continue;
      EndQueued(c, traced, ins.stream, ns, &it->second);
      queued_.erase(it);
      return;
    }
  }

  void EndQueued(const Compiled& c, const TracedPlan& traced, uint32_t stream, uint64_t ns,
                 Queued* queued) {
    const std::string name = traced.names.Stream(stream);
    auto it = streams_.find(name);
    if (it == streams_.end()) it = streams_.emplace(name, out_->AddTrack(name)).first;
    const std::string more =
        queued->count > 1 ? fmt::format(" + {} more", queued->count - 1) : std::string();
    out_->BeginSlice(it->second, queued->begin_ns, "stream", queued->name + more,
                     {{"device", c.plan.devices[c.plan.functions[0].streams[stream].device].name}});
    out_->EndSlice(it->second, ns);
  }

  void WriteMemory(const Compiled& c, const TracedPlan& traced, const PlanTimes& times) {
    for (const auto& [domain, live] : traced.live) {
      const std::string name = "memory in use: " + c.plan.domains[domain].name;
      auto it = counters_.find(name);
      if (it == counters_.end()) it = counters_.emplace(name, out_->AddCounter(name)).first;
      size_t next = 0;
      uint64_t at = times.first_ns;
      for (const RunMoment& m : times.moments) {
        int64_t most = -1;  // of what shares one moment, since viewers show one value
        for (; next < live.size() && Within(live[next], m); ++next) {
          most = std::max(most, live[next].bytes);
        }
        if (most >= 0) out_->Count(it->second, at, most);
        at = m.ns;
      }
      out_->Count(it->second, at, 0);
    }
  }

  // Whether what held these bytes had begun when `m` ended and not when the moment before did.
  static bool Within(const LiveMoment& live, const RunMoment& m) {
    return live.instruction < m.instruction ||
           (live.instruction == m.instruction && live.step <= m.step);
  }

  TraceWriter* out_;
  const TraceWriter::Track host_;
  std::map<const Compiled*, std::unique_ptr<TracedPlan>> plans_;
  std::map<std::string, TraceWriter::Track> streams_, counters_;
  std::map<uint32_t, Queued> queued_;  // by stream, of the execution that is written
};

}  // namespace

Status WriteTrace(const std::string& path, std::vector<StageSpan> stages,
                  const std::vector<ObservedRun>& runs) {
  GE_ASSIGN_OR_RETURN(TraceWriter out, TraceWriter::Begin(path));
  const TraceWriter::Track host = out.AddThread("host");
  WriteStages(std::move(stages), host, &out);
  RunTracer tracer(&out, host);
  for (size_t i = 0; i < runs.size(); ++i) tracer.Write(runs[i], i + 1);
  return out.Finish();
}

}  // namespace ge::tool

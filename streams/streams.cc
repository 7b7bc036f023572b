#include "streams/streams.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "streams/emit.h"
#include "streams/schedule.h"

namespace ge {
namespace {

// Whether a launch writes where an input lies what a run that fails must not have written.
bool Overwrites(const PlanFunction& f, const Instruction& in) {
  if (in.op != PlanOp::kLaunch || in.segment >= f.segments.size()) return false;
  if (f.segments[in.segment].appends) return false;
  const std::vector<PlanValueId>& outputs = f.segments[in.segment].outputs;
  return std::any_of(outputs.begin(), outputs.end(), [&](PlanValueId v) {
    return v < f.values.size() && f.values[v].kind == PlanValueKind::kOutput &&
           f.values[v].alias_of != 0;
  });
}

// Takes the launches that overwrite inputs out of the code.
std::vector<Instruction> TakeOverwriting(PlanFunction* f) {
  const auto first = std::stable_partition(
      f->code.begin(), f->code.end(), [&](const Instruction& in) { return !Overwrites(*f, in); });
  std::vector<Instruction> taken(first, f->code.end());
  f->code.erase(first, f->code.end());
  return taken;
}

// The first stream of the device; a new one where it has none.
uint32_t StreamOf(DeviceId device, PlanFunction* f) {
  for (uint32_t s = 1; s < f->streams.size(); ++s) {
    if (f->streams[s].device == device) return s;
  }
  f->streams.push_back({device});
  return static_cast<uint32_t>(f->streams.size() - 1);
}

// The host waits for what stream s has so far: a new signal of its event, or of a new one.
void WaitForStream(const Plan& plan, uint32_t s, PlanFunction* f) {
  Instruction signal;
  signal.op = PlanOp::kSignal;
  signal.stream = s;
  signal.event = static_cast<uint32_t>(f->events.size());
  for (const Instruction& in : f->code) {
    if (in.op != PlanOp::kSignal || in.stream != s) continue;
    signal.event = in.event;
    signal.event_value = std::max(signal.event_value, in.event_value);
  }
  ++signal.event_value;
  if (signal.event == f->events.size()) {
    f->events.push_back({plan.devices[f->streams[s].device].engine});
  }
  Instruction wait = signal;
  wait.op = PlanOp::kWait;
  wait.stream = 0;
  f->code.push_back(std::move(signal));
  f->code.push_back(std::move(wait));
}

// Behind all that can fail, of which the host knows the end.
void AppendCommit(const Plan& plan, std::vector<Instruction> overwriting, PlanFunction* f) {
  if (overwriting.empty()) return;
  Instruction commit;
  commit.op = PlanOp::kCommit;
  f->code.push_back(commit);
  std::vector<uint32_t> busy;
  for (Instruction& in : overwriting) {
    const DeviceId device = f->segments[in.segment].device;
    if (plan.devices[device].async) in.stream = StreamOf(device, f);
    if (in.stream != 0 && std::find(busy.begin(), busy.end(), in.stream) == busy.end()) {
      busy.push_back(in.stream);
    }
    f->code.push_back(std::move(in));
  }
  for (const uint32_t s : busy) WaitForStream(plan, s, f);
}

}  // namespace

Status AssignStreams(Plan* plan, const StreamOptions& options) {
  for (PlanFunction& f : plan->functions) {
    std::vector<Instruction> overwriting = TakeOverwriting(&f);
    GE_ASSIGN_OR_RETURN(const std::vector<streams::Task> tasks, streams::MakeTasks(*plan, f));
    const streams::Schedule schedule = streams::MakeSchedule(*plan, tasks, options);
    streams::Emit(*plan, tasks, schedule, &f);
    AppendCommit(*plan, std::move(overwriting), &f);
  }
  return {};
}

}  // namespace ge

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

// Behind all that can fail, of which the host knows the end.
void AppendCommit(std::vector<Instruction> overwriting, PlanFunction* f) {
  if (overwriting.empty()) return;
  Instruction commit;
  commit.op = PlanOp::kCommit;
  f->code.push_back(commit);
  for (Instruction& in : overwriting) f->code.push_back(std::move(in));
}

}  // namespace

Status AssignStreams(Plan* plan, const StreamOptions& options) {
  for (PlanFunction& f : plan->functions) {
    std::vector<Instruction> overwriting = TakeOverwriting(&f);
    GE_ASSIGN_OR_RETURN(const std::vector<streams::Task> tasks, streams::MakeTasks(*plan, f));
    const streams::Schedule schedule = streams::MakeSchedule(*plan, tasks, options);
    streams::Emit(*plan, tasks, schedule, &f);
    AppendCommit(std::move(overwriting), &f);
  }
  return {};
}

}  // namespace ge

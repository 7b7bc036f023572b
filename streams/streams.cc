#include "streams/streams.h"

#include "streams/emit.h"
#include "streams/schedule.h"

namespace ge {

Status AssignStreams(Plan* plan, const StreamOptions& options) {
  for (PlanFunction& f : plan->functions) {
    GE_ASSIGN_OR_RETURN(const std::vector<streams::Task> tasks, streams::MakeTasks(*plan, f));
    const streams::Schedule schedule = streams::MakeSchedule(*plan, tasks, options);
    streams::Emit(*plan, tasks, schedule, &f);
  }
  return {};
}

}  // namespace ge

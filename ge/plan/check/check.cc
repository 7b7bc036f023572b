#include "ge/plan/check/check.h"

#include <algorithm>

#include "ge/plan/check/accesses.h"
#include "ge/plan/check/commit.h"
#include "ge/plan/check/lifetimes.h"
#include "ge/plan/check/max_live.h"
#include "ge/plan/check/order.h"
#include "ge/plan/check/overlap.h"
#include "ge/plan/check/structure.h"
#include "ge/plan/check/timeline.h"

namespace ge {
namespace {

Status CheckOne(const Plan& plan, const PlanFunction& f, CheckReport* report) {
  GE_RETURN_IF_ERROR(check::CheckFunction(plan, f));
  GE_RETURN_IF_ERROR(check::CheckInstructions(plan, f));
  GE_ASSIGN_OR_RETURN(const std::vector<check::Access> access, check::CollectAccesses(f));
  GE_ASSIGN_OR_RETURN(const check::Timeline timeline, check::Timeline::Make(f));
  const check::Lifetimes life(f, timeline, access);
  GE_RETURN_IF_ERROR(check::CheckReads(life));
  GE_RETURN_IF_ERROR(check::CheckOrder(f, timeline));
  GE_RETURN_IF_ERROR(check::CheckCommit(f, timeline, access));
  GE_RETURN_IF_ERROR(check::CheckOverlaps(life, &report->proved_pairs));
  const std::vector<int64_t> live = check::MaxLiveBytes(life, plan.domains.size());
  std::vector<int64_t> arena(plan.domains.size());
  for (const PlanArena& a : f.arenas) {
    if (a.use == PlanArena::Use::kTransient) arena[a.domain] += a.bytes;
  }
  for (DomainId d = 0; d < plan.domains.size(); ++d) {
    report->max_live_bytes[d] = std::max(report->max_live_bytes[d], live[d]);
    report->arena_bytes[d] = std::max(report->arena_bytes[d], arena[d]);
  }
  return {};
}

}  // namespace

Result<CheckReport> Check(const Plan& plan) {
  GE_RETURN_IF_ERROR(check::CheckTables(plan));
  CheckReport report;
  report.max_live_bytes.resize(plan.domains.size());
  report.arena_bytes.resize(plan.domains.size());
  for (const PlanFunction& f : plan.functions) GE_RETURN_IF_ERROR(CheckOne(plan, f, &report));
  return report;
}

Result<std::vector<LiveMoment>> LiveBytes(const Plan& plan, DomainId domain) {
  const PlanFunction& f = plan.functions[0];
  GE_ASSIGN_OR_RETURN(const std::vector<check::Access> access, check::CollectAccesses(f));
  GE_ASSIGN_OR_RETURN(const check::Timeline timeline, check::Timeline::Make(f));
  return check::LiveMoments(check::Lifetimes(f, timeline, access), domain);
}

}  // namespace ge

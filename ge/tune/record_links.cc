#include "ge/tune/record_links.h"

#include "ge/price/links.h"

namespace ge {
namespace {

// Whether the bytes lie in memory of the caller's.
bool IsCallers(const PlanFunction& f, PlanValueId id) {
  while (f.values[id].alias_of != 0 && f.values[id].arena < 0) id = f.values[id].alias_of;
  return f.values[id].arena < 0;
}

// The link that a copy takes; null where none is known.
const PlanLink* LinkOf(const Plan& plan, const Instruction& in) {
  const PlanFunction& f = plan.functions[0];
  const DomainId from = f.values[in.src].domain, to = f.values[in.dst].domain;
  const bool callers = (from == 0 && IsCallers(f, in.src)) || (to == 0 && IsCallers(f, in.dst));
  const PlanLink* found = nullptr;
  for (const PlanLink& l : plan.links) {
    if (l.from != from || l.to != to || l.engine != in.engine) continue;
    const bool pinned = l.staging_bytes_per_ns > 0;
    if (pinned && callers) continue;
    if (found == nullptr || pinned) found = &l;
  }
  return found;
}

Sampled SampledOf(const RunClock::Sample& s, bool busy) { return {s.ns, s.count, busy || s.cold}; }

}  // namespace

void RecordLinks(const EngineList& engines, const Compiled& compiled,
                 const RunClock::Summary& summary, bool busy, PriceCache* cache) {
  const Plan& plan = compiled.plan;
  const PlanFunction& f = plan.functions[0];
  const LinkBooks books = BooksOf(engines);
  for (const RunClock::Copy& copy : summary.copies) {
    const Instruction& in = f.code[copy.instruction];
    const PlanLink* const link = LinkOf(plan, in);
    if (copy.time.count == 0 || link == nullptr) continue;
    const auto bytes = static_cast<double>(f.values[in.src].bytes);
    AddLinkSample(books, plan, *link, {bytes, SampledOf(copy.time, busy)}, cache);
  }
  for (DeviceId d = 0; d < summary.waits.size(); ++d) {
    if (summary.waits[d].count == 0) continue;
    AddWaitSample(books, plan, d, SampledOf(summary.waits[d], busy), cache);
  }
}

}  // namespace ge

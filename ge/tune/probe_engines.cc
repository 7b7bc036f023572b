#include "ge/tune/probe_engines.h"

#include "ge/base/log.h"
#include "ge/engine/offers.h"
#include "ge/engine/plugin/plugin.h"
#include "ge/engine/view.h"
#include "ge/host/host_load.h"
#include "ge/host/machine.h"
#include "ge/place/from_offers.h"
#include "ge/price/correct.h"
#include "ge/tune/link_timer.h"
#include "ge/tune/measure.h"
#include "ge/tune/work_sample.h"

namespace ge {
namespace {

void HostParallelFor(uint64_t n, void (*body)(void* ctx, uint64_t i), void* ctx) {
  HostApi()->parallel_for(nullptr, n, body, ctx);
}
bool IsBusy() { return IsBusyNow(HostMachine().threads, &HostParallelFor); }

Result<MeasureReport> Measure(const EngineList& engines, double budget_ms, PriceCache* cache) {
  GE_ASSIGN_OR_RETURN(const Graph graph, MakeWorkSample());
  const Function& f = graph.fn(graph.entries[0].fn);
  GE_ASSIGN_OR_RETURN(const auto view, GraphView::Make(graph, f));
  Plan plan;
  OfferSet offers;
  GE_RETURN_IF_ERROR(DescribeEngines(engines, HostMachine(), &plan));
  for (uint32_t e = 0; e < engines.size(); ++e) {
    GE_RETURN_IF_ERROR(QueryEngine(*engines[e], e, graph, f, view->get(), &plan.layouts, &offers));
  }
  const bool busy = IsBusy();
  const LoadWatch watch;
  MeasureLinks(engines, plan, busy, cache);
  MeasureOptions options;
  options.budget_ms = budget_ms;
  options.trusted_now = false;
  options.again = true;
  options.busy = [&] { return busy || watch.Busy() || IsBusy(); };
  return MeasureOffers(engines, graph, f, plan.layouts, view.get(), offers, cache, options);
}

}  // namespace

MeasureReport ProbeEngines(const EngineList& engines, double budget_ms, PriceCache* cache) {
  auto measured = Measure(engines, budget_ms, cache);
  if (measured.ok()) return *measured;
  LogLine(1, "engines are not probed, their prices stand: " + measured.status().ToString());
  return {};
}

}  // namespace ge

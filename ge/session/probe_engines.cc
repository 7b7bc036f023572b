#include "ge/session/probe_engines.h"

#include "ge/engine/correct.h"
#include "ge/engine/offers.h"
#include "ge/engine/plugin.h"
#include "ge/engine/view.h"
#include "ge/place/from_offers.h"
#include "ge/session/measure.h"
#include "ge/session/work_sample.h"

namespace ge {
namespace {

bool IsUnknown(const Engine& engine, const PriceCache& cache) {
  for (uint32_t d = 0; d < engine.devices().size(); ++d) {
    if (cache.Knows(BookOf(engine, d))) return false;
  }
  return true;
}

// The offers of the engines that the cache has no row of.
Status AskUnknown(const std::vector<std::unique_ptr<Engine>>& engines, const PriceCache& cache,
                  const Graph& graph, const Function& f, const ge_graph* view,
                  std::vector<PlanLayout>* layouts, OfferSet* offers) {
  for (uint32_t e = 0; e < engines.size(); ++e) {
    if (!IsUnknown(*engines[e], cache)) continue;
    GE_RETURN_IF_ERROR(QueryEngine(*engines[e], e, graph, f, view, layouts, offers));
  }
  return {};
}

Result<MeasureReport> Measure(const std::vector<std::unique_ptr<Engine>>& engines, double budget_ms,
                              PriceCache* cache) {
  GE_ASSIGN_OR_RETURN(const Graph graph, MakeWorkSample());
  const Function& f = graph.fn(graph.entries[0].fn);
  GE_ASSIGN_OR_RETURN(const auto view, GraphView::Make(graph, f));
  Plan plan;
  OfferSet offers;
  GE_RETURN_IF_ERROR(DescribeEngines(engines, &plan));
  GE_RETURN_IF_ERROR(AskUnknown(engines, *cache, graph, f, view->get(), &plan.layouts, &offers));
  return MeasureOffers(engines, graph, f, plan.layouts, view.get(), offers, cache, budget_ms);
}

}  // namespace

MeasureReport ProbeEngines(const std::vector<std::unique_ptr<Engine>>& engines, double budget_ms,
                           PriceCache* cache) {
  bool any = false;
  for (const auto& engine : engines) any |= IsUnknown(*engine, *cache);
  if (!any) return {};
  auto measured = Measure(engines, budget_ms, cache);
  if (measured.ok()) return *measured;
  LogLine(1, "engines are not probed, their prices stand: " + measured.status().ToString());
  return {};
}

}  // namespace ge

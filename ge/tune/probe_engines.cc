#include "ge/tune/probe_engines.h"

#include "ge/base/log.h"
#include "ge/engine/offers.h"
#include "ge/engine/plugin.h"
#include "ge/engine/view.h"
#include "ge/host/host_load.h"
#include "ge/host/machine.h"
#include "ge/place/from_offers.h"
#include "ge/price/correct.h"
#include "ge/tune/measure.h"
#include "ge/tune/work_sample.h"

namespace ge {
namespace {

bool IsUnknown(const Engine& engine, const PriceCache& cache) {
  for (uint32_t d = 0; d < engine.devices().size(); ++d) {
    if (cache.Knows(BookOf(engine, d))) return false;
  }
  return true;
}

bool IsDoubtful(const Engine& engine, const PriceCache& cache) {
  for (uint32_t d = 0; d < engine.devices().size(); ++d) {
    if (cache.Doubts(BookOf(engine, d))) return true;
  }
  return false;
}

void HostParallelFor(uint64_t n, void (*body)(void* ctx, uint64_t i), void* ctx) {
  HostApi()->parallel_for(nullptr, n, body, ctx);
}
bool IsBusy() { return IsBusyNow(HostMachine().threads, &HostParallelFor); }

// Which engines to ask: what nobody knows always, what is doubtful on a quiet machine.
std::vector<uint32_t> EnginesToAsk(const std::vector<std::unique_ptr<Engine>>& engines,
                                   const PriceCache& cache, bool busy) {
  std::vector<uint32_t> out;
  for (uint32_t e = 0; e < engines.size(); ++e) {
    if (IsUnknown(*engines[e], cache) || (!busy && IsDoubtful(*engines[e], cache))) {
      out.push_back(e);
    }
  }
  return out;
}

Result<MeasureReport> Measure(const std::vector<std::unique_ptr<Engine>>& engines,
                              const std::vector<uint32_t>& asked, double budget_ms,
                              PriceCache* cache, bool busy) {
  GE_ASSIGN_OR_RETURN(const Graph graph, MakeWorkSample());
  const Function& f = graph.fn(graph.entries[0].fn);
  GE_ASSIGN_OR_RETURN(const auto view, GraphView::Make(graph, f));
  Plan plan;
  OfferSet offers;
  GE_RETURN_IF_ERROR(DescribeEngines(engines, HostMachine(), &plan));
  for (uint32_t e : asked) {
    GE_RETURN_IF_ERROR(QueryEngine(*engines[e], e, graph, f, view->get(), &plan.layouts, &offers));
  }
  const LoadWatch watch;
  MeasureOptions options;
  options.budget_ms = budget_ms;
  options.trusted_now = false;
  options.busy = [&] { return busy || watch.Busy() || IsBusy(); };
  return MeasureOffers(engines, graph, f, plan.layouts, view.get(), offers, cache, options);
}

}  // namespace

MeasureReport ProbeEngines(const std::vector<std::unique_ptr<Engine>>& engines, double budget_ms,
                           PriceCache* cache) {
  if (EnginesToAsk(engines, *cache, false).empty()) return {};
  const bool busy = IsBusy();
  const std::vector<uint32_t> asked = EnginesToAsk(engines, *cache, busy);
  if (asked.empty()) return {};  // What would be measured now is no better than what is known.
  auto measured = Measure(engines, asked, budget_ms, cache, busy);
  if (measured.ok()) {
    for (uint32_t e : asked) {
      for (uint32_t d = 0; d < engines[e]->devices().size(); ++d) {
        const PriceBook book = BookOf(*engines[e], d);
        if (cache->Knows(book)) cache->SetDoubt(book, measured->busy);
      }
    }
    return *measured;
  }
  LogLine(1, "engines are not probed, their prices stand: " + measured.status().ToString());
  return {};
}

}  // namespace ge

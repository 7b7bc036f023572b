// Links and waits as this machine has shown them. An engine tells how fast copies between domains
// are; nobody tells how long a visit of the host to a device takes beside the work that is done.
// Both are rows of the price cache, under the device's name and "?links". Nothing is measured here.
// Stateless.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ge/engine/engine.h"
#include "ge/plan/plan.h"
#include "ge/price/price_cache.h"

namespace ge {

struct LinkCost {
  double latency_ns = 0, bytes_per_ns = 1;
  double Ns(double bytes) const { return latency_ns + bytes / bytes_per_ns; }
};

struct LinkSample {
  double bytes = 0;
  Sampled time;
};

// Latency and speed by these samples: least squares of relative errors, of which far ones count
// less, so that one bad sample moves little. What they do not show, a size far beyond theirs, is as
// much off what was told as the nearest of them. Speed and `told` differ by a factor of 100 at the
// most. Without samples: as told.
LinkCost FitLink(const LinkCost& told, std::span<const LinkSample> samples);

// A link of a plan, as told and as it counts; for ge explain.
struct LinkPrice {
  DomainId from = 0, to = 0;
  uint32_t engine = 0;  // of the plan
  bool pinned = false;  // its host's end is page-locked
  LinkCost told, now;
  double wait_ns = 0;  // of the host for the device, which comes with each copy to the host
  std::string source = "told", wait_source = "none";  // or "measured", "doubtful"
};

// The price cache's name of an engine of the plan and its device.
using LinkBooks = std::function<PriceBook(uint32_t plan_engine, uint32_t device)>;
LinkBooks BooksOf(const EngineList& engines);

// Corrects the plan's links. The wait is added to latencies of copies to the host, since such a
// copy is what a host waits for. One price a link.
std::vector<LinkPrice> CorrectLinks(const LinkBooks& books, const PriceCache& cache, Plan* plan);

// Notes what copies of so many bytes took by this link of a plan: on the device's own clock,
// without the wait.
void AddLinkSample(const LinkBooks& books, const Plan& plan, const PlanLink& link,
                   const LinkSample& sample, PriceCache* cache);
// Notes the time of a visit in which neither the host nor the device did work.
void AddWaitSample(const LinkBooks& books, const Plan& plan, DeviceId device, const Sampled& sample,
                   PriceCache* cache);

}  // namespace ge

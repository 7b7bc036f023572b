// What a session does about prices over its life: the cache is read when a model is loaded, runs
// are remembered when plans are put away, and, where the caller allows it, a plan whose time is not
// as predicted is placed again.
#include <fmt/format.h>

#include <cmath>

#include "ge/engine/cache_folder.h"
#include "ge/session/measure.h"
#include "ge/session/session.h"

namespace ge {
namespace {

// A plan is placed again when its measured time is off by more than this share of the prediction.
constexpr double kSurprise = 0.25;
constexpr uint32_t kChecksApart = 4;  // each check at so many times the timed runs of the last

constexpr std::string_view kModes[] = {"analytic", "cached", "measure"};

}  // namespace

Result<PriceMode> PriceModeFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kModes); ++i) {
    if (kModes[i] == name) return static_cast<PriceMode>(i);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("prices are '{}', wanted analytic, cached or measure", name));
}

std::string_view PriceModeName(PriceMode mode) { return kModes[static_cast<size_t>(mode)]; }

void Session::StartPricing() {
  const PriceOptions& wanted = options_.build.prices;
  options_.build.price_cache = nullptr;
  if (wanted.mode == PriceMode::kAnalytic && !wanted.replan) return;
  // Without a file nothing of what runs show would outlive the session.
  const bool useful = !CacheFolder().empty() || wanted.mode == PriceMode::kMeasure || wanted.replan;
  if (!useful) return;
  price_cache_ = std::make_unique<PriceCache>(HostMachine());
  options_.build.price_cache = price_cache_.get();
  if (wanted.mode != PriceMode::kAnalytic) price_cache_->Load();
}

void Session::SavePrices() {
  const PriceOptions& options = options_.build.prices;
  // Analytic prices with re-planning: learned for this session, not for others.
  if (!price_cache_ || options.mode == PriceMode::kAnalytic) return;
  std::lock_guard<std::mutex> one(compile_mutex_);
  std::vector<std::shared_ptr<Compiled>> plans;
  {
    std::lock_guard<std::mutex> lock(cache_mutex_);
    for (const CachedPlan& p : cache_) plans.push_back(p.compiled);
  }
  for (const auto& c : plans) Remember(c.get(), options.observe_budget_ms);
  price_cache_->Save();
}

void Session::Remember(Compiled* c, double observe_budget_ms) {
  if (price_cache_) RecordRuns(engines_, c, price_cache_.get(), observe_budget_ms);
}

void Session::ReplanIfSurprised(std::string_view entry_name, std::span<const TensorView> inputs,
                                const std::shared_ptr<Compiled>& c) {
  if (!c->clock || c->clock->warm_runs() < c->next_replan_check) return;
  std::unique_lock<std::mutex> one(compile_mutex_, std::try_to_lock);
  if (!one.owns_lock()) return;  // Another run is at it.
  c->next_replan_check = c->clock->warm_runs() * kChecksApart;
  const double measured = c->clock->Read().total.ns, predicted = c->plan.predicted_ns;
  if (std::abs(measured - predicted) <= kSurprise * predicted) return;
  auto entry = FindEntry(entry_name);
  if (!entry.ok()) return;
  Remember(c.get(), options_.build.prices.observe_budget_ms);
  BuildOptions build = options_.build;
  build.incumbent = c.get();
  auto made = CompileNew(**entry, inputs, build);
  if (!made.ok()) {
    // The plan in use is as good as it was.
    LogLine(1, "re-planning failed: " + made.status().ToString());
    return;
  }
  if (!*made) return;
  LogLine(2, fmt::format("re-planned '{}': measured {:.0f} ns, predicted {:.0f}; the new plan is "
                         "predicted at {:.0f} ns",
                         (*entry)->name, measured, predicted, (*made)->plan.predicted_ns));
  std::lock_guard<std::mutex> lock(cache_mutex_);
  for (CachedPlan& p : cache_) {
    if (p.compiled == c) p.compiled = *made;
  }
  auto latest = latest_.find(*entry);
  if (latest != latest_.end() && latest->second == c) latest->second = *made;
  ++replans_;
}

}  // namespace ge

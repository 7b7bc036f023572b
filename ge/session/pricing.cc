// What a session does about prices over its life: the cache is read when a model is loaded, runs
// are remembered when plans are put away, and, where the caller allows it, a plan whose time is not
// as predicted is placed again.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ge/base/clock.h"
#include "ge/base/log.h"
#include "ge/host/cache_folder.h"
#include "ge/host/machine.h"
#include "ge/place/placed.h"
#include "ge/price/correct.h"
#include "ge/run/tensor_view.h"
#include "ge/session/session.h"
#include "ge/tune/measure.h"
#include "ge/tune/probe_engines.h"
#include "ge/tune/rehearse.h"
#include "ge/tune/rehearse_inputs.h"
#include "ge/tune/rehearsed.h"

namespace ge {
namespace {

// A plan is placed again when its measured time is off by more than this share of the prediction.
constexpr double kSurprise = 0.25;
constexpr uint32_t kChecksApart = 4;  // each check at so many times the timed runs of the last
// A session's end may take this share of its life to time single offers: one that lived for a
// second learns less than one that served for an hour, and the next one goes on where it ended.
// But so long in any case: a model of microseconds would never learn who else could run it.
constexpr double kObservedShare = 0.03, kObservedMs = 2;
// Of the cheapest at corrected prices: at a session's end only who would be taken next time.
constexpr double kWouldBeTaken = 1.1;

// Whether part of the plan's price is of no offer: ways to a device and the wait for it.
bool GoesToDevices(const Compiled& c) {
  const auto& segments = c.plan.functions[0].segments;
  return std::any_of(segments.begin(), segments.end(),
                     [&](const PlanSegment& s) { return c.plan.devices[s.device].async; });
}

// Whether what runs of this machine show counts for prices, and is kept for other sessions.
bool Learns(PriceMode mode) { return mode == PriceMode::kCached || mode == PriceMode::kMeasure; }

}  // namespace

void Session::StartPricing() {
  const PriceOptions& wanted = options_.build.prices;
  options_.build.price_cache = nullptr;
  if (wanted.mode == PriceMode::kAnalytic && !wanted.replan) return;
  if (wanted.mode == PriceMode::kShipped) {
    price_cache_ = Runtime::ShippedPrices(engines_);
    if (price_cache_->Empty() && !wanted.replan) price_cache_.reset();
    options_.build.price_cache = price_cache_.get();
    return;
  }
  // What analytic prices with re-planning learn is for this session alone.
  price_cache_ = wanted.mode == PriceMode::kAnalytic ? std::make_shared<PriceCache>(HostMachine())
                                                     : options_.runtime->Prices(engines_);
  // Without a file nothing of what runs show would outlive the process.
  const bool useful = !CacheFolder().empty() || wanted.mode == PriceMode::kMeasure ||
                      wanted.replan || !price_cache_->Empty();
  if (!useful) {
    price_cache_.reset();
    return;
  }
  options_.build.price_cache = price_cache_.get();
}

Result<MeasureReport> Session::Tune(double budget_ms) {
  GE_RETURN_IF_ERROR(Engines().status());
  // Without a folder it is for this session alone.
  if (!price_cache_) price_cache_ = std::make_shared<PriceCache>(HostMachine());
  const FloatModeScope mode(options_.denormals);
  const MeasureReport measured = ProbeEngines(engines_, budget_ms, price_cache_.get());
  price_cache_->Save();
  return measured;
}

std::shared_ptr<Compiled> Session::RehearsePlans(const Entry& entry,
                                                 std::span<const TensorView> inputs,
                                                 std::shared_ptr<Compiled> made) {
  // A run that writes states would have effects.
  const bool by_cost = options_.build.place.policy == PlacePolicy::kCost;
  if (!by_cost || engines_.size() < 2 || !made->states_out.empty() || !price_cache_) return made;
  RehearsalBuffers buffers;
  // No memory to rehearse in: the plan stands as it was predicted.
  if (!buffers.Fill(*made, inputs)) return made;
  BuildOptions build = options_.build;
  build.prices.mode = PriceMode::kCached;
  build.prices.recall = false;
  build.classes = nullptr;
  RehearsalHooks hooks;
  hooks.make = [&](const PlaceOptions& place, StageId stop) {
    build.place = place;
    build.stop_after = stop;
    return CompileNew(entry, inputs, build);
  };
  hooks.run = [&](Compiled* c) { return RunApart(c, buffers.in, buffers.out); };
  hooks.remember = [&](Compiled* c) { Remember(c, 0); };
  std::vector<std::string> names;
  for (const auto& e : engines_) names.push_back(e->name());
  const MeasureReport measured = made->measured;
  const std::string question = made->question;
  RehearsalReport report;
  made = Rehearse(std::move(made), options_.build.place, names, hooks,
                  options_.build.prices.measure_budget_ms, &report);
  made->measured = measured;
  made->measured.plans = report.plans;
  made->measured.rehearsal_ms = report.ms;
  if (!question.empty() && report.plans > 0) KeepRehearsed(question, made->plan, made->expanded);
  return made;
}

Result<std::shared_ptr<Compiled>> Session::BuildOrRecall(Graph bound, FunctionId fn,
                                                         const BuildOptions& build) {
  const PlaceOptions& asked = build.place;
  const bool free_choice =
      asked.policy == PlacePolicy::kCost && asked.order.empty() && asked.pins.empty() && asked.fuse;
  const bool kept =
      build.prices.recall && Learns(build.prices.mode) && free_choice &&
      build.incumbent == nullptr && engines_.size() > 1 &&
      (build.prices.mode == PriceMode::kMeasure ? !CacheFolder().empty() : AnyRehearsed());
  if (!kept) return BuildCompiled(std::move(bound), fn, engines_, build);
  const std::string question = QuestionOf(bound, engines_);
  BuildOptions again = build;
  again.place = FindRehearsed(question);
  GE_ASSIGN_OR_RETURN(auto made, BuildCompiled(std::move(bound), fn, engines_, again));
  made->question = question;
  made->recalled = made->plan.place_method == kRehearsedMethod;
  return made;
}

void Session::SavePrices() {
  const PriceOptions& options = options_.build.prices;
  const FloatModeScope mode(options_.denormals);
  std::lock_guard<std::mutex> one(compile_mutex_);
  // With others and re-planning: learned for this session alone.
  if (!price_cache_ || !Learns(options.mode)) return;
  // No run comes any more, and what is timed alone needs room of its own.
  if (options_.build.arenas) options_.build.arenas->DropFree();
  const double now = NowMs();
  const double share = std::max(kObservedMs, kObservedShare * (now - made_ms_));
  const double end = now + std::min(options.observe_budget_ms, share);
  for (const auto& c : plans_.All()) Remember(c.get(), std::max(0.0, end - NowMs()));
  // Known times are compared with guesses, of which some are too low: a plan would go to each of
  // these in turn, and be slower.
  for (const auto& c : plans_.All()) {
    // Beside a device who seems dearer by its price alone may be cheaper.
    const double within = GoesToDevices(*c) ? MeasureOptions().rival : kWouldBeTaken;
    if (c->recorded_runs > 0 && end > NowMs()) TryRivals(*c, end - NowMs(), within);
  }
  price_cache_->Save();
}

void Session::Remember(Compiled* compiled, double observe_budget_ms) {
  if (!price_cache_) return;
  // Without a folder other sessions of the process would still plan by what this one has seen: they
  // are to plan as if it had not run.
  const PriceOptions& prices = options_.build.prices;
  const bool links = !CacheFolder().empty() || prices.mode == PriceMode::kMeasure || prices.replan;
  RecordRuns(engines_, compiled, price_cache_.get(), observe_budget_ms, load_watch_.Busy(), links);
}

// Times what may beat the plan by its corrected prices and was never timed: a plan that runs as
// predicted shows nothing of those that were not taken. How many were timed.
uint32_t Session::TryRivals(const Compiled& compiled, double budget_ms, double within) {
  const Function& f = compiled.graph.fn(compiled.fn);
  const auto view = GraphView::Make(compiled.graph, f);
  if (!view.ok()) return 0;
  MeasureOptions options;
  options.budget_ms = budget_ms;
  options.rival = within;
  options.rivals_only = true;
  Compiled::PinnedPacks pinned;
  if (pinned.PinAsTheyAre(&compiled)) options.between = compiled.HostPacks();
  return MeasureOffers(engines_, compiled.graph, f, compiled.plan.layouts, view->get(),
                       compiled.offers, price_cache_.get(), options)
      .measured;
}

void Session::ReplanIfSurprised(std::string_view entry_name, std::span<const TensorView> inputs,
                                const std::shared_ptr<Compiled>& compiled) {
  if (!compiled->clock || compiled->clock->warm_runs() < compiled->next_replan_check) return;
  std::unique_lock<std::mutex> one(compile_mutex_, std::try_to_lock);
  if (!one.owns_lock()) return;  // Another run is at it.
  compiled->next_replan_check = compiled->clock->warm_runs() * kChecksApart;
  const double measured = compiled->clock->Read().total.ns, predicted = compiled->plan.predicted_ns;
  auto entry = FindEntry(entry_name);
  if (!entry.ok()) return;
  Remember(compiled.get(), options_.build.prices.observe_budget_ms);
  const bool surprised = std::abs(measured - predicted) > kSurprise * predicted;
  const uint32_t tried =
      TryRivals(*compiled, options_.build.prices.observe_budget_ms, MeasureOptions().rival);
  if (tried == 0 && !surprised) return;
  BuildOptions build = options_.build;
  build.incumbent = compiled.get();
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
  plans_.Replace(*entry, compiled, *made);
  ++replans_;
}

}  // namespace ge

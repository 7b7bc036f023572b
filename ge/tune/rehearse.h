// Rehearsal: the last step of `--prices measure`. Sums of single offers' times ignore a segment's
// effect on the caches of the next, so whole plans are run against each other: the solver's; plans
// giving each engine in turn all that it offers; the solver's again at the prices after those runs;
// then moves from the best of them to another engine, of all nodes of a kind or of one, as long as
// one helps. In the end the winner is made anew beside the plans by priority that came near. It
// makes and runs plans through hooks and knows neither sessions nor engines.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ge/base/clock.h"
#include "ge/compile/compiled/compiled.h"

namespace ge {

struct RehearsalHooks {
  // Makes a plan by these options, at present prices; unfinished when `stop` is before kCheck.
  std::function<Result<std::shared_ptr<Compiled>>(const PlaceOptions&, StageId stop)> make;
  std::function<Status(Compiled*)> run;     // once
  std::function<void(Compiled*)> remember;  // its timed runs go into the price cache
  std::function<double()> now_ms = &NowMs;  // the clock for timing runs
};

struct RehearsalReport {
  uint32_t plans = 0;  // plans run against the one held
  uint32_t won = 0;
  double ms = 0;
};

// Answers `first`, or the plan that beat it: by the median of pairs of runs in turns, most of which
// it won, and again when it was made anew. Starts no plan after `budget_ms`. Up to three plans are
// held at once. Errors of other plans than `first` are logged.
std::shared_ptr<Compiled> Rehearse(std::shared_ptr<Compiled> first, const PlaceOptions& place,
                                   const std::vector<std::string>& engines,
                                   const RehearsalHooks& hooks, double budget_ms,
                                   RehearsalReport* report);

}  // namespace ge

#include "ge/session/rehearse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ge/base/clock.h"
#include "ge/engine/plugin.h"

namespace ge {
namespace {

constexpr int kPairs = 11, kFewPairs = 3;
constexpr double kClearlyWorse = 1.2;  // after a few pairs
constexpr double kWins = 0.98;         // of the time of the plan held
constexpr double kSampleMs = 1;        // runs of less than this are timed several at once
// A plan that is predicted at more than this share of the best one is not made.
constexpr double kWorthARun = 1.5;
constexpr int kSolves = 6;  // times that the solver is asked again

// Who runs what: equal for plans that do the same.
std::string Digest(const Compiled& c) {
  std::vector<std::string> lines;
  for (const PlanSegment& s : c.plan.functions[0].segments) {
    std::string line = std::to_string(s.device);
    for (const PlanOffer& o : s.offers) {
      line += fmt::format(" {}/{}", fmt::join(o.nodes, "+"), o.choice);
    }
    if (!s.offers.empty()) lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

class Rehearsal {
 public:
  Rehearsal(std::shared_ptr<Compiled> first, const RehearsalHooks& hooks, double budget_ms)
      : hooks_(hooks), end_ms_(NowMs() + budget_ms), held_(std::move(first)) {
    seen_.insert(Digest(*held_));
  }

  void Run(const PlaceOptions& place, const std::vector<std::string>& engines) {
    // A plan that does not run on these inputs is not compared: the caller's own run says why.
    if (!hooks_.run(held_.get()).ok()) return;
    const double start = NowMs();
    if (!hooks_.run(held_.get()).ok()) return;
    inner_ = std::clamp(static_cast<int>(kSampleMs / std::max(NowMs() - start, 1e-3)), 1, 100);
    std::vector<Challenger> challengers;
    for (const auto& order : Orders(engines)) {
      PlaceOptions by_order = place;
      by_order.policy = PlacePolicy::kPriority, by_order.order = order;
      if (!TimeLeft()) break;
      auto placed = hooks_.make(by_order, StageId::kPlace);
      if (!placed.ok() || !*placed || !seen_.insert(Digest(**placed)).second) continue;
      if ((*placed)->plan.predicted_ns > kWorthARun * held_->plan.predicted_ns) continue;
      challengers.push_back({std::move(by_order), (*placed)->plan.predicted_ns});
    }
    std::sort(challengers.begin(), challengers.end(),
              [](const auto& a, const auto& b) { return a.predicted_ns < b.predicted_ns; });
    for (const Challenger& c : challengers) Challenge(c.place, false);
    for (int i = 0; i < kSolves; ++i) {
      if (!Challenge(place, true)) break;
    }
    hooks_.remember(held_.get());
  }

  std::shared_ptr<Compiled> held() { return std::move(held_); }
  uint32_t plans() const { return plans_; }
  uint32_t won() const { return won_; }

 private:
  struct Challenger {
    PlaceOptions place;
    double predicted_ns = 0;
  };

  bool TimeLeft() const { return NowMs() < end_ms_; }

  // Each engine first, the others behind in the session's order and in the opposite one.
  static std::set<std::vector<std::string>> Orders(const std::vector<std::string>& engines) {
    std::set<std::vector<std::string>> out;
    for (const std::string& first : engines) {
      std::vector<std::string> rest;
      for (const std::string& e : engines) {
        if (e != first) rest.push_back(e);
      }
      for (int turn = 0; turn < 2; ++turn) {
        std::vector<std::string> order = {first};
        order.insert(order.end(), rest.begin(), rest.end());
        out.insert(std::move(order));
        std::reverse(rest.begin(), rest.end());
      }
    }
    return out;
  }

  // False when there is no new plan to run.
  bool Challenge(const PlaceOptions& place, bool unseen) {
    if (!TimeLeft()) return false;
    auto made = hooks_.make(place, StageId::kCheck);
    if (!made.ok() || !*made) {
      if (!made.ok()) LogLine(2, "a plan was not rehearsed: " + made.status().message());
      return false;
    }
    if (unseen && !seen_.insert(Digest(**made)).second) return false;
    const double ratio = Race(made->get());
    ++plans_;
    hooks_.remember(made->get());
    LogLine(3, fmt::format("rehearsal: {} takes {:.3f} of the time of the plan held",
                           (*made)->plan.place_method, ratio));
    if (ratio < kWins) {
      hooks_.remember(held_.get());
      held_ = std::move(*made);
      ++won_;
    }
    return true;
  }

  // Its time / that of the plan held, median; infinite when it does not run.
  double Race(Compiled* other) {
    std::vector<double> ratios;
    if (Sample(other) < 0) return kNever;  // pays for fresh pages
    for (int i = 0; i < kPairs; ++i) {
      const bool other_first = i % 2 == 1;
      double a = other_first ? 0 : Sample(held_.get());
      const double b = Sample(other);
      if (other_first) a = Sample(held_.get());
      if (a <= 0 || b < 0) return kNever;
      ratios.push_back(b / a);
      std::vector<double> sorted = ratios;
      std::sort(sorted.begin(), sorted.end());
      const double median = sorted[sorted.size() / 2];
      if ((i + 1 >= kFewPairs && median > kClearlyWorse) || i + 1 == kPairs) return median;
    }
    return kNever;
  }

  // ms of some runs; -1 when one fails.
  double Sample(Compiled* c) {
    const double start = NowMs();
    for (int k = 0; k < inner_; ++k) {
      if (!hooks_.run(c).ok()) return -1;
    }
    return NowMs() - start;
  }

  static constexpr double kNever = 1e300;
  const RehearsalHooks& hooks_;
  const double end_ms_;
  std::shared_ptr<Compiled> held_;
  std::set<std::string> seen_;
  int inner_ = 1;
  uint32_t plans_ = 0, won_ = 0;
};

}  // namespace

std::shared_ptr<Compiled> Rehearse(std::shared_ptr<Compiled> first, const PlaceOptions& place,
                                   const std::vector<std::string>& engines,
                                   const RehearsalHooks& hooks, double budget_ms,
                                   RehearsalReport* report) {
  const double begin = NowMs();
  Rehearsal rehearsal(std::move(first), hooks, budget_ms);
  rehearsal.Run(place, engines);
  *report = {rehearsal.plans(), rehearsal.won(), NowMs() - begin};
  return rehearsal.held();
}

}  // namespace ge

#include "ge/tune/rehearse.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ge/base/log.h"
#include "ge/place/placed.h"

namespace ge {
namespace {

constexpr int kPairs = 11, kFewPairs = 3;
constexpr double kClearlyWorse = 1.06;  // after a few pairs
constexpr double kWins = 0.98;          // of the time of the plan held,
constexpr int kWonPairs = 9;            // and so many of its pairs were won: 1 of 30 by chance;
constexpr double kWinsALittle = 0.995;  // else
constexpr int kMorePairs = 33, kMoreWonPairs = 23;  // of so many pairs: 1 of 60
constexpr double kSampleMs = 1;  // runs of less than this are timed several at once
// A plan that is predicted at more than this share of the best one is not made.
constexpr double kWorthARun = 1.5;
constexpr int kSolves = 6;          // times that the solver is asked again
constexpr size_t kAllOrders = 4;    // up to so many engines every order of them is proposed
constexpr double kForMoves = 0.75;  // of the budget; the rest is for the last word
constexpr int kRemakes = 3;         // of that
// Moves of nodes: of kinds that take at least this share of a plan's time, and to engines by whose
// bids the plan would take at most so much more.
constexpr double kWorthAMove = 0.01, kMaybeFaster = 0.15;

const std::string& EngineOf(const Plan& plan, const Bid& b) {
  return plan.engines[plan.devices[b.device].engine].name;
}

// Nodes of one operator of which all engines ask the same: layers that repeat.
struct NodeClass {
  std::vector<NodeId> nodes;
  double ns = 0;                         // of what they were taken at
  std::map<std::string, double> others;  // engines that bid and do not have them: theirs
};
std::map<std::string, NodeClass> ClassesOf(const Plan& plan) {
  std::map<std::string, NodeClass> classes;
  for (const NodeReport& r : plan.reports()) {
    if (r.chosen < 0) continue;
    std::string key = fmt::format("{} {}", r.op, r.chosen);
    const Bid& chosen = r.bids[static_cast<size_t>(r.chosen)];
    std::map<std::string, double> least;
    for (const Bid& b : r.bids) {
      key += fmt::format(" {}{}{:.0f}{}", b.device, b.declined, b.analytic_ns, b.pattern);
      if (b.declined || EngineOf(plan, b) == EngineOf(plan, chosen)) continue;
      auto [it, fresh] = least.emplace(EngineOf(plan, b), b.price_ns);
      if (!fresh) it->second = std::min(it->second, b.price_ns);
    }
    NodeClass& c = classes[key];
    c.nodes.push_back(r.node);
    c.ns += chosen.price_ns;
    for (const auto& [engine, ns] : least) c.others[engine] += ns;
  }
  return classes;
}

class Rehearsal {
 public:
  Rehearsal(std::shared_ptr<Compiled> first, const RehearsalHooks& hooks, double budget_ms)
      : hooks_(hooks),
        last_word_ms_(hooks.now_ms() + budget_ms),
        end_ms_(hooks.now_ms() + kForMoves * budget_ms),
        held_(std::move(first)) {
    seen_.insert(PlacementDigest(held_->plan));
  }

  void Run(const PlaceOptions& place, const std::vector<std::string>& engines) {
    // A plan that does not run on these inputs is not compared: the caller's own run says why.
    if (!hooks_.run(held_.get()).ok()) return;
    const double start = hooks_.now_ms();
    if (!hooks_.run(held_.get()).ok()) return;
    inner_ =
        std::clamp(static_cast<int>(kSampleMs / std::max(hooks_.now_ms() - start, 1e-3)), 1, 100);
    std::vector<Challenger> challengers;
    Challenger first = ChallengerOf(*held_);
    first.ratio = 1;
    for (const auto& order : Orders(engines)) {
      PlaceOptions by_order = place;
      by_order.policy = PlacePolicy::kPriority;
      by_order.order = order;
      const auto placed = Propose(by_order);
      if (!placed || placed->plan.predicted_ns > kWorthARun * held_->plan.predicted_ns) continue;
      challengers.push_back(ChallengerOf(*placed));
    }
    std::sort(challengers.begin(), challengers.end(),
              [](const auto& a, const auto& b) { return a.ns < b.ns; });
    for (Challenger& c : challengers) Challenge(c.place, &c.ratio);
    for (int i = 0; i < kSolves; ++i) {
      const auto placed = Propose(place);
      if (!placed) break;
      Challenge(Again(*placed));
    }
    while (MoveOnce(/*alone=*/false) || MoveOnce(/*alone=*/true)) {
    }
    end_ms_ = last_word_ms_;
    challengers.push_back(std::move(first));
    LastWord(challengers);
    hooks_.remember(held_.get());
  }

  std::shared_ptr<Compiled> held() { return std::move(held_); }
  uint32_t plans() const { return plans_; }
  uint32_t won() const { return won_; }

 private:
  static constexpr double kNever = 1e300;
  struct Challenger {
    PlaceOptions place;
    double ns = 0;  // predicted of the plan; of a move: more than of the plan held
    std::string digest = {};
    double ratio = kNever;  // of the first race
  };
  static Challenger ChallengerOf(const Compiled& c) {
    return {Again(c), c.plan.predicted_ns, PlacementDigest(c.plan)};
  }

  // A plan that was not proposed before, unfinished, since most of making a plan is compiling it;
  // null when there is none.
  std::shared_ptr<Compiled> Propose(const PlaceOptions& place) {
    if (!TimeLeft()) return nullptr;
    auto placed = hooks_.make(place, StageId::kPlace);
    const bool made = placed.ok() && *placed;
    if (!made || !seen_.insert(PlacementDigest((*placed)->plan)).second) return nullptr;
    return *std::move(placed);
  }
  static PlaceOptions Again(const Compiled& c) {
    PlaceOptions place;
    place.cover = CoverOf(c.plan, c.plan.functions[0]);
    place.expanded = c.expanded;
    return place;
  }

  // Moves kinds of nodes, or each node of a kind alone, to another engine than they have, the most
  // promising first; true when one of these plans won.
  bool MoveOnce(bool alone) {
    std::vector<Challenger> moves;
    for (const auto& [key, c] : ClassesOf(held_->plan)) {
      const double parts = alone ? static_cast<double>(c.nodes.size()) : 1;
      if (alone && c.nodes.size() == 1) continue;
      if (c.ns / parts < kWorthAMove * held_->plan.predicted_ns) continue;
      for (const auto& [engine, ns] : c.others) {
        const double more_ns = (ns - c.ns) / parts;
        if (more_ns > kMaybeFaster * held_->plan.predicted_ns) continue;
        for (size_t i = 0; i < static_cast<size_t>(parts); ++i) {
          PlaceOptions place;
          place.pins = PinsOfMove(held_->plan, alone ? std::vector{c.nodes[i]} : c.nodes, engine);
          place.expanded = held_->expanded;
          moves.push_back({std::move(place), more_ns});
        }
      }
    }
    std::sort(moves.begin(), moves.end(), [](const auto& a, const auto& b) { return a.ns < b.ns; });
    for (const Challenger& m : moves) {
      const auto placed = Propose(m.place);
      if (placed && Challenge(Again(*placed))) return true;
    }
    return false;
  }

  bool TimeLeft() const { return hooks_.now_ms() < end_ms_; }

  // Every order; of many engines each first, the others behind in the session's order and in the
  // opposite one.
  static std::set<std::vector<std::string>> Orders(std::vector<std::string> engines) {
    std::set<std::vector<std::string>> out;
    if (engines.size() <= kAllOrders) {
      std::sort(engines.begin(), engines.end());
      do out.insert(engines);
      while (std::next_permutation(engines.begin(), engines.end()));
      return out;
    }
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

  // Whether the plan takes the place of the one held. It must win twice, the second time made anew
  // beside the first: where a plan lies in memory alone may make it faster or slower.
  bool Challenge(const PlaceOptions& place, double* first_ratio = nullptr) {
    std::shared_ptr<Compiled> made[2];
    for (auto& copy : made) {
      copy = Make(place);
      if (!copy) return false;
      const double ratio = Race(copy.get());
      if (first_ratio && &copy == made) *first_ratio = ratio;
      plans_ += &copy == made;
      hooks_.remember(copy.get());
      LogLine(3, fmt::format("rehearsal: a plan of {} segments takes {:.3f} of the time of the one "
                             "held",
                             copy->plan.functions[0].segments.size(), ratio));
      if (ratio >= 1) return false;
    }
    hooks_.remember(held_.get());
    held_ = std::move(made[1]);
    ++won_;
    return true;
  }

  // Finished; null when there is no time left or it cannot be made.
  std::shared_ptr<Compiled> Make(const PlaceOptions& place) {
    if (!TimeLeft()) return nullptr;
    auto compiled = hooks_.make(place, StageId::kCheck);
    if (!compiled.ok()) LogLine(2, "a plan was not rehearsed: " + compiled.status().message());
    return compiled.ok() ? *std::move(compiled) : nullptr;
  }

  // What won many races may owe it to where it happens to lie in memory, as the plan held does not
  // move while others come and go. So it is made anew beside each plan by priority that was not
  // clearly worse, and beside the one that came first, several times; one that wins most of those
  // races takes its place.
  void LastWord(const std::vector<Challenger>& orders) {
    for (const Challenger& order : orders) {
      if (order.ratio > kClearlyWorse || order.digest == PlacementDigest(held_->plan)) continue;
      std::vector<double> ratios;
      std::shared_ptr<Compiled> other;
      for (int k = 0; k < kRemakes; ++k) {
        // In turns, so that each gets the memory that the other has left.
        std::shared_ptr<Compiled> mine = k % 2 == 0 ? Make(Again(*held_)) : nullptr;
        other = Make(order.place);
        if (!mine) mine = Make(Again(*held_));
        if (!mine || !other || Sample(mine.get()) < 0 || Sample(other.get()) < 0) return;
        for (int i = 0; i < kPairs; ++i) {
          ratios.push_back(Pair(mine.get(), other.get(), i % 2 == 0));
        }
      }
      std::sort(ratios.begin(), ratios.end());
      const double median = ratios[ratios.size() / 2];
      LogLine(3, fmt::format("rehearsal: made anew, a plan by priority takes {:.3f}", median));
      if (median >= kWinsALittle || WonOf(ratios) < kMoreWonPairs) continue;
      hooks_.remember(held_.get());
      held_ = std::move(other);
      ++won_;
    }
  }

  // Sorted ratios below 1.
  static int64_t WonOf(const std::vector<double>& ratios) {
    return std::lower_bound(ratios.begin(), ratios.end(), 1.0) - ratios.begin();
  }

  // The time of `b` / that of `a`, in turns; infinite when one does not run.
  double Pair(Compiled* a, Compiled* b, bool b_first) {
    double of_a = b_first ? 0 : Sample(a);
    const double of_b = Sample(b);
    if (b_first) of_a = Sample(a);
    return of_a <= 0 || of_b < 0 ? kNever : of_b / of_a;
  }

  // Its time / that of the plan held, median; infinite when it does not run, at least 1 when it
  // won too few pairs. Few pairs show a large gain, a small one takes more of them.
  double Race(Compiled* other) {
    std::vector<double> ratios;
    if (Sample(other) < 0) return kNever;  // pays for fresh pages
    for (int i = 1; i <= kMorePairs; ++i) {
      ratios.push_back(Pair(held_.get(), other, i % 2 == 0));
      if (ratios.back() == kNever) return kNever;
      std::sort(ratios.begin(), ratios.end());
      const double median = ratios[ratios.size() / 2];
      const auto won = WonOf(ratios);
      if (i >= kFewPairs && median > kClearlyWorse) return median;
      if (i == kPairs && median >= kWinsALittle) return std::max(1.0, median);
      if (i == kPairs && median < kWins && won >= kWonPairs) return median;
      if (i == kMorePairs && median < kWinsALittle && won >= kMoreWonPairs) return median;
    }
    return std::max(1.0, ratios[ratios.size() / 2]);
  }

  // ms of some runs; -1 when one fails.
  double Sample(Compiled* c) {
    const double start = hooks_.now_ms();
    for (int k = 0; k < inner_; ++k) {
      if (!hooks_.run(c).ok()) return -1;
    }
    return hooks_.now_ms() - start;
  }

  const RehearsalHooks& hooks_;
  const double last_word_ms_;
  double end_ms_;
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
  const double begin = hooks.now_ms();
  Rehearsal rehearsal(std::move(first), hooks, budget_ms);
  rehearsal.Run(place, engines);
  *report = {rehearsal.plans(), rehearsal.won(), hooks.now_ms() - begin};
  return rehearsal.held();
}

}  // namespace ge

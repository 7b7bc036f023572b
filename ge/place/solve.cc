// SolvePlacement and CoverCost: which search runs when.
#include <fmt/format.h>

#include <algorithm>

#include "ge/base/interrupt.h"
#include "ge/place/arrangement.h"
#include "ge/place/cover.h"
#include "ge/place/frontier.h"
#include "ge/place/model.h"
#include "ge/place/moves.h"
#include "ge/place/place.h"

namespace ge {
namespace place {
namespace {

// Up to here a second search may spend kBranchTransitions to prove the optimum.
constexpr uint32_t kBranchNodes = 24;
constexpr uint32_t kBranchStates = 200000;
constexpr uint64_t kBranchTransitions = 2000000;
// About 0.6 us each. With ten times as many one plan of the fifteen reference networks was cheaper,
// by 0.05 %; with a quarter, three were dearer, by up to 0.4 %.
constexpr uint32_t kBeamStates = 4000;
constexpr uint64_t kBeamTransitions = 20000;
// Values and groups looked at, about 20 ns each: for a graph, and at least for each of its nodes.
// With twenty times as much for a graph none was cheaper.
constexpr uint64_t kMoveWork = 300000, kMoveWorkANode = 300;
// Rounds of moves and cuts, and how many there may be while each still gains that share: what
// converges slowly is given time, and real networks do not.
constexpr int kRounds = 2, kMostRounds = 40;
constexpr double kWorthMore = 0.002;
// A device whose floor is beyond that share of what is known gets no search of its own, but its
// cheapest offers grown together: floors are far below what they bound.
constexpr double kFarFromBest = 0.7;
constexpr double kPoorStart = 0.003;
constexpr uint64_t kWider = 10;
constexpr uint32_t kManyStarts = 1000;  // nodes; beyond, one start uses up the work

class Solver {
 public:
  Solver(const Model& model, double effort)
      : m_(model),
        transitions_(static_cast<uint64_t>(effort * kBeamTransitions)),
        moves_(effort * kMoveWork),
        hopeful_(model.offers.size(), true) {}
  Result<PlaceSolution> Run();

 private:
  // False when not legal.
  bool Consider(const std::vector<PlaceGroup>& groups, const char* method);
  void EachDevice();
  std::vector<bool> OffersOf(uint32_t device) const;
  double Floor(const std::vector<bool>& allowed) const;
  void OneDevice(const std::vector<bool>& allowed, double floor);
  void Greedy(const std::vector<bool>& allowed, const char* method);
  void Greedy(const std::vector<uint32_t>& offers, const char* method);
  std::vector<uint32_t> GreedyOffers(const std::vector<bool>& allowed,
                                     const std::vector<uint32_t>& first) const;
  std::vector<uint32_t> GainfulPatterns() const;
  bool Exact(FrontierLimits limits, const char* method);
  void DropHopeless();
  void Improve();

  const Model& m_;
  const uint64_t transitions_;
  const double moves_;
  std::vector<bool> hopeful_;  // by offer: takes part in the search
  double best_ = kInfinity;
  std::vector<PlaceGroup> groups_;
  std::string method_;
  std::vector<std::vector<PlaceGroup>> starts_;  // covers worth improving
  bool legal_seen_ = false, beam_found_ = false;
};

// The yardstick of every search: legal, finite and cheaper, or it is not taken.
bool Solver::Consider(const std::vector<PlaceGroup>& groups, const char* method) {
  const Result<double> cost = Evaluate(m_, groups);
  if (!cost.ok()) return false;
  legal_seen_ = true;
  if (*cost < best_) {
    best_ = *cost;
    groups_ = groups;
    method_ = method;
  }
  return true;
}

// What an offer costs where it is one of many: the price of a group falls on all of it.
double PriceAmong(const ModelOffer& offer) {
  return offer.growable ? offer.marginal : offer.Alone();
}

// Disjoint patterns that cost less than the cheapest single offers for the same nodes.
std::vector<uint32_t> Solver::GainfulPatterns() const {
  std::vector<double> least(m_.n_node, kInfinity);
  for (const ModelOffer& offer : m_.offers) {
    if (!offer.usable || offer.parts.size() != 1) continue;
    double& price = least[offer.parts[0].node];
    price = std::min(price, PriceAmong(offer));
  }
  std::vector<bool> covered(m_.n_node, false);
  std::vector<uint32_t> taken;
  for (uint32_t node : m_.order) {
    int64_t best = -1;
    double best_gain = 0;
    for (uint32_t o : m_.node_offers[node]) {
      const ModelOffer& offer = m_.offers[o];
      if (offer.parts.size() == 1 || offer.parts[0].node != node) continue;
      double gain = -PriceAmong(offer);
      for (const OfferPart& part : offer.parts) {
        gain += covered[part.node] ? -kInfinity : least[part.node];
      }
      if (!(gain > best_gain)) continue;
      best = o;
      best_gain = gain;
    }
    if (best < 0) continue;
    taken.push_back(static_cast<uint32_t>(best));
    for (const OfferPart& part : m_.offers[taken.back()].parts) covered[part.node] = true;
  }
  return taken;
}

// Covers each node that `first` leaves by its cheapest single offer, nodes that have none by a
// pattern before that.
std::vector<uint32_t> Solver::GreedyOffers(const std::vector<bool>& allowed,
                                           const std::vector<uint32_t>& first) const {
  std::vector<bool> covered(m_.n_node, false);
  std::vector<uint32_t> taken = first;
  for (uint32_t o : first) {
    for (const OfferPart& part : m_.offers[o].parts) covered[part.node] = true;
  }
  for (const bool single : {false, true}) {
    for (uint32_t node : m_.order) {
      if (covered[node]) continue;
      int64_t best = -1;
      double best_price = kInfinity;
      const auto& offers = m_.node_offers[node];
      const bool has_single = std::any_of(offers.begin(), offers.end(), [&](uint32_t o) {
        return allowed[o] && m_.offers[o].parts.size() == 1;
      });
      if (!single && has_single) continue;
      for (uint32_t o : offers) {
        const ModelOffer& offer = m_.offers[o];
        if (!allowed[o] || single != (offer.parts.size() == 1)) continue;
        bool free = true;
        for (const OfferPart& part : offer.parts) free = free && !covered[part.node];
        const double price = PriceAmong(offer);
        if (!free || price >= best_price) continue;
        best = o;
        best_price = price;
      }
      if (best < 0) continue;
      taken.push_back(static_cast<uint32_t>(best));
      for (const OfferPart& part : m_.offers[taken.back()].parts) covered[part.node] = true;
    }
  }
  return taken;
}

// The offers of one device, and any other's for what it does not offer; none where it has none.
std::vector<bool> Solver::OffersOf(uint32_t device) const {
  std::vector<bool> allowed(m_.offers.size(), false);
  bool used = false;
  for (uint32_t node = 0; node < m_.n_node; ++node) {
    bool own_single = false, any_single = false;
    for (uint32_t o : m_.node_offers[node]) {
      const bool single = m_.offers[o].parts.size() == 1, own = m_.offers[o].device == device;
      any_single = any_single || single;
      own_single = own_single || (own && single);
      used = used || own;
      if (own) allowed[o] = true;
    }
    if (own_single) continue;
    for (uint32_t o : m_.node_offers[node]) {
      if (m_.offers[o].parts.size() == 1 || !any_single) allowed[o] = true;
    }
  }
  return used ? allowed : std::vector<bool>();
}

// No cover by these offers costs less: each node's least share of one, less all that its edges
// could save. A share is worked out once an offer: a pattern of n nodes is looked at for each of
// them.
double Solver::Floor(const std::vector<bool>& allowed) const {
  std::vector<double> share(m_.offers.size(), kInfinity);
  for (size_t o = 0; o < share.size(); ++o) {
    const ModelOffer& offer = m_.offers[o];
    if (!allowed[o]) continue;
    double saved = 0;
    for (const OfferPart& part : offer.parts) {
      saved += offer.edge_saving * static_cast<double>(part.gives.size());
    }
    share[o] = (offer.marginal - saved) / static_cast<double>(offer.parts.size());
  }
  double sum = 0;
  for (uint32_t node = 0; node < m_.n_node; ++node) {
    double least = kInfinity;
    for (uint32_t o : m_.node_offers[node]) least = std::min(least, share[o]);
    sum += least;
  }
  return sum;
}

// The best cover by each device alone, where one could be cheaper than what is known.
void Solver::EachDevice() {
  std::vector<std::pair<double, std::vector<bool>>> each;
  for (uint32_t d = 0; d < m_.n_device; ++d) {
    std::vector<bool> allowed = OffersOf(d);
    if (!allowed.empty()) each.emplace_back(Floor(allowed), std::move(allowed));
  }
  std::stable_sort(each.begin(), each.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [floor, allowed] : each) {
    if (floor < best_) OneDevice(allowed, floor);
  }
}

void Solver::OneDevice(const std::vector<bool>& allowed, double floor) {
  if (m_.n_node <= kBranchNodes || floor < kFarFromBest * best_) {
    FrontierLimits limits;
    limits.states = 64;
    limits.transitions = transitions_ / 8;
    limits.upper_bound = best_;
    const FrontierResult found = SearchFrontier(m_, allowed, limits);
    if (found.found) Consider(found.groups, "best single device");
    if (found.exact) return;
  }
  Greedy(allowed, "best single device");
}

void Solver::Greedy(const std::vector<bool>& allowed, const char* method) {
  Greedy(GreedyOffers(allowed, {}), method);
}

void Solver::Greedy(const std::vector<uint32_t>& offers, const char* method) {
  Arrangement cover(m_);
  if (!cover.Start(offers)) return;
  starts_.push_back(cover.Groups());
  Consider(starts_.back(), method);
}

// Leaves out a node's offer when another for the same node, which touches the same values at the
// same places, costs less all alone, even if leaving cut the first one's group in kPieces: plain
// loops beside a library's convolution. On a chain there are two pieces, so nothing is lost.
void Solver::DropHopeless() {
  constexpr double kPieces = 4;
  std::vector<double> start(m_.n_device), saving(m_.n_device);
  for (const ModelOffer& o : m_.offers) {
    if (!o.usable) continue;
    start[o.device] = std::max(start[o.device], o.setup + o.launch);
    saving[o.device] = std::max(saving[o.device], o.edge_saving);
  }
  auto same = [](const std::vector<Touch>& a, const std::vector<Touch>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Touch& x, const Touch& y) {
      return x.value == y.value && x.place == y.place;
    });
  };
  for (uint32_t node = 0; node < m_.n_node; ++node) {
    for (uint32_t o : m_.node_offers[node]) {
      const ModelOffer& offer = m_.offers[o];
      if (offer.parts.size() != 1) continue;
      const OfferPart& part = offer.parts[0];
      const double lost = kPieces * start[offer.device] +
                          saving[offer.device] * static_cast<double>(1 + part.reads.size());
      for (uint32_t a : m_.node_offers[node]) {
        const ModelOffer& other = m_.offers[a];
        if (other.parts.size() != 1 || other.Alone() + lost > offer.marginal) continue;
        if (same(part.reads, other.parts[0].reads) && same(part.gives, other.parts[0].gives)) {
          hopeful_[o] = false;
        }
      }
    }
  }
}

// True when what is held afterwards is proven optimal.
bool Solver::Exact(FrontierLimits limits, const char* method) {
  limits.upper_bound = best_;
  const FrontierResult found = SearchFrontier(m_, hopeful_, limits);
  const bool legal = found.found && Consider(found.groups, found.exact ? method : "beam");
  const bool proven = found.exact && (legal || !found.found) && best_ < kInfinity;
  beam_found_ = beam_found_ || found.found;
  if (proven) method_ = method;
  return proven;
}

// Local search from the best cover; from several when no search across the whole graph was
// possible, since moves alone end where they began to lead.
void Solver::Improve() {
  if (beam_found_ || m_.n_node > kManyStarts) starts_.clear();
  starts_.insert(starts_.begin(), groups_);
  const double a_node = static_cast<double>(kMoveWorkANode * m_.n_node);
  const auto work = static_cast<uint64_t>(std::max(moves_, a_node)) / starts_.size();
  for (const std::vector<PlaceGroup>& start : starts_) {
    Arrangement cover(m_);
    if (start.empty() || !cover.Start(start)) continue;
    for (int i = 0; i < kMostRounds; ++i) {
      const double before = best_;
      const bool moved = ImproveByMoves(m_, work / 3, &cover);
      if (moved) Consider(cover.Groups(), "moves");
      const bool cut = ImproveByCuts(m_, work / 3, &cover);
      if (cut) Consider(cover.Groups(), "min-cut moves");
      const bool laid = ImproveByLayouts(m_, &cover);
      if (laid) Consider(cover.Groups(), "min-cut moves");
      const bool goes_on = best_ < (1 - kWorthMore) * before;
      if (!goes_on && ((!cut && !laid) || i >= kRounds)) break;
    }
  }
}

Result<PlaceSolution> Solver::Run() {
  for (uint32_t node = 0; node < m_.n_node; ++node) {
    if (!m_.node_offers[node].empty()) continue;
    return Status(Code::kUnsupported,
                  fmt::format("node {} has no usable offer: no device takes it at a finite price; "
                              "load an engine that does",
                              node));
  }
  if (m_.n_node > kBranchNodes) DropHopeless();
  if (m_.n_node > 0) EachDevice();
  FrontierLimits limits;
  limits.states = kBeamStates;
  limits.transitions = transitions_;
  bool proven = Exact(limits, "exact-dp");
  if (!proven) {
    const std::vector<bool> all(m_.offers.size(), true);
    if (!beam_found_) Greedy(all, "greedy");
    // Moves find good patterns too, but not in time everywhere.
    if (!beam_found_ && m_.n_node > kManyStarts) {
      Greedy(GreedyOffers(all, GainfulPatterns()), "greedy");
    }
    const double begun = best_;
    Improve();
    // Where moves had so much to mend, the search before them was too narrow.
    if (!beam_found_ || best_ < (1 - kPoorStart) * begun) {
      limits.transitions = kWider * transitions_;
      proven = Exact(limits, "exact-dp");
      if (!proven) Improve();
    }
    if (!proven && m_.n_node <= kBranchNodes) {
      limits.states = kBranchStates;
      limits.transitions = kBranchTransitions;
      proven = Exact(limits, "branch-and-bound");
    }
  }
  GE_RETURN_IF_ERROR(CheckInterrupt());
  if (best_ == kInfinity) {
    return Status(Code::kUnsupported,
                  legal_seen_
                      ? "every cover found needs a transfer or layout change that no engine makes; "
                        "load an engine that links the devices"
                      : "the offers overlap so that no choice of them covers each node once; offer "
                        "single nodes beside the patterns");
  }
  PlaceSolution solution;
  solution.cost = best_;
  solution.groups = std::move(groups_);
  solution.method = std::move(method_);
  SortGroups(m_, &solution.groups);
  return solution;
}

}  // namespace
}  // namespace place

Result<PlaceSolution> SolvePlacement(const PlaceProblem& problem) {
  GE_ASSIGN_OR_RETURN(const place::Model model, place::BuildModel(problem));
  return place::Solver(model, problem.effort).Run();
}

Result<double> CoverCost(const PlaceProblem& problem, const std::vector<PlaceGroup>& groups) {
  GE_ASSIGN_OR_RETURN(const place::Model model, place::BuildModel(problem));
  return place::Evaluate(model, groups);
}

}  // namespace ge

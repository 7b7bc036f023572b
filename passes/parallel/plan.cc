#include "passes/parallel/plan.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "ge/ge_plugin.hpp"
#include "passes/parallel/rules.h"
#include "passes/parallel/wants.h"

namespace ge::parallel {
namespace {

constexpr int64_t kNever = INT64_MAX;

Way WholeWay(const ge_node& n, bool read) {
  return {std::vector<int>(n.n_in, read ? kWhole : kUnread), std::vector<int>(n.n_out, kWhole)};
}

bool IsRead(int place) { return place >= 0 || IsTerm(place); }

// Terms of two kinds in one tensor have no order.
bool OneKind(const Places& places) {
  int kind = kWhole;
  for (const int place : places) {
    if (!IsTerm(place)) continue;
    if (kind != kWhole && kind != place) return false;
    kind = place;
  }
  return true;
}

class Planner {
 public:
  Planner(const ge_graph* graph, const Mesh& mesh, const Asked& asked, const Rules& rules)
      : g_(graph),
        mesh_(mesh),
        asked_(asked),
        rules_(rules),
        whole_(mesh.axes().size(), kWhole),
        wants_(WantsOf(graph, mesh, asked.states, asked.values, rules)) {
    plan_.made.assign(g_->n_value, whole_);
    plan_.moves.resize(g_->n_value);
    there_.assign(g_->n_value, {whole_});
    ways_.resize(g_->n_value);
    kept_whole_.assign(g_->n_value, false);
    for (uint32_t i = 0; i < g_->n_node; ++i) {
      const ge_node& n = *GE_NODE(g_, i);
      const uint32_t state = StateOf(n);
      if (state == 0 || asked.states.count(state) != 0) continue;
      for (uint32_t k = 0; k < n.n_in; ++k) kept_whole_[n.in[k]] = true;
    }
  }
  Plan Run();

 private:
  const Redistribution& WaysOf(uint32_t value);
  void Put(uint32_t value, const Places& places);
  void Take(uint32_t value, const Places& places);
  std::optional<PlannedNode> OfState(const ge_node& n) const;
  void GatherState(uint32_t value);
  bool Fits(const ge_node& n, const PlannedNode& planned, const Way& way, uint32_t axis);
  int64_t CostOf(uint32_t value, const Places& places, uint32_t axis);
  int64_t CostOf(const ge_node& n, const PlannedNode& planned, uint32_t axis, int64_t base);
  int64_t SumsOf(const ge_node& n, const PlannedNode& planned, uint32_t axis) const;
  int64_t GathersOf(const ge_node& n, const PlannedNode& planned, uint32_t axis) const;
  int64_t RingOf(const ge_node& n, size_t out, const PlannedNode& planned, uint32_t axis) const;
  std::optional<Way> TermsWay(const ge_node& n, Terms terms, uint32_t axis) const;
  std::vector<Way> Candidates(const ge_node& n, const Split& split, uint32_t axis) const;
  uint64_t BytesOf(uint32_t value) const;
  PlannedNode Choose(const ge_node& n);
  void Note(const ge_node& n, int64_t bytes);

  const ge_graph* g_;
  const Mesh& mesh_;
  const Asked& asked_;
  const Rules& rules_;
  const Places whole_;
  const Wants wants_;
  std::vector<bool> kept_whole_;  // by value: a state that is whole becomes it
  Plan plan_;
  std::vector<std::vector<Places>> there_;  // by value: where it is by now
  using Key = std::tuple<std::vector<int64_t>, int64_t, std::vector<Places>>;
  std::map<Key, std::unique_ptr<Redistribution>> all_ways_;
  std::vector<const Redistribution*> ways_;  // by value, as of there_
};

uint64_t Planner::BytesOf(uint32_t value) const {
  uint64_t bytes = 0;
  return plugin::TensorBytes(GE_VALUE(g_, value)->type, &bytes) ? bytes : 0;
}

const Redistribution& Planner::WaysOf(uint32_t value) {
  const Redistribution*& ways = ways_[value];
  if (ways != nullptr) return *ways;
  const int64_t element = std::max<int64_t>(1, GE_VALUE(g_, value)->type.bits / 8);
  Key key = {DimsOf(g_, value), element, there_[value]};
  std::unique_ptr<Redistribution>& kept = all_ways_[key];
  if (kept == nullptr) {
    kept = std::make_unique<Redistribution>(mesh_, std::get<0>(key), element, there_[value]);
  }
  return *(ways = kept.get());
}

// The value is there, and where it is pinned from then on there alone.
void Planner::Put(uint32_t value, const Places& places) {
  plan_.made[value] = places;
  there_[value] = {places};
  ways_[value] = nullptr;
  const auto pin = asked_.values.find(value);
  if (pin == asked_.values.end()) return;
  Take(value, pin->second);
  there_[value] = {pin->second};
  ways_[value] = nullptr;
}

void Planner::Take(uint32_t value, const Places& places) {
  std::vector<Places>& there = there_[value];
  if (value == 0 || std::find(there.begin(), there.end(), places) != there.end()) return;
  for (Step& step : WaysOf(value).StepsTo(places)) {
    if (std::find(there.begin(), there.end(), step.to) == there.end()) there.push_back(step.to);
    plan_.moves[value].push_back(std::move(step));
  }
  ways_[value] = nullptr;
}

// Where a state lies, what reads it gives it and what writes it takes it.
std::optional<PlannedNode> Planner::OfState(const ge_node& n) const {
  const auto found = asked_.states.find(StateOf(n));
  if (found == asked_.states.end()) return std::nullopt;
  PlannedNode planned;
  for (const int place : found->second) {
    planned.ways.push_back({std::vector<int>(n.n_in, place), std::vector<int>(n.n_out, place)});
  }
  return planned;
}

// A weight in shares is gathered once, ahead of all that read it but the optimizer.
void Planner::GatherState(uint32_t value) {
  if (!asked_.shared || wants_.readers[value] == 0) return;
  Places places = plan_.made[value];
  places[*asked_.shared] = kWhole;
  Take(value, places);
}

// Whether a way along this axis goes with those along the axes ahead of it: the same way has to be
// legal for all their shares, two ways may not split one dim, and terms are of one kind.
bool Planner::Fits(const ge_node& n, const PlannedNode& planned, const Way& way, uint32_t axis) {
  int64_t shares = mesh_.axes()[axis].size;
  bool splits = false, twice = false;
  const auto clash = [](const std::vector<int>& a, const std::vector<int>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] >= 0 && a[i] == b[i]) return true;
    }
    return false;
  };
  for (const int place : way.in) splits = splits || place >= 0;
  for (const int place : way.out) splits = splits || place >= 0;
  for (uint32_t other = 0; other < axis; ++other) {
    const Way& w = planned.ways[other];
    if (w == way) {
      shares *= mesh_.axes()[other].size;
      twice = splits;
    } else if (clash(w.in, way.in) || clash(w.out, way.out)) {
      return false;
    }
  }
  if (twice) {
    const Split split = rules_(n, shares);
    if (std::find(split.ways.begin(), split.ways.end(), way) == split.ways.end()) return false;
  }
  PlannedNode with = planned;
  with.ways[axis] = way;
  for (size_t i = 0; i < way.in.size(); ++i) {
    if (!OneKind(with.In(i))) return false;
  }
  for (size_t i = 0; i < way.out.size(); ++i) {
    if (!OneKind(with.Out(i))) return false;
  }
  return true;
}

// Units of Cost::moved, to be at `places` along the axes up to this one. Where nobody wants shares
// in the end, to move a share of what is whole, or of terms, counts as to move all: who takes a
// share first would have to gather it later.
int64_t Planner::CostOf(uint32_t value, const Places& places, uint32_t axis) {
  const Cost* cost = WaysOf(value).FindAny(places, axis + 1);
  if (cost == nullptr) return kNever;
  if (cost->moved == 0 || places[axis] < 0 || plan_.made[value][axis] >= 0) return cost->moved;
  if (wants_.places[value][axis] == places[axis]) return cost->moved;
  Places all = places;
  all[axis] = kWhole;
  const Cost* gathered = WaysOf(value).FindAny(all, axis + 1);
  return gathered == nullptr ? cost->moved : std::max(cost->moved, gathered->moved);
}

// What a ring along the axis sends of a result that is whole along it.
int64_t Planner::RingOf(const ge_node& n, size_t out, const PlannedNode& planned,
                        uint32_t axis) const {
  Places ahead = planned.Out(out);
  std::fill(ahead.begin() + axis, ahead.end(), kWhole);
  const std::vector<int64_t> dims = DimsOf(g_, n.out[out]);
  int64_t bytes = std::max<int64_t>(1, GE_VALUE(g_, n.out[out])->type.bits / 8);
  for (const int64_t d : LocalDims(mesh_, LayoutOf(ahead, dims.size()), dims, 0)) bytes *= d;
  const int64_t p = mesh_.axes()[axis].size;
  return bytes * (p - 1) * (mesh_.ranks() / p);
}

// To add what becomes terms along the axis.
int64_t Planner::SumsOf(const ge_node& n, const PlannedNode& planned, uint32_t axis) const {
  const Way& way = planned.ways[axis];
  if (std::any_of(way.in.begin(), way.in.end(), IsTerm)) return 0;
  int64_t moved = 0;
  for (uint32_t k = 0; k < n.n_out; ++k) {
    if (!IsTerm(way.out[k]) || n.out[k] == 0) continue;
    moved += RingOf(n, k, planned, axis) * (wants_.places[n.out[k]][axis] >= 0 ? 1 : 2);
  }
  return moved;
}

// To gather what becomes shares along the axis and is kept whole: an optimizer that makes three
// results of one gradient gathers the gradient.
int64_t Planner::GathersOf(const ge_node& n, const PlannedNode& planned, uint32_t axis) const {
  int64_t moved = 0;
  for (uint32_t k = 0; k < n.n_out; ++k) {
    const bool gathers = planned.ways[axis].out[k] >= 0 && kept_whole_[n.out[k]];
    if (gathers) moved += RingOf(n, k, planned, axis);
  }
  return moved;
}

// With ways chosen along the axes up to this one; base: what those ahead of it cost. What moves
// nothing more is taken whatever it makes.
int64_t Planner::CostOf(const ge_node& n, const PlannedNode& planned, uint32_t axis, int64_t base) {
  int64_t cost = 0;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    if (n.in[i] == 0 || !planned.Reads(i) || planned.ReadsShape(i)) continue;
    const Places places = planned.In(i);
    bool again = false;
    for (uint32_t k = 0; k < i; ++k)
      again = again || (n.in[k] == n.in[i] && planned.In(k) == places);
    if (again) continue;
    const int64_t one = CostOf(n.in[i], places, axis);
    if (one == kNever) return kNever;
    cost += one;
  }
  return cost > base ? cost + SumsOf(n, planned, axis) : cost;
}

// The way in which the node makes a term of its result from terms, if its inputs are such now and
// the result is less to sum than they are: else somebody may want one of them whole, too. To a sum
// of terms one rank adds what is whole.
std::optional<Way> Planner::TermsWay(const ge_node& n, Terms terms, uint32_t axis) const {
  for (Way& way : WaysOfTerms(n, terms)) {
    uint64_t bytes = 0;
    bool there = true;
    for (uint32_t i = 0; i < n.n_in; ++i) {
      if (way.in[i] != kTerm) continue;
      const int made = plan_.made[n.in[i]][axis];
      if (made == kTerm) bytes += BytesOf(n.in[i]);
      if (made == kWhole && terms == Terms::kAll) way.in[i] = kKept;
      there = there && n.in[i] != 0 && (made == kTerm || way.in[i] == kKept);
    }
    if (there && BytesOf(n.out[0]) < bytes) return std::move(way);
  }
  return std::nullopt;
}

// What is wanted, whole, of terms, by factors.
std::vector<Way> Planner::Candidates(const ge_node& n, const Split& split, uint32_t axis) const {
  std::vector<Way> ways = {WholeWay(n, !split.of_shape)};
  if (mesh_.axes()[axis].size == 1) return ways;
  if (auto way = TermsWay(n, split.terms, axis)) ways.push_back(std::move(*way));
  ways.insert(ways.end(), split.ways.begin(), split.ways.end());
  const int wanted = n.n_out > 0 ? wants_.places[n.out[0]][axis] : kWhole;
  std::stable_partition(ways.begin(), ways.end(),
                        [&](const Way& way) { return wanted >= 0 && way.out[0] == wanted; });
  return ways;
}

PlannedNode Planner::Choose(const ge_node& n) {
  PlannedNode best;
  bool known = true;
  int64_t base = 0;
  const auto n_axis = static_cast<uint32_t>(mesh_.axes().size());
  for (uint32_t axis = 0; axis < n_axis; ++axis) {
    const Split split = rules_(n, mesh_.axes()[axis].size);
    known = known && split.known;
    best.of_shape = split.of_shape;
    if (axis == 0) best.ways.assign(n_axis, WholeWay(n, !split.of_shape));
    PlannedNode tried = best;
    int64_t least = kNever, spent = kNever;
    for (const Way& way : Candidates(n, split, axis)) {
      if (!Fits(n, best, way, axis)) continue;
      tried.ways[axis] = way;
      const int64_t cost = CostOf(n, tried, axis, base);
      const int64_t all = cost == kNever ? kNever : cost + GathersOf(n, tried, axis);
      if (all >= least) continue;
      least = all;
      spent = cost;
      best.ways[axis] = way;
    }
    base = spent;
  }
  if (!known && base > 0) Note(n, base / mesh_.ranks());
  return best;
}

void Planner::Note(const ge_node& n, int64_t bytes) {
  bool split = false;  // a sum of terms is a gradient's and no loss
  for (uint32_t i = 0; i < n.n_in; ++i) {
    for (const int place : plan_.made[n.in[i]]) split = split || place >= 0;
  }
  if (!split) return;
  plan_.gathered.push_back(NodeText(n) + " gathers " + std::to_string(bytes) + " bytes");
}

Plan Planner::Run() {
  for (const auto& [value, pin] : asked_.values) Put(value, whole_);  // of constants; others follow
  for (uint32_t i = 0; i < g_->n_in; ++i) {
    plan_.moves[g_->in[i]].clear();
    Put(g_->in[i], asked_.inputs[i]);
  }
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    std::optional<PlannedNode> of_state = OfState(n);
    plan_.node.push_back(of_state ? std::move(*of_state) : Choose(n));
    const PlannedNode& planned = plan_.node.back();
    for (uint32_t k = 0; k < n.n_in; ++k) {
      if (planned.Reads(k) && !planned.ReadsShape(k)) Take(n.in[k], planned.In(k));
    }
    for (uint32_t k = 0; k < n.n_out; ++k) {
      if (n.out[k] == 0) continue;
      plan_.moves[n.out[k]].clear();
      Put(n.out[k], planned.Out(k));
      if (of_state) GatherState(n.out[k]);
    }
  }
  for (uint32_t i = 0; i < g_->n_out; ++i) Take(g_->out[i], whole_);
  return std::move(plan_);
}

}  // namespace

Places PlannedNode::In(size_t i) const {
  Places places;
  for (const Way& way : ways) places.push_back(IsRead(way.in[i]) ? way.in[i] : kWhole);
  return places;
}

bool PlannedNode::Keeps(size_t i, uint32_t axis) const { return ways[axis].in[i] == kKept; }

Places PlannedNode::Out(size_t i) const {
  Places places;
  for (const Way& way : ways) places.push_back(way.out[i]);
  return places;
}

bool PlannedNode::Reads(size_t i) const {
  return std::none_of(ways.begin(), ways.end(), [&](const Way& w) { return w.in[i] == kUnread; });
}

bool PlannedNode::ReadsShape(size_t i) const {
  return std::any_of(ways.begin(), ways.end(), [&](const Way& w) { return w.in[i] == kShape; });
}

Plan PlanOf(const ge_graph* graph, const Mesh& mesh, const Asked& asked, const Rules& rules) {
  return Planner(graph, mesh, asked, rules).Run();
}

}  // namespace ge::parallel

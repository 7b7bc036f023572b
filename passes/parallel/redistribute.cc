#include "passes/parallel/redistribute.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "passes/parallel/factors.h"

namespace ge::parallel {
namespace {

using Axes = std::vector<uint32_t>;

Axes Both(const Axes& a, const Axes& b) {
  Axes all;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

Axes Without(const Axes& all, const Axes& some) {
  Axes left;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(left));
  return left;
}

// Calls `visit` with a place along each axis of `axes`, by axis, until it answers false.
template <typename Visit>
bool ForAll(const Mesh& mesh, const Axes& axes, Visit visit) {
  std::vector<int64_t> at(mesh.axes().size(), 0);
  for (;;) {
    if (!visit(at)) return false;
    size_t k = axes.size();
    while (k > 0 && ++at[axes[k - 1]] == mesh.axes()[axes[k - 1]].size) at[axes[--k]] = 0;
    if (k == 0) return true;
  }
}

int64_t ShareAt(const Mesh& mesh, const Axes& axes, const std::vector<int64_t>& at) {
  int64_t share = 0;
  for (const uint32_t axis : axes) share = share * mesh.axes()[axis].size + at[axis];
  return share;
}

Part PartAt(const Mesh& mesh, int64_t n, const Axes& axes, const std::vector<int64_t>& at) {
  return ShareOf(n, mesh.Shares(axes), ShareAt(mesh, axes, at));
}

bool BehindAll(const Axes& outer, const Axes& inner) {
  return outer.empty() || inner.empty() || outer.back() < inner.front();
}

}  // namespace

bool SplitAlike(const Mesh& mesh, int64_t n, const Axes& outer, const Axes& inner) {
  const Axes both = Both(outer, inner);
  if (outer.empty() || inner.empty()) return true;
  if (n % mesh.Shares(both) == 0 && n > 0) return BehindAll(outer, inner);
  return ForAll(mesh, both, [&](const std::vector<int64_t>& at) {
    const Part one = PartAt(mesh, n, outer, at), part = PartAt(mesh, n, both, at);
    const Part share = PartAt(mesh, one.size, inner, at);
    return share.size == part.size && (part.size == 0 || one.first + share.first == part.first);
  });
}

bool LiesWithin(const Mesh& mesh, int64_t n, const Axes& axes, const Axes& outer) {
  if (outer.empty()) return true;
  if (n % mesh.Shares(axes) == 0 && n > 0) return BehindAll(outer, Without(axes, outer));
  return ForAll(mesh, axes, [&](const std::vector<int64_t>& at) {
    const Part part = PartAt(mesh, n, axes, at), one = PartAt(mesh, n, outer, at);
    return part.size == 0 ||
           (part.first >= one.first && part.first + part.size <= one.first + one.size);
  });
}

Redistribution::Redistribution(const Mesh& mesh, std::vector<int64_t> dims, int64_t element,
                               const std::vector<Places>& sources)
    : mesh_(mesh), dims_(std::move(dims)), element_(element), term_(kTerm) {
  size_t n = 1;
  for (size_t axis = 0; axis < mesh.axes().size(); ++axis) n *= dims_.size() + 2;
  states_.resize(n);
  using Item = std::pair<Cost, size_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> next;
  for (const Places& source : sources) {
    for (const int place : source) {
      if (IsTerm(place)) term_ = place;
    }
  }
  for (const Places& source : sources) {
    const size_t state = StateOf(source);
    states_[state].found = true;
    next.push({Cost{}, state});
  }
  while (!next.empty()) {
    const auto [cost, state] = next.top();
    next.pop();
    if (states_[state].done) continue;
    states_[state].done = true;
    reached_.clear();
    Spread(state);
    for (const size_t one : reached_) next.push({states_[one].cost, one});
  }
}

Places Redistribution::PlacesOf(size_t state) const {
  Places places(mesh_.axes().size());
  const size_t digits = dims_.size() + 2;
  for (int& place : places) {
    const size_t digit = state % digits;
    place = digit == 0 ? kWhole : digit > dims_.size() ? term_ : static_cast<int>(digit) - 1;
    state /= digits;
  }
  return places;
}

size_t Redistribution::StateOf(const Places& places) const {
  size_t state = 0;
  for (size_t axis = places.size(); axis-- > 0;) {
    const int place = places[axis];
    if (IsTerm(place) && place != term_) return states_.size();
    const size_t digit = place == kWhole ? 0
                         : IsTerm(place) ? dims_.size() + 1
                                         : static_cast<size_t>(place) + 1;
    state = state * (dims_.size() + 2) + digit;
  }
  return state;
}

const Cost* Redistribution::Find(const Places& to) const {
  const size_t state = StateOf(to);
  return state < states_.size() && states_[state].found ? &states_[state].cost : nullptr;
}

const Cost* Redistribution::FindAny(const Places& to, size_t n_axis) const {
  if (n_axis == to.size()) return Find(to);
  const Cost* least = nullptr;
  for (size_t state = 0; state < states_.size(); ++state) {
    const State& s = states_[state];
    if (!s.found || (least != nullptr && *least <= s.cost)) continue;
    const Places places = PlacesOf(state);
    const auto behind = to.begin() + static_cast<ptrdiff_t>(n_axis);
    if (std::equal(to.begin(), behind, places.begin())) least = &s.cost;
  }
  return least;
}

std::vector<Step> Redistribution::StepsTo(const Places& to) const {
  std::vector<Step> steps;
  for (size_t state = StateOf(to); states_[state].cost.steps > 0; state = states_[state].before) {
    steps.push_back(states_[state].step);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// Of the largest box.
int64_t Redistribution::Bytes(const Places& places) const {
  int64_t bytes = element_;
  for (size_t dim = 0; dim < dims_.size(); ++dim) {
    bytes *= ShareOf(dims_[dim], mesh_.Shares(AxesOf(places, static_cast<int>(dim))), 0).size;
  }
  return bytes;
}

// Rings: a group of p sends (p - 1) / p of `bytes`, so many times.
void Redistribution::Add(size_t from, Step step, int64_t bytes, int64_t times) {
  const int64_t p = mesh_.Shares(step.axes);
  Cost cost = states_[from].cost;
  cost.moved += bytes * times * (p - 1) * (mesh_.ranks() / p);
  cost.collectives += step.kind == StepKind::kSlice ? 0 : 1;
  ++cost.steps;
  const size_t at = StateOf(step.to);
  State& to = states_[at];
  if (to.done || (to.found && to.cost <= cost)) return;
  step.from = PlacesOf(from);
  to = {true, false, cost, from, std::move(step)};
  reached_.push_back(at);
}

void Redistribution::Spread(size_t state) {
  const size_t n = mesh_.axes().size();
  for (uint32_t set = 1; set < 1u << n; ++set) {
    Axes axes;
    for (uint32_t axis = 0; axis < n; ++axis) {
      if ((set >> axis & 1) != 0) axes.push_back(axis);
    }
    const auto one = [&](uint32_t axis) { return mesh_.axes()[axis].size == 1; };
    if (std::none_of(axes.begin(), axes.end(), one)) SpreadGroup(state, axes);
  }
}

// All that one collective, or one slice, along these axes makes of it.
void Redistribution::SpreadGroup(size_t state, const Axes& axes) {
  const Places from = PlacesOf(state);
  const int place = from[axes[0]];
  for (const uint32_t axis : axes) {
    if (from[axis] != place) return;
  }
  Step step;
  step.axes = axes;
  const auto put = [&](StepKind kind, int dim, int64_t bytes, int64_t times) {
    step.kind = kind;
    step.split_dim = dim;
    step.gather_dim = place >= 0 ? place : -1;
    step.to = from;
    for (const uint32_t axis : axes) step.to[axis] = dim;
    Add(state, step, bytes, times);
  };
  if (place >= 0) {
    const Axes left = Without(AxesOf(from, place), axes);
    if (!SplitAlike(mesh_, dims_[static_cast<size_t>(place)], left, axes)) return;
  }
  const int64_t bytes = Bytes(from);
  for (size_t dim = 0; dim < dims_.size(); ++dim) {
    const int to = static_cast<int>(dim);
    if (to == place) continue;
    const Axes outer = AxesOf(from, to);
    if (place == kWhole) {
      if (LiesWithin(mesh_, dims_[dim], Both(outer, axes), outer)) put(StepKind::kSlice, to, 0, 0);
    } else if (SplitAlike(mesh_, dims_[dim], outer, axes)) {
      put(place >= 0 ? StepKind::kAllToAll : StepKind::kReduceScatter, to, bytes, 1);
    }
  }
  if (IsTerm(place)) put(StepKind::kAllReduce, kWhole, bytes, 2);
  if (place < 0) return;
  Places whole = from;
  for (const uint32_t axis : axes) whole[axis] = kWhole;
  put(StepKind::kAllGather, kWhole, Bytes(whole), 1);
}

}  // namespace ge::parallel

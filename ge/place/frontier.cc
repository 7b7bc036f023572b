#include "ge/place/frontier.h"

#include <algorithm>
#include <numeric>

#include "ge/place/frontier_state.h"
#include "ge/place/frontier_steps.h"

namespace ge::place {
namespace {

// States kept after each node whatever is used up: enough to get to the end with a fair cover.
constexpr uint32_t kBeamFloor = 12;
// Groups that one node may join in any combination; beyond it only all or none are tried.
constexpr uint32_t kMaxOptional = 5;

class Search {
 public:
  Search(const Model& model, const std::vector<bool>& allowed, const FrontierLimits& limits)
      : m_(model), allowed_(allowed), limits_(limits) {}
  FrontierResult Run();

 private:
  uint32_t Cap(uint32_t p) const;
  void EnterStep(uint32_t p);
  void Expand(const FrontierState& state, uint32_t index);
  void Cover(uint32_t offer, uint32_t part, int group);
  bool CanStart(uint32_t offer) const;
  void Join(uint32_t members);
  bool Legal(uint32_t members, uint64_t outside) const;
  uint32_t Merge(uint32_t members);
  void Read(uint32_t group);
  void Reach(uint32_t group, uint64_t outside);
  void Give(uint32_t group);
  void Finish(uint32_t group);
  double Bound() const;
  std::vector<PlaceGroup> Rebuild() const;

  const Model& m_;
  const std::vector<bool>& allowed_;
  const FrontierLimits limits_;
  FrontierTables t_;
  FrontierResult result_;
  FrontierLayer now_, next_;
  std::vector<std::vector<FrontierBack>> back_;
  std::vector<uint64_t> words_;
  std::vector<int16_t> slot_before_, slot_after_;  // by value, for the step being taken
  bool some_die_ = false;
  uint64_t expanded_ = 0;  // states so far
  // The transition being made: state from_ becomes to_ by covering step_'s node with part_.
  const FrontierStep* step_ = nullptr;
  uint32_t position_ = 0, offer_id_ = 0, part_index_ = 0, parent_ = 0;
  const ModelOffer* offer_ = nullptr;
  const OfferPart* part_ = nullptr;
  int group_ = -1;  // of the half-taken offer, -1 when the offer starts here
  uint64_t joined_ = 0;
  FrontierWork from_, to_;
};

FrontierResult Search::Run() {
  if (!t_.Prepare(m_, allowed_)) {
    result_.exact = false;
    return result_;
  }
  result_.exact = t_.all_pairs_known;
  slot_before_.assign(m_.values.size(), kNoSlot);
  slot_after_.assign(m_.values.size(), kNoSlot);
  from_.Pack(&words_);
  now_.Add(words_, 0, 0, {});
  for (uint32_t p = 0; p < m_.n_node; ++p) {
    EnterStep(p);
    next_.Clear();
    for (uint32_t i = 0; i < now_.states().size(); ++i) Expand(now_.states()[i], i);
    expanded_ += now_.states().size();
    if (next_.Cut(Cap(p))) result_.exact = false;
    std::swap(now_, next_);
    if (now_.states().empty()) return result_;
    std::vector<FrontierBack> back;
    back.reserve(now_.states().size());
    for (const FrontierState& s : now_.states()) back.push_back(s.back);
    back_.push_back(std::move(back));
  }
  result_.found = true;
  result_.groups = Rebuild();
  return result_;
}

// Spreads the transitions that are left over the nodes that are left; twice the even share, because
// most nodes of a real network need far less than theirs.
uint32_t Search::Cap(uint32_t p) const {
  const double left =
      static_cast<double>(limits_.transitions) - static_cast<double>(result_.transitions);
  const double each = static_cast<double>(result_.transitions) / static_cast<double>(expanded_);
  const double cap = 2 * left / (each * (m_.n_node - p));
  if (!(cap > kBeamFloor)) return std::min(kBeamFloor, limits_.states);
  return cap < limits_.states ? static_cast<uint32_t>(cap) : limits_.states;
}

void Search::EnterStep(uint32_t p) {
  if (p > 0) {
    for (uint32_t v : t_.steps[p - 1].live) slot_after_[v] = kNoSlot;
    if (p > 1) {
      for (uint32_t v : t_.steps[p - 2].live) slot_before_[v] = kNoSlot;
    }
    const std::vector<uint32_t>& live = t_.steps[p - 1].live;
    for (uint32_t s = 0; s < live.size(); ++s) slot_before_[live[s]] = static_cast<int16_t>(s);
  }
  position_ = p;
  step_ = &t_.steps[p];
  for (uint32_t s = 0; s < step_->live.size(); ++s) {
    slot_after_[step_->live[s]] = static_cast<int16_t>(s);
  }
  some_die_ = std::find(step_->moved.begin(), step_->moved.end(), kNoSlot) != step_->moved.end();
}

void Search::Expand(const FrontierState& state, uint32_t index) {
  from_.Unpack(now_.words(state), static_cast<uint32_t>(step_->moved.size()));
  from_.cost = state.cost;
  parent_ = index;
  for (uint32_t q = 0; q < from_.n_pending; ++q) {
    const ModelOffer& offer = m_.offers[from_.pending[q].offer];
    const size_t n = PartsUpTo(m_, offer, position_);
    if (offer.parts[n - 1].node != step_->node) continue;
    Cover(from_.pending[q].offer, static_cast<uint32_t>(n - 1),
          static_cast<int>(from_.pending[q].group));
    return;
  }
  for (uint32_t o : step_->starts) {
    if (CanStart(o)) Cover(o, 0, -1);
  }
}

bool Search::CanStart(uint32_t o) const {
  if (m_.offers[o].parts.size() < 2) return true;
  for (uint32_t q = 0; q < from_.n_pending; ++q) {
    const uint32_t other = from_.pending[q].offer;
    if (ShareNode(m_, m_.offers[o], m_.offers[other])) return false;
    if (std::binary_search(t_.cyclic_pairs.begin(), t_.cyclic_pairs.end(),
                           std::pair<uint32_t, uint32_t>(std::minmax(o, other)))) {
      return false;
    }
  }
  return true;
}

// Tries every useful choice of groups that the node's offer may join here.
void Search::Cover(uint32_t offer, uint32_t part, int group) {
  offer_id_ = offer;
  offer_ = &m_.offers[offer];
  part_index_ = part;
  part_ = &offer_->parts[part];
  group_ = group;
  const uint32_t base = group >= 0 ? uint32_t{1} << group : 0;
  uint32_t candidates = 0;
  if (offer_->growable) {
    for (const Touch& t : part_->reads) {
      const int16_t s = slot_before_[t.value];
      if (s == kNoSlot || from_.slots[s].group == kNoGroup) continue;
      const uint32_t g = from_.slots[s].group;
      if (from_.groups[g].open && from_.groups[g].device == offer_->device) {
        candidates |= uint32_t{1} << g;
      }
    }
    candidates &= ~base;
  }
  if (candidates == 0) return Join(base);
  // A group that nothing can touch again but this node, that reaches nothing and that no other
  // candidate reaches, loses nothing by being joined: prices in a group never exceed those apart.
  uint32_t alive = 0, reached = 0, optional = 0, forced = base;
  for (uint32_t s = 0; s < from_.n_slot; ++s) {
    if (step_->moved[s] != kNoSlot && from_.slots[s].group != kNoGroup) {
      alive |= uint32_t{1} << from_.slots[s].group;
    }
  }
  for (uint32_t q = 0; q < from_.n_pending; ++q) alive |= uint32_t{1} << from_.pending[q].group;
  for (uint32_t bits = candidates | base; bits != 0; bits &= bits - 1) {
    reached |= static_cast<uint32_t>(from_.groups[__builtin_ctz(bits)].row >> kMaxSlots);
  }
  for (uint32_t bits = candidates; bits != 0; bits &= bits - 1) {
    const uint32_t g = static_cast<uint32_t>(__builtin_ctz(bits)), bit = uint32_t{1} << g;
    const bool free = ((alive | reached) & bit) == 0 && from_.groups[g].row == 0;
    (free ? forced : optional) |= bit;
  }
  if (__builtin_popcount(optional) > static_cast<int>(kMaxOptional)) {
    result_.exact = false;
    Join(forced);
    return Join(forced | optional);
  }
  for (uint32_t chosen = optional;; chosen = (chosen - 1) & optional) {
    Join(forced | chosen);
    if (chosen == 0) return;
  }
}

// One transition: the node's offer in one group with `members`.
void Search::Join(uint32_t members) {
  ++result_.transitions;
  uint64_t outside = 0;
  for (const Touch& t : part_->reads) {
    const int16_t s = slot_before_[t.value];
    if (s == kNoSlot) continue;
    const uint8_t g = from_.slots[s].group;
    if (g == kNoGroup || (members >> g & 1) == 0) outside |= uint64_t{1} << s;
  }
  if (!Legal(members, outside)) return;
  if (group_ < 0 && (from_.n_group == kMaxGroups || from_.n_pending == kMaxPending)) {
    result_.exact = false;
    return;
  }
  to_.CopyFrom(from_);
  const uint32_t group = Merge(members);
  Read(group);
  Reach(group, outside);
  Give(group);
  Finish(group);
}

// No member may reach what the node reads from outside, nor another member.
bool Search::Legal(uint32_t members, uint64_t outside) const {
  const uint64_t bad = outside | uint64_t{members} << kMaxSlots;
  for (uint32_t bits = members; bits != 0; bits &= bits - 1) {
    if ((from_.groups[__builtin_ctz(bits)].row & bad) != 0) return false;
  }
  return true;
}

uint32_t Search::Merge(uint32_t members) {
  uint32_t into;
  if (group_ >= 0) {
    into = static_cast<uint32_t>(group_);
  } else {
    into = to_.n_group++;
    FrontierGroup& fresh = to_.groups[into];
    fresh = FrontierGroup();
    fresh.device = static_cast<uint16_t>(offer_->device);
    fresh.open = offer_->growable;
    fresh.setup = t_.setup_of[offer_id_];
    fresh.launch = t_.launch_of[offer_id_];
    to_.cost += offer_->Alone();
  }
  FrontierGroup& r = to_.groups[into];
  for (uint32_t bits = members & ~(uint32_t{1} << into); bits != 0; bits &= bits - 1) {
    const uint32_t j = static_cast<uint32_t>(__builtin_ctz(bits));
    FrontierGroup& gone = to_.groups[j];
    to_.cost -=
        t_.setups[std::min(r.setup, gone.setup)] + t_.launches[std::min(r.launch, gone.launch)];
    r.setup = std::max(r.setup, gone.setup);
    r.launch = std::max(r.launch, gone.launch);
    r.row |= gone.row;
    gone.dead = true;
    for (uint32_t s = 0; s < to_.n_slot; ++s) {
      if (to_.slots[s].group == j) to_.slots[s].group = static_cast<uint8_t>(into);
    }
    for (uint32_t q = 0; q < to_.n_pending; ++q) {
      if (to_.pending[q].group == j) to_.pending[q].group = into;
    }
    const uint64_t bit = uint64_t{1} << (kMaxSlots + j);
    for (uint32_t g = 0; g < to_.n_group; ++g) {
      if ((to_.groups[g].row & bit) == 0) continue;
      to_.groups[g].row = (to_.groups[g].row & ~bit) | uint64_t{1} << (kMaxSlots + into);
    }
  }
  return into;
}

void Search::Read(uint32_t group) {
  joined_ = 0;
  for (size_t k = 0; k < part_->reads.size(); ++k) {
    const Touch& t = part_->reads[k];
    const int16_t s = slot_before_[t.value];
    if (s == kNoSlot) {  // a graph input seen for the first time
      if (t.place != 0) to_.cost += m_.values[t.value].Cost(0, t.place);
      continue;
    }
    FrontierSlot& slot = to_.slots[s];
    if (slot.group == group) {
      joined_ |= uint64_t{1} << k;
      to_.cost -= t_.savings[slot.saving];
      slot.saving = 0;
    } else if (slot.place != t.place && (slot.brought >> t.place & 1) == 0) {
      to_.cost += m_.values[t.value].Cost(slot.place, t.place);
      slot.brought |= uint32_t{1} << t.place;
    }
  }
}

// Whatever reaches a source of the node, or the group itself, now reaches all that the group does.
void Search::Reach(uint32_t group, uint64_t outside) {
  uint64_t here = uint64_t{1} << (kMaxSlots + group), sources = 0;
  for (uint32_t s = 0; s < to_.n_slot; ++s) {
    if (to_.slots[s].group == group) here |= uint64_t{1} << s;
  }
  for (uint64_t bits = outside; bits != 0; bits &= bits - 1) {
    const uint8_t g = to_.slots[__builtin_ctzll(bits)].group;
    if (g != kNoGroup) sources |= uint64_t{1} << g;
  }
  const uint64_t gain = here | to_.groups[group].row;
  for (uint32_t g = 0; g < to_.n_group; ++g) {
    if (g == group || to_.groups[g].dead) continue;
    if ((sources >> g & 1) != 0 || (to_.groups[g].row & (outside | here)) != 0) {
      to_.groups[g].row |= gain;
    }
  }
}

// Moves the slots to their numbers after the node and adds what becomes live.
void Search::Give(uint32_t group) {
  if (some_die_) {
    for (uint32_t s = 0; s < to_.n_slot; ++s) {
      if (step_->moved[s] != kNoSlot) to_.slots[step_->moved[s]] = to_.slots[s];
    }
    constexpr uint64_t kSlotBits = (uint64_t{1} << kMaxSlots) - 1;
    for (uint32_t g = 0; g < to_.n_group; ++g) {
      uint64_t row = to_.groups[g].row & ~kSlotBits;
      for (uint64_t bits = to_.groups[g].row & kSlotBits; bits != 0; bits &= bits - 1) {
        const int16_t s = step_->moved[__builtin_ctzll(bits)];
        if (s != kNoSlot) row |= uint64_t{1} << s;
      }
      to_.groups[g].row = row;
    }
  }
  to_.n_slot = static_cast<uint32_t>(step_->live.size());
  for (uint32_t v : m_.node_reads[step_->node]) {
    const int16_t s = slot_after_[v];
    if (s != kNoSlot && slot_before_[v] == kNoSlot) to_.slots[s] = FrontierSlot();
  }
  for (const Touch& t : part_->reads) {
    const int16_t s = slot_after_[t.value];
    if (s != kNoSlot && slot_before_[t.value] == kNoSlot && t.place != 0) {
      to_.slots[s].brought = uint32_t{1} << t.place;
    }
  }
  uint64_t fresh = 0;
  for (const Touch& t : part_->gives) {
    const ModelValue& value = m_.values[t.value];
    const bool home = value.is_output && t.place != 0;
    if (home) to_.cost += value.Cost(t.place, 0);
    const int16_t s = slot_after_[t.value];
    if (s == kNoSlot) continue;
    fresh |= uint64_t{1} << s;
    FrontierSlot& slot = to_.slots[s];
    slot.place = static_cast<uint8_t>(t.place);
    slot.group = static_cast<uint8_t>(group);
    slot.saving = t_.saving_of[offer_id_];
    slot.brought = home ? 1 : 0;
  }
  for (uint32_t g = 0; g < to_.n_group; ++g) {
    if ((to_.groups[g].row >> (kMaxSlots + group) & 1) != 0) to_.groups[g].row |= fresh;
  }
}

void Search::Finish(uint32_t group) {
  if (!(to_.cost < kInfinity)) return;
  if (group_ < 0 && offer_->parts.size() > 1) {
    to_.pending[to_.n_pending++] = {offer_id_, group};
  } else if (group_ >= 0 && part_index_ + 1 == offer_->parts.size()) {
    FrontierPending* end = to_.pending + to_.n_pending;
    to_.n_pending = static_cast<uint32_t>(
        std::remove_if(to_.pending, end,
                       [this](const FrontierPending& q) { return q.offer == offer_id_; }) -
        to_.pending);
  }
  for (uint32_t s = 0; s < to_.n_slot; ++s) to_.slots[s].brought &= step_->places[s];
  to_.Canonicalise(m_, *step_);
  const double bound = Bound();
  // A hair above the bound still counts as equal, so that rounding never prunes the optimum.
  if (bound > limits_.upper_bound * (1 + 1e-12) + 1e-9) return;
  to_.Pack(&words_);
  next_.Add(words_, to_.cost, bound, {parent_, offer_id_, joined_});
}

// What the cheapest end of this beginning costs at least.
double Search::Bound() const {
  double bound = to_.cost + t_.least_after[position_ + 1];
  for (uint32_t q = 0; q < to_.n_pending; ++q) {
    const size_t n = PartsUpTo(m_, m_.offers[to_.pending[q].offer], position_);
    bound -= t_.credit[to_.pending[q].offer][n - 1];
  }
  for (uint32_t s = 0; s < to_.n_slot; ++s) bound -= t_.savings[to_.slots[s].saving];
  for (uint32_t g = 0; g < to_.n_group; ++g) {  // groups that may yet merge with an earlier one
    if (!to_.groups[g].open) continue;
    for (uint32_t h = 0; h < g; ++h) {
      if (!to_.groups[h].open || to_.groups[h].device != to_.groups[g].device) continue;
      bound -= t_.setups[to_.groups[g].setup] + t_.launches[to_.groups[g].launch];
      break;
    }
  }
  return bound;
}

std::vector<PlaceGroup> Search::Rebuild() const {
  std::vector<uint32_t> root(m_.offers.size()), cover(m_.n_node);
  std::iota(root.begin(), root.end(), 0);
  auto find = [&root](uint32_t x) {
    while (root[x] != x) x = root[x] = root[root[x]];
    return x;
  };
  std::vector<FrontierBack> path(m_.n_node);
  uint32_t at = 0;
  for (uint32_t i = 1; i < now_.states().size(); ++i) {
    if (now_.states()[i].cost < now_.states()[at].cost) at = i;
  }
  for (uint32_t p = m_.n_node; p-- > 0;) {
    path[p] = back_[p][at];
    at = path[p].parent;
    cover[m_.order[p]] = path[p].offer;
  }
  for (uint32_t p = 0; p < m_.n_node; ++p) {
    const OfferPart& part = PartAt(m_, m_.offers[path[p].offer], m_.order[p]);
    for (uint64_t bits = path[p].joined; bits != 0; bits &= bits - 1) {
      const Touch& t = part.reads[static_cast<size_t>(__builtin_ctzll(bits))];
      const uint32_t maker = cover[static_cast<uint32_t>(m_.values[t.value].producer)];
      root[find(maker)] = find(path[p].offer);
    }
  }
  std::vector<PlaceGroup> groups;
  std::vector<int32_t> index(m_.offers.size(), -1);
  for (uint32_t p = 0; p < m_.n_node; ++p) {
    const uint32_t o = path[p].offer;
    if (m_.offers[o].parts[0].node != m_.order[p]) continue;
    int32_t& g = index[find(o)];
    if (g < 0) {
      g = static_cast<int32_t>(groups.size());
      groups.push_back({m_.offers[o].device, {}});
    }
    groups[static_cast<size_t>(g)].offers.push_back(o);
  }
  return groups;
}

}  // namespace

FrontierResult SearchFrontier(const Model& model, const std::vector<bool>& allowed,
                              const FrontierLimits& limits) {
  return Search(model, allowed, limits).Run();
}

}  // namespace ge::place

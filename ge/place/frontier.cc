#include "ge/place/frontier.h"

#include <algorithm>
#include <numeric>

#include "ge/base/interrupt.h"
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
  double Savable() const;
  bool CanStart(uint32_t offer) const;
  void Join(uint32_t members);
  bool Legal(uint32_t members, uint64_t outside) const;
  uint32_t Merge(uint32_t members);
  void Read(uint32_t members);
  bool IsHopeless() const;
  void MoveSlots(uint32_t members, uint32_t group);
  uint64_t Give(uint32_t group);
  void Pend(uint32_t members, uint32_t group);
  void AddGroups(const FrontierNames& names, uint32_t members, uint32_t group, uint64_t outside,
                 uint64_t fresh);
  uint64_t Renamed(uint64_t row, const FrontierNames& names) const;
  double Bound(const FrontierNames& names, uint32_t group) const;
  void Tighten();
  std::vector<PlaceGroup> Rebuild() const;

  const Model& m_;
  const std::vector<bool>& allowed_;
  const FrontierLimits limits_;
  FrontierTables t_;
  FrontierResult result_;
  FrontierLayer now_, next_;
  std::vector<std::vector<FrontierBack>> back_;
  FrontierWords words_;
  std::vector<int16_t> slot_before_, slot_after_;  // by value, for the step being taken
  bool some_die_ = false;
  uint64_t expanded_ = 0;  // states so far
  // The transition being made: state from_ becomes to_ by covering step_'s node with part_.
  const FrontierStep* step_ = nullptr;
  uint32_t position_ = 0, offer_id_ = 0, part_index_ = 0, parent_ = 0;
  const ModelOffer* offer_ = nullptr;
  const OfferPart* part_ = nullptr;
  int group_ = -1;                     // of the half-taken offer, -1 when the offer starts here
  uint64_t joined_ = 0, brought_ = 0;  // bits: reads of the part, from its group, to its place
  double savable_ = 0;                 // what from_ may still save, at most
  FrontierWork from_, to_;
  FrontierGroup merged_;  // the node's
  // Of the layer being made: no more states than that will be kept, so that a bound from worth_ on
  // is none of theirs; set anew when there are look_at_ of them.
  uint32_t most_ = 0;
  double worth_ = kInfinity;
  size_t look_at_ = 0;
};

// Whether the group, if any, is one of the members.
bool Among(uint32_t members, uint8_t group) {
  return group != kNoGroup && (members >> group & 1) != 0;
}

FrontierResult Search::Run() {
  if (!t_.Prepare(m_, allowed_)) {
    result_.exact = false;
    return result_;
  }
  result_.exact = t_.all_pairs_known;
  slot_before_.assign(m_.values.size(), kNoSlot);
  slot_after_.assign(m_.values.size(), kNoSlot);
  words_.Begin(from_, 0);
  now_.Add(words_, 0, 0, {});
  for (uint32_t p = 0; p < m_.n_node; ++p) {
    if (Interrupted()) {
      result_.exact = false;
      return result_;
    }
    EnterStep(p);
    next_.Clear();
    expanded_ += now_.states().size();
    most_ = Cap(p);
    worth_ = kInfinity;
    look_at_ = size_t{most_} + 4;
    for (uint32_t i = 0; i < now_.states().size(); ++i) Expand(now_.states()[i], i);
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
  savable_ = Savable();
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

// Bound counts no more of these than that, whatever becomes of the groups.
double Search::Savable() const {
  double sum = 0;
  for (uint32_t q = 0; q < from_.n_pending; ++q) {
    const size_t n = PartsUpTo(m_, m_.offers[from_.pending[q].offer], position_);
    sum += t_.credit[from_.pending[q].offer][n - 1];
  }
  for (uint32_t s = 0; s < from_.n_slot; ++s) {
    if (step_->moved[s] != kNoSlot) sum += t_.savings[from_.slots[s].saving];
  }
  for (uint32_t g = 0; g < from_.n_group; ++g) {
    const FrontierGroup& group = from_.groups[g];
    if (group.open) sum += t_.setups[group.setup] + t_.launches[group.launch];
  }
  return sum;
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

// One transition: the node's offer in one group with `members`. What it costs is known before what
// it reaches, and most go no further.
void Search::Join(uint32_t members) {
  ++result_.transitions;
  uint64_t outside = 0;
  for (const Touch& t : part_->reads) {
    const int16_t s = slot_before_[t.value];
    if (s != kNoSlot && !Among(members, from_.slots[s].group)) outside |= uint64_t{1} << s;
  }
  if (!Legal(members, outside)) return;
  if (group_ < 0 && (from_.n_group == kMaxGroups || from_.n_pending == kMaxPending)) {
    result_.exact = false;
    return;
  }
  const uint32_t group = Merge(members);
  Read(members);
  if (IsHopeless()) return;
  MoveSlots(members, group);
  const uint64_t fresh = Give(group);
  if (!(to_.cost < kInfinity)) return;
  Pend(members, group);
  for (uint32_t s = 0; s < to_.n_slot; ++s) to_.slots[s].brought &= step_->places[s];
  const FrontierNames names = to_.NameGroups(m_, *step_, from_.groups, group, merged_);
  const double bound = Bound(names, group);
  // A hair above the bound still counts as equal, so that rounding never prunes the optimum.
  if (bound > limits_.upper_bound * (1 + 1e-12) + 1e-9 || bound >= worth_) return;
  words_.Begin(to_, names.n);
  AddGroups(names, members, group, outside, fresh);
  words_.AddPending(to_);
  next_.Add(words_, to_.cost, bound, {parent_, offer_id_, joined_});
  if (next_.states().size() >= look_at_) Tighten();
}

// No member may reach what the node reads from outside, nor another member.
bool Search::Legal(uint32_t members, uint64_t outside) const {
  const uint64_t bad = outside | uint64_t{members} << kMaxSlots;
  for (uint32_t bits = members; bits != 0; bits &= bits - 1) {
    if ((from_.groups[__builtin_ctz(bits)].row & bad) != 0) return false;
  }
  return true;
}

// The number of the node's group; what it is, but for what it reaches, is merged_.
uint32_t Search::Merge(uint32_t members) {
  uint32_t into;
  to_.cost = from_.cost;
  if (group_ >= 0) {
    into = static_cast<uint32_t>(group_);
    merged_ = from_.groups[into];
  } else {
    into = from_.n_group;
    merged_ = FrontierGroup();
    merged_.device = static_cast<uint16_t>(offer_->device);
    merged_.open = offer_->growable;
    merged_.setup = t_.setup_of[offer_id_];
    merged_.launch = t_.launch_of[offer_id_];
    to_.cost += offer_->Alone();
  }
  for (uint32_t bits = members & ~(uint32_t{1} << into); bits != 0; bits &= bits - 1) {
    const FrontierGroup& gone = from_.groups[__builtin_ctz(bits)];
    to_.cost -= t_.setups[std::min(merged_.setup, gone.setup)] +
                t_.launches[std::min(merged_.launch, gone.launch)];
    merged_.setup = std::max(merged_.setup, gone.setup);
    merged_.launch = std::max(merged_.launch, gone.launch);
  }
  return into;
}

// What the node reads, from outside and from its group.
void Search::Read(uint32_t members) {
  joined_ = 0;
  brought_ = 0;
  for (size_t k = 0; k < part_->reads.size(); ++k) {
    const Touch& t = part_->reads[k];
    const int16_t s = slot_before_[t.value];
    if (s == kNoSlot) {  // a graph input seen for the first time
      if (t.place != 0) to_.cost += m_.values[t.value].Cost(0, t.place);
      continue;
    }
    const FrontierSlot& slot = from_.slots[s];
    if (Among(members, slot.group)) {
      joined_ |= uint64_t{1} << k;
      to_.cost -= t_.savings[slot.saving];
    } else if (slot.place != t.place && (slot.brought >> t.place & 1) == 0) {
      to_.cost += m_.values[t.value].Cost(slot.place, t.place);
      brought_ |= uint64_t{1} << k;
    }
  }
}

// Whether no bound of the transition can be worth a place, by all that could still be saved.
bool Search::IsHopeless() const {
  if (worth_ == kInfinity) return false;
  double least = to_.cost + t_.least_after[position_ + 1] - savable_;
  least -= t_.setups[merged_.setup] + t_.launches[merged_.launch];
  least -= t_.savings[t_.saving_of[offer_id_]] * static_cast<double>(part_->gives.size());
  if (group_ < 0) least -= t_.credit[offer_id_][0];
  return least * (1 - 1e-12) - 1e-9 >= worth_;
}

// The slots that stay, under their numbers after the node.
void Search::MoveSlots(uint32_t members, uint32_t group) {
  to_.n_slot = static_cast<uint32_t>(step_->live.size());
  for (uint32_t s = 0; s < from_.n_slot; ++s) {
    const int16_t t = step_->moved[s];
    if (t == kNoSlot) continue;
    to_.slots[t] = from_.slots[s];
    if (Among(members, from_.slots[s].group)) to_.slots[t].group = static_cast<uint8_t>(group);
  }
  for (uint64_t bits = joined_ | brought_; bits != 0; bits &= bits - 1) {
    const Touch& t = part_->reads[static_cast<size_t>(__builtin_ctzll(bits))];
    const int16_t s = step_->moved[static_cast<size_t>(slot_before_[t.value])];
    if (s == kNoSlot) continue;
    if ((joined_ & bits & -bits) != 0) {
      to_.slots[s].saving = 0;
    } else {
      to_.slots[s].brought |= uint32_t{1} << t.place;
    }
  }
}

// Adds what becomes live. Bits: slots of what the node makes.
uint64_t Search::Give(uint32_t group) {
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
  return fresh;
}

// The offers that are half taken after the node.
void Search::Pend(uint32_t members, uint32_t group) {
  const bool ends = group_ >= 0 && part_index_ + 1 == offer_->parts.size();
  to_.n_pending = 0;
  for (uint32_t q = 0; q < from_.n_pending; ++q) {
    FrontierPending p = from_.pending[q];
    if (ends && p.offer == offer_id_) continue;
    if ((members >> p.group & 1) != 0) p.group = group;
    to_.pending[to_.n_pending++] = p;
  }
  if (group_ < 0 && offer_->parts.size() > 1) {
    to_.pending[to_.n_pending++] = {offer_id_, group};
  }
}

// Writes down the groups that still matter, with what they reach now: whatever reaches a source of
// the node, or its group, reaches all that the group does and what the node makes.
void Search::AddGroups(const FrontierNames& names, uint32_t members, uint32_t group,
                       uint64_t outside, uint64_t fresh) {
  const uint64_t gone = uint64_t{members} << kMaxSlots, own = uint64_t{1} << (kMaxSlots + group);
  uint64_t here = own, sources = 0, reached = 0;
  for (uint32_t s = 0; s < from_.n_slot; ++s) {
    if (Among(members, from_.slots[s].group)) here |= uint64_t{1} << s;
  }
  for (uint64_t bits = outside; bits != 0; bits &= bits - 1) {
    const uint8_t g = from_.slots[__builtin_ctzll(bits)].group;
    if (g != kNoGroup) sources |= uint64_t{1} << g;
  }
  for (uint32_t bits = members; bits != 0; bits &= bits - 1) {
    reached |= from_.groups[__builtin_ctz(bits)].row;
  }
  for (uint32_t k = 0; k < names.n; ++k) {
    const uint32_t g = names.group[k];
    if (g == group) {
      words_.AddGroup(merged_, Renamed(reached, names));
      continue;
    }
    uint64_t row = from_.groups[g].row;
    if ((row & gone) != 0) row = (row & ~gone) | own;
    if ((sources >> g & 1) != 0 || (row & (outside | here)) != 0) row |= here | reached;
    const uint64_t made = (row & own) != 0 ? fresh : 0;
    words_.AddGroup(from_.groups[g], Renamed(row, names) | made);
  }
}

// What a group reaches, by numbers after the node.
uint64_t Search::Renamed(uint64_t row, const FrontierNames& names) const {
  constexpr uint64_t kSlotBits = (uint64_t{1} << kMaxSlots) - 1;
  uint64_t out = some_die_ ? 0 : row & kSlotBits;
  for (uint64_t bits = some_die_ ? row & kSlotBits : 0; bits != 0; bits &= bits - 1) {
    const int16_t s = step_->moved[__builtin_ctzll(bits)];
    if (s != kNoSlot) out |= uint64_t{1} << s;
  }
  for (uint64_t bits = row >> kMaxSlots; bits != 0; bits &= bits - 1) {
    const uint8_t g = names.number[__builtin_ctzll(bits)];
    if (g != kNoGroup) out |= uint64_t{1} << (kMaxSlots + g);
  }
  return out;
}

// What the cheapest end of this beginning costs at least.
double Search::Bound(const FrontierNames& names, uint32_t group) const {
  double bound = to_.cost + t_.least_after[position_ + 1];
  for (uint32_t q = 0; q < to_.n_pending; ++q) {
    const size_t n = PartsUpTo(m_, m_.offers[to_.pending[q].offer], position_);
    bound -= t_.credit[to_.pending[q].offer][n - 1];
  }
  for (uint32_t s = 0; s < to_.n_slot; ++s) bound -= t_.savings[to_.slots[s].saving];
  uint64_t open = 0;                        // devices
  for (uint32_t k = 0; k < names.n; ++k) {  // groups that may yet merge with an earlier one
    const uint32_t number = names.group[k];
    const FrontierGroup& g = number == group ? merged_ : from_.groups[number];
    if (!g.open) continue;
    if ((open >> g.device & 1) != 0) bound -= t_.setups[g.setup] + t_.launches[g.launch];
    open |= uint64_t{1} << g.device;
  }
  return bound;
}

// Of more states than will be kept, those of the lowest bounds stay; what is no better than the
// last of them needs no place among them.
void Search::Tighten() {
  worth_ = next_.BoundOf(most_);
  look_at_ = next_.states().size() + most_ / 8 + 4;
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

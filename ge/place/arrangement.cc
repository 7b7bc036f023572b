#include "ge/place/arrangement.h"

#include <algorithm>
#include <cmath>

namespace ge::place {
namespace {

// Readers of one value, and nodes of one pattern, that count as one more look: those of the
// reference networks count as none, a value that all of 100,000 nodes read must.
constexpr size_t kUsersAWork = 8, kPartsAWork = 64;

void Unique(std::vector<uint32_t>* v) {
  std::sort(v->begin(), v->end());
  v->erase(std::unique(v->begin(), v->end()), v->end());
}

}  // namespace

template <typename F>
void Arrangement::EachNeighbour(uint32_t offer, bool readers, bool makers, F call) const {
  for (const OfferPart& part : m_.offers[offer].parts) {
    if (makers) {
      for (const Touch& t : part.reads) {
        const int32_t p = m_.values[t.value].producer;
        if (p >= 0) call(owner_.offer[p]);
      }
    }
    if (!readers) continue;
    for (const Touch& t : part.gives) {
      for (uint32_t user : m_.values[t.value].users) {
        if (owner_.offer[user] != offer) call(owner_.offer[user]);
      }
    }
  }
}

bool Arrangement::Start(const std::vector<uint32_t>& offers) {
  std::vector<PlaceGroup> single;
  for (uint32_t o : offers) single.push_back({m_.offers[o].device, {o}});
  if (!Start(single)) return false;
  std::vector<uint32_t> order = offers;
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    return m_.position[m_.offers[a].parts[0].node] < m_.position[m_.offers[b].parts[0].node];
  });
  for (uint32_t o : order) {
    MergeAround(o, false);
    if (m_.offers[o].parts.size() > 1 && HasOfferCycle(o)) return false;
  }
  Reprice();
  Refresh();
  return true;
}

bool Arrangement::Start(const std::vector<PlaceGroup>& groups) {
  std::vector<PlaceGroup> sorted = groups;
  group_.assign(m_.offers.size(), kNone);
  owner_.offer.assign(m_.n_node, kNone);
  owner_.group.assign(m_.n_node, kNone);
  groups_.clear();
  for (const PlaceGroup& g : groups) {
    for (uint32_t o : g.offers) {
      for (const OfferPart& part : m_.offers[o].parts) {
        if (owner_.offer[part.node] != kNone) return false;
        owner_.offer[part.node] = o;
      }
    }
  }
  if (std::find(owner_.offer.begin(), owner_.offer.end(), kNone) != owner_.offer.end())
    return false;
  if (!SortGroups(m_, &sorted)) return false;
  price_.clear();
  rank_.clear();
  seen_.assign(m_.offers.size() + m_.n_node + 1, 0);
  seen_offer_.assign(m_.offers.size(), 0);
  stamp_ = 0;
  journal_.Begin(0, 0);
  for (const PlaceGroup& g : sorted) {
    NewGroup(g.offers, static_cast<uint32_t>(rank_.size()));
    price_.back() = GroupPrice(m_, g.offers);
  }
  value_cost_.assign(m_.values.size(), 0);
  cost_ = 0;
  for (double p : price_) cost_ += p;
  for (uint32_t v = 0; v < m_.values.size(); ++v) {
    value_cost_[v] = ValueCost(m_, owner_, v);
    cost_ += value_cost_[v];
  }
  dirty_values_.clear();
  dirty_groups_.clear();
  return true;
}

void Arrangement::Refresh() {
  const std::vector<PlaceGroup> groups = Groups();
  Start(groups);
}

std::vector<PlaceGroup> Arrangement::Groups() const {
  std::vector<PlaceGroup> out;
  for (const std::vector<uint32_t>& members : groups_) {
    if (!members.empty()) out.push_back({m_.offers[members[0]].device, members});
  }
  return out;
}

// --- changes, each written down so that it can be undone ---

void Arrangement::Remember(uint32_t group) {
  dirty_groups_.push_back(group);
  if (group >= journal_.n_group) return;
  for (size_t i = 0; i < journal_.n_old; ++i) {
    if (journal_.groups[i].group == group) return;
  }
  if (journal_.n_old == journal_.groups.size()) journal_.groups.emplace_back();
  OldGroup& old = journal_.groups[journal_.n_old++];
  old.group = group;
  old.members = groups_[group];
  old.price = price_[group];
  work_ += groups_[group].size() / 8;
}

void Arrangement::SetGroup(uint32_t offer, uint32_t group) {
  journal_.offer_group.emplace_back(offer, group_[offer]);
  group_[offer] = group;
  for (const OfferPart& part : m_.offers[offer].parts) owner_.group[part.node] = group;
}

void Arrangement::SetRank(uint32_t group, uint32_t rank) {
  journal_.ranks.emplace_back(group, rank_[group]);
  rank_[group] = rank;
}

uint32_t Arrangement::NewGroup(std::span<const uint32_t> members, uint32_t rank) {
  const uint32_t g = static_cast<uint32_t>(groups_.size());
  for (uint32_t o : members) SetGroup(o, g);
  groups_.emplace_back();
  if (!spare_.empty()) {
    groups_.back().swap(spare_.back());
    spare_.pop_back();
  }
  groups_.back().assign(members.begin(), members.end());
  price_.push_back(0);
  rank_.push_back(rank);
  if (seen_.size() <= groups_.size()) seen_.resize(groups_.size() * 2, 0);
  dirty_groups_.push_back(g);
  return g;
}

void Arrangement::Touched(uint32_t offer) {
  for (const OfferPart& part : m_.offers[offer].parts) {
    for (uint32_t v : m_.node_reads[part.node]) dirty_values_.push_back(v);
    for (uint32_t v : m_.node_gives[part.node]) dirty_values_.push_back(v);
  }
}

void Arrangement::TakeOut(uint32_t offer) {
  const uint32_t g = group_[offer];
  Remember(g);
  Touched(offer);
  groups_[g].erase(std::find(groups_[g].begin(), groups_[g].end(), offer));
}

uint32_t Arrangement::InnerNeighbours(uint32_t offer) const {
  uint32_t one = kNone, count = 0;
  EachNeighbour(offer, true, true, [&](uint32_t q) {
    if (group_[q] != group_[offer] || q == one) return;
    one = q;
    ++count;
  });
  return count;
}

// After a member left: one group per connected part, the first keeping its number. New groups are
// appended to `pieces`.
void Arrangement::SplitApart(uint32_t group, std::vector<uint32_t>* pieces) {
  if (groups_[group].size() < 2) return;
  work_ += groups_[group].size();
  ++stamp_;
  parts_.clear();
  ends_.clear();
  for (uint32_t first : groups_[group]) {
    if (seen_[first] == stamp_) continue;
    seen_[first] = stamp_;
    stack_.assign(1, first);
    while (!stack_.empty()) {
      const uint32_t o = stack_.back();
      stack_.pop_back();
      parts_.push_back(o);
      EachNeighbour(o, true, true, [&](uint32_t q) {
        // A node whose offer was just taken out names an offer that is in no group any more.
        if (q == kNone || group_[q] != group || seen_[q] == stamp_) return;
        seen_[q] = stamp_;
        stack_.push_back(q);
      });
    }
    ends_.push_back(parts_.size());
  }
  if (ends_.size() < 2) return;
  const std::span<const uint32_t> all(parts_);
  groups_[group].assign(parts_.begin(), parts_.begin() + static_cast<ptrdiff_t>(ends_[0]));
  for (size_t i = 1; i < ends_.size(); ++i) {
    const auto part = all.subspan(ends_[i - 1], ends_[i] - ends_[i - 1]);
    pieces->push_back(NewGroup(part, rank_[group]));
  }
}

// When what is left of a group both leads to `offer` and is reached from it, the reached part
// becomes a group of its own. `pieces` are the groups that may be cut.
void Arrangement::CutBehind(uint32_t offer, uint32_t highest, std::vector<uint32_t>* pieces) {
  ++stamp_;
  stack_.assign(1, offer);
  auto is_piece = [pieces](uint32_t g) {
    return std::find(pieces->begin(), pieces->end(), g) != pieces->end();
  };
  while (!stack_.empty()) {
    const uint32_t o = stack_.back();
    stack_.pop_back();
    ++work_;
    EachNeighbour(o, true, false, [&](uint32_t q) {
      const uint32_t g = group_[q];
      if (rank_[g] > highest || seen_offer_[q] == stamp_) return;
      if (is_piece(g)) {
        seen_offer_[q] = stamp_;
        stack_.push_back(q);
        return;
      }
      for (uint32_t member : groups_[g]) {  // entered once, left from anywhere
        if (seen_offer_[member] != stamp_) stack_.push_back(member);
        seen_offer_[member] = stamp_;
      }
    });
  }
  const size_t n_candidate = pieces->size();
  const uint32_t reached_stamp = stamp_;  // splitting walks too
  for (size_t i = 0; i < n_candidate; ++i) {
    const uint32_t g = (*pieces)[i];
    before_.clear();
    behind_.clear();
    for (uint32_t o : groups_[g]) {
      (seen_offer_[o] == reached_stamp ? behind_ : before_).push_back(o);
    }
    if (before_.empty() || behind_.empty()) continue;
    for (uint32_t o : behind_) Touched(o);
    work_ += groups_[g].size();
    groups_[g] = before_;
    const uint32_t other = NewGroup(behind_, rank_[g]);
    pieces->push_back(other);
    SplitApart(g, pieces);
    SplitApart(other, pieces);
  }
}

bool Arrangement::CanJoin(uint32_t offer, uint32_t other) const {
  const ModelOffer &a = m_.offers[offer], &b = m_.offers[other];
  return a.growable && b.growable && a.device == b.device;
}

void Arrangement::MergeAround(uint32_t offer, bool outputs_first) {
  if (!m_.offers[offer].growable) return;
  auto take = [&](uint32_t q) {
    if (CanJoin(offer, q)) near_.push_back(q);
  };
  for (bool readers : {outputs_first, !outputs_first}) {
    near_.clear();
    EachNeighbour(offer, readers, !readers, take);
    for (uint32_t q : near_) {
      if (group_[q] == group_[offer]) continue;
      if (readers) {
        Merge(group_[offer], group_[q]);
      } else {
        Merge(group_[q], group_[offer]);
      }
    }
  }
}

// True when a walk that leaves `from` and passes through other groups ends in `to` (which may be
// `from`). Goes forward from `from`, or back from `to` when that is smaller; ranks outside
// [lowest, highest] cannot be on such a walk.
bool Arrangement::HasDetour(uint32_t from, uint32_t to, uint32_t lowest, uint32_t highest) {
  const bool forward = groups_[from].size() <= groups_[to].size();
  const uint32_t start = forward ? from : to, end = forward ? to : from;
  ++stamp_;
  seen_[start] = stamp_;
  stack_.assign(1, start);
  bool found = false;
  while (!stack_.empty() && !found) {
    const uint32_t g = stack_.back();
    stack_.pop_back();
    for (uint32_t o : groups_[g]) {
      ++work_;
      EachNeighbour(o, forward, !forward, [&](uint32_t q) {
        const uint32_t h = group_[q];
        if (h == g || rank_[h] > highest || rank_[h] < lowest) return;
        if (h == end) found = found || g != start;
        if (h == end || seen_[h] == stamp_) return;
        seen_[h] = stamp_;
        stack_.push_back(h);
      });
    }
  }
  return found;
}

// True when, among the offers of its group, a walk from `offer` comes back to it.
bool Arrangement::HasOfferCycle(uint32_t offer) {
  const uint32_t g = group_[offer];
  if (groups_[g].size() < 2) return false;
  ++stamp_;
  stack_.assign(1, offer);
  bool cycle = false;
  while (!stack_.empty() && !cycle) {
    const uint32_t o = stack_.back();
    stack_.pop_back();
    ++work_;
    EachNeighbour(o, true, false, [&](uint32_t q) {
      if (group_[q] != g) return;
      cycle = cycle || q == offer;
      if (seen_[q] == stamp_) return;
      seen_[q] = stamp_;
      stack_.push_back(q);
    });
  }
  return cycle;
}

// Ranks may tie but never fall along an edge; merging takes the lower rank, so whatever leads to
// the group must not lie above it.
void Arrangement::LowerAncestors(uint32_t group, uint32_t rank) {
  stack_.assign(1, group);
  while (!stack_.empty()) {
    const uint32_t g = stack_.back();
    stack_.pop_back();
    for (uint32_t o : groups_[g]) {
      ++work_;
      EachNeighbour(o, false, true, [&](uint32_t q) {
        const uint32_t h = group_[q];
        if (h == g || rank_[h] <= rank) return;
        SetRank(h, rank);
        stack_.push_back(h);
      });
    }
  }
}

// An edge leads from `from` to `to`.
bool Arrangement::Merge(uint32_t from, uint32_t to) {
  if (HasDetour(from, to, rank_[from], rank_[to])) return false;
  const uint32_t rank = rank_[from];
  const bool lower = rank_[to] > rank;
  if (lower) {
    SetRank(to, rank);
    LowerAncestors(to, rank);
  }
  uint32_t into = from, gone = to;
  if (groups_[into].size() < groups_[gone].size()) std::swap(into, gone);
  Remember(into);
  Remember(gone);
  for (uint32_t o : groups_[gone]) {
    SetGroup(o, into);
    Touched(o);
  }
  groups_[into].insert(groups_[into].end(), groups_[gone].begin(), groups_[gone].end());
  groups_[gone].clear();
  return true;
}

// --- a whole move ---

bool Arrangement::Fill(std::span<const uint32_t> add, std::vector<uint32_t>* all) {
  all->assign(add.begin(), add.end());
  std::vector<uint32_t>&covered = covered_, &opened = opened_;
  covered.clear();
  opened.clear();
  for (uint32_t o : add) {
    for (const OfferPart& part : m_.offers[o].parts) {
      covered.push_back(part.node);
      for (const OfferPart& theirs : m_.offers[owner_.offer[part.node]].parts) {
        opened.push_back(theirs.node);
      }
    }
  }
  std::sort(covered.begin(), covered.end());
  if (std::adjacent_find(covered.begin(), covered.end()) != covered.end()) return false;
  Unique(&opened);
  for (uint32_t node : opened) {
    if (std::binary_search(covered.begin(), covered.end(), node)) continue;
    const uint32_t device = m_.offers[owner_.offer[node]].device;
    uint32_t best = kNone;
    double best_price = kInfinity;
    for (uint32_t o : m_.node_offers[node]) {
      const ModelOffer& offer = m_.offers[o];
      if (offer.parts.size() > 1) continue;
      // One on the same device first, since its neighbours are there.
      const double price = offer.growable ? offer.marginal : offer.Alone();
      const double seen = price + (offer.device == device ? 0 : 1e12);
      if (seen < best_price) {
        best = o;
        best_price = seen;
      }
    }
    if (best == kNone) return false;
    all->push_back(best);
  }
  return true;
}

bool Arrangement::Place(const std::vector<uint32_t>& add, bool outputs_first) {
  std::vector<uint32_t>&removed = removed_, &groups = regrouped_, &ranks = ranks_;
  removed.clear();
  groups.clear();
  ranks.clear();
  uint32_t highest = 0;
  for (uint32_t o : add) {
    for (const OfferPart& part : m_.offers[o].parts) removed.push_back(owner_.offer[part.node]);
  }
  Unique(&removed);
  for (uint32_t o : removed) {
    groups.push_back(group_[o]);
    highest = std::max(highest, rank_[group_[o]]);
  }
  Unique(&groups);
  for (uint32_t o : add) {
    uint32_t rank = kNone;
    for (const OfferPart& part : m_.offers[o].parts) {
      rank = std::min(rank, rank_[owner_.group[part.node]]);
    }
    ranks.push_back(rank);
  }
  bool splits = false;
  for (uint32_t o : removed) {
    splits = splits || InnerNeighbours(o) > 1;
    TakeOut(o);
    journal_.offer_group.emplace_back(o, group_[o]);
    group_[o] = kNone;
  }
  std::vector<uint32_t>& pieces = pieces_;
  pieces = groups;
  if (splits || removed.size() > 1) {
    for (uint32_t g : groups) SplitApart(g, &pieces);
  }
  for (uint32_t o : add) {
    for (const OfferPart& part : m_.offers[o].parts) {
      journal_.node_offer.emplace_back(part.node, owner_.offer[part.node]);
      owner_.offer[part.node] = o;
    }
  }
  for (size_t i = 0; i < add.size(); ++i) NewGroup({&add[i], 1}, ranks[i]);
  for (size_t i = 0; i < add.size(); ++i) {
    const uint32_t g = group_[add[i]];
    Touched(add[i]);
    if (HasDetour(g, g, 0, highest)) {
      CutBehind(add[i], highest, &pieces);
      if (HasDetour(g, g, 0, highest)) return false;
    }
    if (m_.offers[add[i]].parts.size() > 1) LowerAncestors(g, ranks[i]);
  }
  for (uint32_t o : add) MergeAround(o, outputs_first);
  for (uint32_t o : add) {
    if (m_.offers[o].parts.size() > 1 && HasOfferCycle(o)) return false;
  }
  return true;
}

void Arrangement::Reprice() {
  Unique(&dirty_values_);
  Unique(&dirty_groups_);
  work_ += dirty_values_.size() + dirty_groups_.size();
  for (uint32_t g : dirty_groups_) {
    const double price = groups_[g].empty() ? 0 : GroupPrice(m_, groups_[g]);
    cost_ += price - price_[g];
    price_[g] = price;
    work_ += groups_[g].size() / 8;
  }
  double infinite = 0;
  for (uint32_t v : dirty_values_) {
    const bool free = m_.values[v].producer < 0 && m_.values[v].places.size() == 1;
    if (!free) work_ += m_.values[v].users.size() / kUsersAWork;
    journal_.values.emplace_back(v, value_cost_[v]);
    const double now = ValueCost(m_, owner_, v);
    if (now == kInfinity) infinite = kInfinity;
    if (now != kInfinity && value_cost_[v] != kInfinity) cost_ += now - value_cost_[v];
    if (value_cost_[v] == kInfinity) infinite = kInfinity;
    value_cost_[v] = now;
  }
  if (infinite != 0 || !(cost_ < kInfinity)) {  // infinities do not cancel: add up afresh
    cost_ = 0;
    for (uint32_t g = 0; g < groups_.size(); ++g) cost_ += groups_[g].empty() ? 0 : price_[g];
    for (double c : value_cost_) cost_ += c;
    work_ += value_cost_.size() / 8;
  }
  dirty_values_.clear();
  dirty_groups_.clear();
}

void Arrangement::Undo() {
  for (size_t i = journal_.values.size(); i-- > 0;) {
    value_cost_[journal_.values[i].first] = journal_.values[i].second;
  }
  for (size_t i = journal_.node_offer.size(); i-- > 0;) {
    owner_.offer[journal_.node_offer[i].first] = journal_.node_offer[i].second;
  }
  for (size_t i = journal_.offer_group.size(); i-- > 0;) {
    group_[journal_.offer_group[i].first] = journal_.offer_group[i].second;
  }
  for (size_t i = journal_.ranks.size(); i-- > 0;) {
    rank_[journal_.ranks[i].first] = journal_.ranks[i].second;
  }
  for (size_t g = journal_.n_group; g < groups_.size(); ++g) {
    spare_.push_back(std::move(groups_[g]));
  }
  groups_.resize(journal_.n_group);
  price_.resize(journal_.n_group);
  rank_.resize(journal_.n_group);
  for (size_t i = 0; i < journal_.n_old; ++i) {
    OldGroup& old = journal_.groups[i];
    groups_[old.group].swap(old.members);
    price_[old.group] = old.price;
  }
  for (const auto& [offer, group] : journal_.offer_group) {
    if (group_[offer] == kNone) continue;
    for (const OfferPart& part : m_.offers[offer].parts) {
      if (owner_.offer[part.node] == offer) owner_.group[part.node] = group_[offer];
    }
  }
  cost_ = journal_.cost;
  dirty_values_.clear();
  dirty_groups_.clear();
}

bool Arrangement::Try(std::span<const uint32_t> add, bool outputs_first) {
  if (!Fill(add, &all_)) return false;
  journal_.Begin(groups_.size(), cost_);
  ++work_;
  const bool legal = Place(all_, outputs_first);
  if (legal) Reprice();
  if (legal && cost_ < journal_.cost * (1 - 1e-12) - 1e-9) return true;
  Undo();
  return false;
}

bool Arrangement::TryMerge(uint32_t maker, uint32_t reader) {
  if (group_[maker] == group_[reader] || !CanJoin(maker, reader)) return false;
  journal_.Begin(groups_.size(), cost_);
  if (!Merge(group_[maker], group_[reader])) return false;
  if (!HasOfferCycle(maker) && !HasOfferCycle(reader)) {
    Reprice();
    if (cost_ < journal_.cost * (1 - 1e-12) - 1e-9) return true;
  }
  Undo();
  return false;
}

double Arrangement::Hope(uint32_t offer) {
  const ModelOffer& o = m_.offers[offer];
  double gain = -o.marginal;
  bool neighbour = false;
  EachNeighbour(offer, true, true, [&](uint32_t q) { neighbour = neighbour || CanJoin(offer, q); });
  if (!neighbour) gain -= o.setup + o.launch;
  std::vector<uint32_t>& removed = removed_;
  removed.clear();
  for (const OfferPart& part : o.parts) {
    removed.push_back(owner_.offer[part.node]);
    for (uint32_t v : m_.node_reads[part.node]) gain += std::max(0.0, value_cost_[v]);
    for (uint32_t v : m_.node_gives[part.node]) {
      gain += std::max(0.0, value_cost_[v]) + o.edge_saving;
    }
    for (const Touch& t : part.reads) {  // its maker may now save
      const int32_t p = m_.values[t.value].producer;
      if (p >= 0) gain += m_.offers[owner_.offer[p]].edge_saving;
    }
  }
  Unique(&removed);
  work_ += o.parts.size() / kPartsAWork;
  for (uint32_t r : removed) {
    const ModelOffer& old = m_.offers[r];
    work_ += old.parts.size() / kPartsAWork;
    gain += old.Alone();
    if (old.parts.size() == 1) continue;
    // What fills the rest of a pattern is not known here; only its price can be spared.
    for (const OfferPart& part : old.parts) {
      for (uint32_t v : m_.node_reads[part.node]) gain += std::max(0.0, value_cost_[v]);
      for (uint32_t v : m_.node_gives[part.node]) gain += std::max(0.0, value_cost_[v]);
    }
  }
  return gain;
}

}  // namespace ge::place

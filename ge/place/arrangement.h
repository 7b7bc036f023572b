// Arrangement: a legal cover for changes in small steps; the change in cost follows from the
// changed part. Groups are kept as large as the acyclic quotient lets a greedy merge make them.
// ge/place/moves.h decides the changes. Owned by one search on one thread; the model must outlive
// it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "ge/base/interrupt.h"
#include "ge/place/cover.h"
#include "ge/place/model.h"
#include "ge/place/place.h"

namespace ge::place {

class Arrangement {
 public:
  explicit Arrangement(const Model& model) : m_(model) {}

  // Starts from offers that cover each node once; groups them greedily. False when they form a
  // cycle or do not cover.
  bool Start(const std::vector<uint32_t>& offers);
  // Starts from given groups, which must be legal.
  bool Start(const std::vector<PlaceGroup>& groups);

  // Replaces the offers on the nodes of `add` by `add`, fills nodes thereby uncovered with
  // single offers, and regroups around. Keeps the change when it lowers the cost by more than
  // rounding, else undoes it. True when kept. `outputs_first`: grow towards the readers
  // first.
  bool Try(std::span<const uint32_t> add, bool outputs_first = false);
  bool Try(std::initializer_list<uint32_t> add, bool outputs_first = false) {
    return Try(std::span(add.begin(), add.size()), outputs_first);
  }
  // Merges the groups of two offers, the second of which reads from the first, when that is legal
  // and cheaper. True when merged.
  bool TryMerge(uint32_t maker, uint32_t reader);
  // An estimate, never too low, of the gain of Try({offer}).
  double Hope(uint32_t offer);

  double cost() const { return cost_; }
  // Values and groups visited so far.
  uint64_t work() const { return work_; }
  // Whether a search with this limit ends: the limit is reached, or the call is to end.
  bool Spent(uint64_t limit) const { return work_ > limit || Interrupted(); }
  const Owner& owner() const { return owner_; }
  uint32_t OfferAt(uint32_t node) const { return owner_.offer[node]; }
  double value_cost(uint32_t value) const { return value_cost_[value]; }
  const std::vector<uint32_t>& MembersOf(uint32_t offer) const { return groups_[group_[offer]]; }
  uint32_t GroupOf(uint32_t offer) const { return group_[offer]; }
  std::vector<PlaceGroup> Groups() const;
  // Ranks from scratch, to make the next changes cheaper.
  void Refresh();

 private:
  struct OldGroup {
    uint32_t group = 0;
    std::vector<uint32_t> members;
    double price = 0;
  };
  // Of the change being tried; lists keep their room, since thousands are tried.
  struct Journal {
    void Begin(size_t n, double now) {
      n_old = 0;
      n_group = n;
      cost = now;
      offer_group.clear();
      node_offer.clear();
      ranks.clear();
      values.clear();
    }
    std::vector<OldGroup> groups;  // the first n_old of them
    size_t n_old = 0;
    std::vector<std::pair<uint32_t, uint32_t>> offer_group, node_offer, ranks;
    std::vector<std::pair<uint32_t, double>> values;
    size_t n_group = 0;
    double cost = 0;
  };

  bool Place(const std::vector<uint32_t>& add, bool outputs_first);
  bool Fill(std::span<const uint32_t> add, std::vector<uint32_t>* all);
  void Remember(uint32_t group);
  void SetGroup(uint32_t offer, uint32_t group);
  void SetRank(uint32_t group, uint32_t rank);
  uint32_t NewGroup(std::span<const uint32_t> members, uint32_t rank);
  void TakeOut(uint32_t offer);
  void SplitApart(uint32_t group, std::vector<uint32_t>* pieces);
  void CutBehind(uint32_t offer, uint32_t highest, std::vector<uint32_t>* pieces);
  void MergeAround(uint32_t offer, bool outputs_first);
  bool Merge(uint32_t from, uint32_t to);
  bool CanJoin(uint32_t offer, uint32_t other) const;
  bool HasDetour(uint32_t from, uint32_t to, uint32_t lowest, uint32_t highest);
  uint32_t InnerNeighbours(uint32_t offer) const;
  bool HasOfferCycle(uint32_t offer);
  void LowerAncestors(uint32_t group, uint32_t rank);
  void Touched(uint32_t offer);
  void Reprice();
  void Undo();
  template <typename F>
  void EachNeighbour(uint32_t offer, bool readers, bool makers, F call) const;

  const Model& m_;
  Owner owner_;                  // group = index into groups_
  std::vector<uint32_t> group_;  // by offer; meaningful for taken offers
  std::vector<std::vector<uint32_t>> groups_;
  std::vector<double> price_;   // by group
  std::vector<uint32_t> rank_;  // by group; never falls along an edge
  std::vector<double> value_cost_;
  double cost_ = 0;
  uint64_t work_ = 0;
  Journal journal_;
  std::vector<uint32_t> dirty_values_, dirty_groups_;
  std::vector<uint32_t> seen_;  // by group or offer: stamp of the last walk
  std::vector<uint32_t> seen_offer_;
  uint32_t stamp_ = 0;
  std::vector<std::vector<uint32_t>> spare_;  // of undone groups, for their room
  // Of one call, kept for their room: Try and Hope, Fill, Place, SplitApart, CutBehind,
  // MergeAround, and walks.
  std::vector<uint32_t> all_, removed_, covered_, opened_, regrouped_, ranks_, pieces_, parts_,
      before_, behind_, near_, stack_;
  std::vector<size_t> ends_;
};

}  // namespace ge::place

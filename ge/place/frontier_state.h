// FrontierStep, FrontierWork, FrontierLayer: parts of the frontier search: data shared by all
// states at one node, one state unpacked, and all states between two nodes packed. Not for use
// outside ge/place/frontier*.cc. Owned by one search; one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/place/model.h"

namespace ge::place {

// Widths of the packed state. A graph with more live values is left to moves.
inline constexpr uint32_t kMaxSlots = 48, kMaxGroups = 16, kMaxPending = 16, kMaxPlaces = 32;
inline constexpr uint8_t kNoGroup = 0xff;
inline constexpr int16_t kNoSlot = -1;

// The state-independent data of one position of the order.
struct FrontierStep {
  uint32_t node = 0;
  std::vector<uint32_t> live;    // values live after it, by slot
  std::vector<int16_t> moved;    // slot before -> slot after, kNoSlot when it dies
  std::vector<uint32_t> places;  // by slot after: places that later readers may want
  std::vector<uint64_t> grow;    // by slot after: devices on which a later reader may grow
  std::vector<uint32_t> starts;  // allowed offers whose first node is this one
};

struct FrontierSlot {
  uint8_t place = 0;         // where the value was made
  uint8_t group = kNoGroup;  // of its maker, while that group still matters
  uint16_t saving = 0;       // index of the saving still to be had, 0 = none
  uint32_t brought = 0;      // places it has been brought to, among those still wanted
};

// A group that may still get an edge into it: it can grow or is half taken.
struct FrontierGroup {
  uint16_t device = 0;
  bool open = false;               // may be joined
  uint32_t setup = 0, launch = 0;  // indices of prices
  // Its reach: bit s = the maker of the value in slot s, bit kMaxSlots + g = group g.
  uint64_t row = 0;
};

struct FrontierPending {  // an offer with nodes still to come
  uint32_t offer = 0;
  uint32_t group = 0;
};

// Groups that can still matter, by first mention: equal futures have equal words.
struct FrontierNames {
  uint32_t n = 0;
  uint8_t group[kMaxGroups];   // by new number
  uint8_t number[kMaxGroups];  // by group, kNoGroup where it does not matter
};

struct FrontierWork {
  double cost = 0;
  uint32_t n_slot = 0, n_group = 0, n_pending = 0;
  FrontierSlot slots[kMaxSlots];
  FrontierGroup groups[kMaxGroups];
  FrontierPending pending[kMaxPending];

  // Numbers the groups and renames them in slots and pending, dropping those that cannot matter any
  // more; `groups` stays as it is. `merged` stands for the group of number `into`. `step` is the
  // one just taken.
  FrontierNames NameGroups(const Model& model, const FrontierStep& step,
                           const FrontierGroup* of_groups, uint32_t into,
                           const FrontierGroup& merged);
  void Unpack(const uint64_t* words, uint32_t n_slots);
};

// A state in words: a head, slots, three a group, half-taken offers.
struct FrontierWords {
  uint32_t n = 0;
  uint64_t word[1 + kMaxSlots + 3 * kMaxGroups + kMaxPending];
  void Begin(const FrontierWork& work, uint32_t n_group);  // head and slots
  void AddGroup(const FrontierGroup& group, uint64_t row);
  void AddPending(const FrontierWork& work);
};

struct FrontierBack {  // the origin of a state
  uint32_t parent = 0;
  uint32_t offer = 0;   // the node's offer
  uint64_t joined = 0;  // bit k: the maker of the part's k-th read is in the same group
};

struct FrontierState {
  double cost = 0, bound = 0;
  uint32_t offset = 0, size = 0;  // of its words
  FrontierBack back;
};

// The states between two nodes, each configuration once.
class FrontierLayer {
 public:
  void Clear();
  // Keeps the cheaper of equal states.
  void Add(const FrontierWords& words, double cost, double bound, const FrontierBack& back);
  // Keeps the `cap` states of lowest bound, those first. True when some were dropped.
  bool Cut(uint32_t cap);
  // The n-th lowest bound, of at least n.
  double BoundOf(uint32_t n);
  const std::vector<FrontierState>& states() const { return states_; }
  const uint64_t* words(const FrontierState& state) const { return words_.data() + state.offset; }

 private:
  void Grow();
  std::vector<FrontierState> states_;
  std::vector<uint64_t> words_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> table_;  // index + 1
  std::vector<double> bounds_;   // of BoundOf, for its room
};

}  // namespace ge::place

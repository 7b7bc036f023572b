#include "ge/place/frontier_state.h"

#include <algorithm>
#include <cstring>

namespace ge::place {
namespace {

uint64_t HashWords(const FrontierWords& words) {
  uint64_t h = 0x9e3779b97f4a7c15u ^ words.n;
  for (uint32_t i = 0; i < words.n; ++i) {
    h = (h ^ words.word[i]) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace

FrontierNames FrontierWork::NameGroups(const Model& model, const FrontierStep& step,
                                       const FrontierGroup* of_groups, uint32_t into,
                                       const FrontierGroup& merged) {
  uint32_t half_taken = 0, may_join = 0;  // bits
  for (uint32_t p = 0; p < n_pending; ++p) {
    const uint32_t bit = uint32_t{1} << pending[p].group;
    half_taken |= bit;
    if (model.offers[pending[p].offer].growable) may_join |= bit;
  }
  for (uint32_t s = 0; s < n_slot; ++s) {
    const uint8_t g = slots[s].group;
    const FrontierGroup* group = g == kNoGroup ? nullptr : g == into ? &merged : of_groups + g;
    if (group == nullptr || !group->open) {
      slots[s].saving = 0;
    } else if ((step.grow[s] >> group->device & 1) != 0) {
      may_join |= uint32_t{1} << g;
    } else if ((half_taken >> g & 1) == 0) {
      slots[s].saving = 0;  // a half-taken offer may yet read it from inside
    }
  }
  FrontierNames names;
  std::fill(names.number, names.number + kMaxGroups, kNoGroup);
  auto name = [&names](uint32_t g) {
    if (names.number[g] == kNoGroup) {
      names.number[g] = static_cast<uint8_t>(names.n);
      names.group[names.n++] = static_cast<uint8_t>(g);
    }
    return names.number[g];
  };
  for (uint32_t s = 0; s < n_slot; ++s) {
    uint8_t& g = slots[s].group;
    if (g == kNoGroup) continue;
    if (((may_join | half_taken) >> g & 1) != 0) {
      g = name(g);
    } else {
      g = kNoGroup;
      slots[s].saving = 0;
    }
  }
  if (n_pending > 1) {
    std::sort(pending, pending + n_pending,
              [](const FrontierPending& a, const FrontierPending& b) { return a.offer < b.offer; });
  }
  for (uint32_t p = 0; p < n_pending; ++p) pending[p].group = name(pending[p].group);
  return names;
}

void FrontierWords::Begin(const FrontierWork& work, uint32_t n_group) {
  n = 0;
  word[n++] = uint64_t{n_group} << 32 | work.n_pending;
  for (uint32_t s = 0; s < work.n_slot; ++s) {
    const FrontierSlot& slot = work.slots[s];
    word[n++] = uint64_t{slot.place} << 56 | uint64_t{slot.group} << 48 |
                uint64_t{slot.saving} << 32 | slot.brought;
  }
}

// What cannot be joined has no price that matters.
void FrontierWords::AddGroup(const FrontierGroup& group, uint64_t row) {
  word[n++] = group.open ? uint64_t{group.device} << 1 | 1 : 0;
  word[n++] = group.open ? uint64_t{group.setup} << 32 | group.launch : 0;
  word[n++] = row;
}

void FrontierWords::AddPending(const FrontierWork& work) {
  for (uint32_t p = 0; p < work.n_pending; ++p) {
    word[n++] = uint64_t{work.pending[p].offer} << 32 | work.pending[p].group;
  }
}

void FrontierWork::Unpack(const uint64_t* words, uint32_t n_slots) {
  n_slot = n_slots;
  n_group = static_cast<uint32_t>(*words >> 32);
  n_pending = static_cast<uint32_t>(*words++);
  for (uint32_t s = 0; s < n_slot; ++s, ++words) {
    slots[s].place = static_cast<uint8_t>(*words >> 56);
    slots[s].group = static_cast<uint8_t>(*words >> 48);
    slots[s].saving = static_cast<uint16_t>(*words >> 32);
    slots[s].brought = static_cast<uint32_t>(*words);
  }
  for (uint32_t g = 0; g < n_group; ++g, words += 3) {
    groups[g].device = static_cast<uint16_t>(words[0] >> 1);
    groups[g].open = (words[0] & 1) != 0;
    groups[g].setup = static_cast<uint32_t>(words[1] >> 32);
    groups[g].launch = static_cast<uint32_t>(words[1]);
    groups[g].row = words[2];
  }
  for (uint32_t p = 0; p < n_pending; ++p, ++words) {
    pending[p].offer = static_cast<uint32_t>(*words >> 32);
    pending[p].group = static_cast<uint32_t>(*words);
  }
}

void FrontierLayer::Clear() {
  states_.clear();
  words_.clear();
  hashes_.clear();
  std::fill(table_.begin(), table_.end(), 0);
}

void FrontierLayer::Grow() {
  table_.assign(std::max<size_t>(1024, table_.size() * 2), 0);
  const size_t mask = table_.size() - 1;
  for (uint32_t i = 0; i < hashes_.size(); ++i) {
    size_t at = hashes_[i] & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = i + 1;
  }
}

void FrontierLayer::Add(const FrontierWords& words, double cost, double bound,
                        const FrontierBack& back) {
  if ((states_.size() + 1) * 2 > table_.size()) Grow();
  const uint64_t hash = HashWords(words);
  const size_t mask = table_.size() - 1;
  size_t at = hash & mask;
  for (; table_[at] != 0; at = (at + 1) & mask) {
    const uint32_t i = table_[at] - 1;
    FrontierState& s = states_[i];
    if (hashes_[i] != hash || s.size != words.n ||
        std::memcmp(words_.data() + s.offset, words.word, words.n * 8) != 0) {
      continue;
    }
    if (cost < s.cost) {
      s.cost = cost;
      s.bound = bound;
      s.back = back;
    }
    return;
  }
  FrontierState s;
  s.cost = cost;
  s.bound = bound;
  s.offset = static_cast<uint32_t>(words_.size());
  s.size = words.n;
  s.back = back;
  words_.insert(words_.end(), words.word, words.word + words.n);
  states_.push_back(s);
  hashes_.push_back(hash);
  table_[at] = static_cast<uint32_t>(states_.size());
}

bool FrontierLayer::Cut(uint32_t cap) {
  if (states_.size() <= cap) return false;
  // Ties by insertion order (offset) keep the search the same on every machine.
  auto before = [](const FrontierState& a, const FrontierState& b) {
    return a.bound != b.bound ? a.bound < b.bound : a.offset < b.offset;
  };
  std::nth_element(states_.begin(), states_.begin() + cap, states_.end(), before);
  states_.resize(cap);
  std::sort(states_.begin(), states_.end(), before);
  return true;
}

double FrontierLayer::BoundOf(uint32_t n) {
  bounds_.clear();
  for (const FrontierState& s : states_) bounds_.push_back(s.bound);
  std::nth_element(bounds_.begin(), bounds_.begin() + (n - 1), bounds_.end());
  return bounds_[n - 1];
}

}  // namespace ge::place

#include "ge/place/frontier_state.h"

#include <algorithm>
#include <cstring>

namespace ge::place {
namespace {

uint64_t HashWords(const std::vector<uint64_t>& words) {
  uint64_t h = 0x9e3779b97f4a7c15u ^ words.size();
  for (uint64_t w : words) {
    h = (h ^ w) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace

void FrontierWork::Canonicalise(const Model& model, const FrontierStep& step) {
  bool half_taken[kMaxGroups] = {}, may_join[kMaxGroups] = {};
  for (uint32_t p = 0; p < n_pending; ++p) {
    half_taken[pending[p].group] = true;
    if (model.offers[pending[p].offer].growable) may_join[pending[p].group] = true;
  }
  for (uint32_t s = 0; s < n_slot; ++s) {
    const uint8_t g = slots[s].group;
    if (g == kNoGroup || !groups[g].open) {
      slots[s].saving = 0;
    } else if ((step.grow[s] >> groups[g].device & 1) != 0) {
      may_join[g] = true;
    } else if (!half_taken[g]) {
      slots[s].saving = 0;  // a half-taken offer may yet read it from inside
    }
  }
  uint8_t name[kMaxGroups];
  std::fill(name, name + kMaxGroups, kNoGroup);
  FrontierGroup kept[kMaxGroups];
  uint32_t n_kept = 0;
  auto keep = [&](uint32_t g) {
    if (name[g] != kNoGroup) return;
    name[g] = static_cast<uint8_t>(n_kept);
    kept[n_kept] = groups[g];
    if (!groups[g].open) kept[n_kept].device = 0, kept[n_kept].setup = 0, kept[n_kept].launch = 0;
    ++n_kept;
  };
  for (uint32_t s = 0; s < n_slot; ++s) {
    uint8_t& g = slots[s].group;
    if (g == kNoGroup) continue;
    if (may_join[g] || half_taken[g]) {
      keep(g);
      g = name[g];
    } else {
      g = kNoGroup;
      slots[s].saving = 0;
    }
  }
  std::sort(pending, pending + n_pending,
            [](const FrontierPending& a, const FrontierPending& b) { return a.offer < b.offer; });
  for (uint32_t p = 0; p < n_pending; ++p) {
    keep(pending[p].group);
    pending[p].group = name[pending[p].group];
  }
  for (uint32_t k = 0; k < n_kept; ++k) {
    uint64_t row = kept[k].row & ((uint64_t{1} << kMaxSlots) - 1);
    for (uint64_t bits = kept[k].row >> kMaxSlots; bits != 0; bits &= bits - 1) {
      const uint8_t g = name[__builtin_ctzll(bits)];
      if (g != kNoGroup) row |= uint64_t{1} << (kMaxSlots + g);
    }
    kept[k].row = row;
  }
  std::copy(kept, kept + n_kept, groups);
  n_group = n_kept;
}

void FrontierWork::Pack(std::vector<uint64_t>* words) const {
  words->clear();
  words->push_back(uint64_t{n_group} << 32 | n_pending);
  for (uint32_t s = 0; s < n_slot; ++s) {
    words->push_back(uint64_t{slots[s].place} << 56 | uint64_t{slots[s].group} << 48 |
                     uint64_t{slots[s].saving} << 32 | slots[s].brought);
  }
  for (uint32_t g = 0; g < n_group; ++g) {
    words->push_back(uint64_t{groups[g].device} << 1 | (groups[g].open ? 1 : 0));
    words->push_back(uint64_t{groups[g].setup} << 32 | groups[g].launch);
    words->push_back(groups[g].row);
  }
  for (uint32_t p = 0; p < n_pending; ++p) {
    words->push_back(uint64_t{pending[p].offer} << 32 | pending[p].group);
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
    groups[g].dead = false;
    groups[g].setup = static_cast<uint32_t>(words[1] >> 32);
    groups[g].launch = static_cast<uint32_t>(words[1]);
    groups[g].row = words[2];
  }
  for (uint32_t p = 0; p < n_pending; ++p, ++words) {
    pending[p].offer = static_cast<uint32_t>(*words >> 32);
    pending[p].group = static_cast<uint32_t>(*words);
  }
}

void FrontierWork::CopyFrom(const FrontierWork& other) {
  cost = other.cost;
  n_slot = other.n_slot;
  n_group = other.n_group;
  n_pending = other.n_pending;
  std::copy(other.slots, other.slots + n_slot, slots);
  std::copy(other.groups, other.groups + n_group, groups);
  std::copy(other.pending, other.pending + n_pending, pending);
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

void FrontierLayer::Add(const std::vector<uint64_t>& words, double cost, double bound,
                        const FrontierBack& back) {
  if ((states_.size() + 1) * 2 > table_.size()) Grow();
  const uint64_t hash = HashWords(words);
  const size_t mask = table_.size() - 1;
  size_t at = hash & mask;
  for (; table_[at] != 0; at = (at + 1) & mask) {
    const uint32_t i = table_[at] - 1;
    FrontierState& s = states_[i];
    if (hashes_[i] != hash || s.size != words.size() ||
        std::memcmp(words_.data() + s.offset, words.data(), words.size() * 8) != 0) {
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
  s.size = static_cast<uint32_t>(words.size());
  s.back = back;
  words_.insert(words_.end(), words.begin(), words.end());
  states_.push_back(s);
  hashes_.push_back(hash);
  table_[at] = static_cast<uint32_t>(states_.size());
}

bool FrontierLayer::Cut(uint32_t cap) {
  if (states_.size() <= cap) return false;
  // Ties by insertion order (offset) keep the search the same on every machine.
  std::nth_element(states_.begin(), states_.begin() + cap, states_.end(),
                   [](const FrontierState& a, const FrontierState& b) {
                     return a.bound != b.bound ? a.bound < b.bound : a.offset < b.offset;
                   });
  states_.resize(cap);
  return true;
}

}  // namespace ge::place

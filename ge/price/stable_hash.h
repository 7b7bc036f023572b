// Hashes of bytes that stand in files: the same in every build. A change of one word always changes
// the hash, so it also serves as a check of what was read. Words are taken in this processor's
// order: a file of one machine is not read on another.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace ge {

inline uint64_t MixedHash(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9fb21c651e98df25u;
  return hash ^ (hash >> 29);
}

inline uint64_t StableHash(std::string_view bytes, uint64_t seed = 0x2545f4914f6cdd1du) {
  uint64_t hash = MixedHash(seed, bytes.size());
  while (bytes.size() >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    hash = MixedHash(hash, word);
    bytes.remove_prefix(sizeof word);
  }
  uint64_t last = 0;
  if (!bytes.empty()) std::memcpy(&last, bytes.data(), bytes.size());
  hash = MixedHash(hash, last);
  return hash ^ (hash >> 32);
}

}  // namespace ge

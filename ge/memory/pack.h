// Pack: offsets for blocks, some pairs of which may not share bytes, in as few bytes as the
// heuristics find. It knows no plan: numbers in, numbers out; deterministic. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace ge::memory {

struct PackBlock {
  int64_t bytes = 0, align = 1;     // align: a power of two
  uint32_t first = 0, last = 0;     // rough lifetime in issue order; steers the order of placement
  uint32_t until = 0;               // no block starting behind this point shares one with it
  std::vector<uint32_t> conflicts;  // blocks that may not share bytes with it; symmetric
};

struct PackResult {
  std::vector<int64_t> offset;
  int64_t bytes = 0;  // of the arena
};

// The caller has checked that the sum of all bytes and alignments fits in 63 bits.
// `quick`: see MemoryOptions.
PackResult Pack(const std::vector<PackBlock>& blocks, bool quick = false);

// The same from `first` and `until` alone, for blocks whose conflicts would fill memory: one walk
// through time puts each block into the smallest free gap. n log n steps.
PackResult PackInOrder(const std::vector<PackBlock>& blocks);

}  // namespace ge::memory

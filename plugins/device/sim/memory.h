// Blocks of device and pinned memory. Pageable memory is every address that no block holds.
// A freed block keeps its bytes, poisoned, while work may still touch it and some time longer, so
// that a late use is found and harms nothing of the process. While it is kept, nothing else lies
// there; of those that are not, the oldest ones, nobody knows any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "plugins/device/sim/shadow.h"

namespace ge_engines::device::sim {

struct Block {
  uint64_t number = 0;
  int device = -1;  // -1: pinned
  size_t bytes = 0;
  bool freed = false;
  std::string name;  // "block 3 of sim 0"
  unsigned char* data = nullptr;
  Shadow shadow;

  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();
  bool pinned() const { return device < 0; }
  size_t taken() const;     // of the process: its guard and what is known of it, too
  bool GuardHolds() const;  // nobody wrote behind the block
};

class Memory {
 public:
  // nullptr: the process has no more.
  std::shared_ptr<Block> Add(int device, size_t bytes, size_t alignment, const std::string& owner);
  void Free(const std::shared_ptr<Block>& block);
  // The block that holds or held this address, its guard included; nullptr: pageable memory.
  std::shared_ptr<Block> Find(const void* address) const;
  const std::map<uintptr_t, std::shared_ptr<Block>>& blocks() const { return blocks_; }

 private:
  std::map<uintptr_t, std::shared_ptr<Block>> blocks_;
  std::deque<std::shared_ptr<Block>> freed_;  // oldest first
  size_t freed_bytes_ = 0;                    // taken by them
  uint64_t next_ = 1;
};

}  // namespace ge_engines::device::sim

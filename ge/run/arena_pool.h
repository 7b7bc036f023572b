// ArenaPool: host memory for the transient arenas of runs in flight. Plans of all shapes share it:
// a run takes a block, uses its first bytes, and gives it back when it is done. So a new shape
// costs no fresh pages, and many shapes take no more memory than the largest. A block never
// shrinks. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ge/base/status.h"

namespace ge {

class ArenaPool {
 public:
  ArenaPool() = default;
  ~ArenaPool();
  ArenaPool(const ArenaPool&) = delete;
  ArenaPool& operator=(const ArenaPool&) = delete;

 private:
  struct Block {
    char* base = nullptr;  // aligned to huge pages
    uint64_t reserved = 0, used = 0;
  };

 public:
  // One run's block; the destructor gives it back.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), block_(other.block_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (pool_ != nullptr) pool_->Give(block_);
    }
    char* base() const { return block_.base; }

   private:
    friend class ArenaPool;
    Lease(ArenaPool* pool, const Block& block) : pool_(pool), block_(block) {}
    ArenaPool* pool_ = nullptr;
    Block block_;
  };
  // At least so many bytes, with undefined content. RESOURCE_EXHAUSTED where memory is short. The
  // pool must outlive the lease.
  Result<Lease> Take(uint64_t bytes);

  // Frees the blocks that no run holds.
  void DropFree();

  uint64_t blocks() const;

 private:
  static bool Reserve(uint64_t bytes, Block* block);
  static void Release(const Block& block);
  void Give(const Block& block);

  mutable std::mutex mutex_;
  std::vector<Block> free_;  // the last one given back is taken first
  uint64_t made_ = 0;        // blocks in all; free_ has room for them
};

}  // namespace ge

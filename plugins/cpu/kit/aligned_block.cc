#include "plugins/cpu/kit/aligned_block.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

namespace ge_cpu {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
constexpr uint64_t kChunk = uint64_t{32} << 20;  // of addresses; pages come when they are written
// Smaller blocks would make a small model pay for a whole huge page.
constexpr uint64_t kWorthAChunk = 256 << 10;

uint64_t RoundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

struct Chunk {
  explicit Chunk(uint64_t size) : bytes(size), base(std::aligned_alloc(kHugePage, size)) {
    if (base == nullptr) throw std::bad_alloc();
    (void)madvise(base, bytes, MADV_HUGEPAGE);  // The system may decline.
  }
  ~Chunk() { std::free(base); }
  Chunk(const Chunk&) = delete;

  uint64_t bytes, used = 0;
  void* base;
};

std::shared_ptr<void> FromChunk(uint64_t bytes) {
  static std::mutex mutex;
  static std::weak_ptr<Chunk> current;  // what nobody uses goes away
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Chunk> chunk = current.lock();
  if (!chunk || chunk->bytes - chunk->used < bytes) {
    chunk = std::make_shared<Chunk>(std::max(RoundUp(bytes, kHugePage), kChunk));
    // The rest of a large block's own chunk is less than a page.
    if (bytes < kChunk) current = chunk;
  }
  void* at = static_cast<char*>(chunk->base) + chunk->used;
  chunk->used += bytes;
  return {std::move(chunk), at};
}

}  // namespace

AlignedBlock::AlignedBlock(uint64_t bytes) {
  if (bytes > UINT64_MAX - kHugePage) throw std::bad_alloc();
  const uint64_t padded = RoundUp(std::max<uint64_t>(bytes, 1), 64);
  if (padded >= kWorthAChunk) {
    data_ = FromChunk(padded);
    return;
  }
  void* p = std::aligned_alloc(64, padded);
  if (p == nullptr) throw std::bad_alloc();
  data_ = std::shared_ptr<void>(p, [](void* block) { std::free(block); });
}

}  // namespace ge_cpu

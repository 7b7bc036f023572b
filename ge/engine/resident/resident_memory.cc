#include "ge/engine/resident/resident_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "ge/base/pages.h"

namespace ge {
namespace {

constexpr uint64_t kChunk = uint64_t{32} << 20;  // of addresses; pages come when they are written
// Smaller blocks would make a small model pay for a whole huge page.
constexpr uint64_t kWorthAChunk = 256 << 10;

uint64_t RoundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

struct Chunk {
  explicit Chunk(uint64_t size) : bytes(size), base(std::aligned_alloc(kHugePage, size)) {
    PreferHugePages(base, size);
  }
  ~Chunk() { std::free(base); }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  uint64_t bytes, used = 0;
  void* base;  // null when there is no memory
};

// Its chunk lives as long as any of its pieces; the pages of one that goes are given back before.
class Piece {
 public:
  Piece(std::shared_ptr<Chunk> chunk, void* at, uint64_t bytes)
      : chunk_(std::move(chunk)), at_(at), bytes_(bytes) {}
  ~Piece() {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t begin = RoundUp(reinterpret_cast<uintptr_t>(at_), page);
    const uintptr_t end = (reinterpret_cast<uintptr_t>(at_) + bytes_) / page * page;
    if (chunk_.use_count() > 1 && end > begin) {
      (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

 private:
  std::shared_ptr<Chunk> chunk_;
  void* at_;
  uint64_t bytes_;
};

std::shared_ptr<void> FromChunk(uint64_t bytes, uint64_t align) {
  static std::mutex mutex;
  static std::weak_ptr<Chunk> current;  // what nobody uses goes away
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Chunk> chunk = current.lock();
  uint64_t at = chunk ? RoundUp(chunk->used, align) : 0;
  if (!chunk || chunk->bytes < bytes || chunk->bytes - bytes < at) {
    chunk = std::make_shared<Chunk>(std::max(RoundUp(bytes, kHugePage), kChunk));
    if (chunk->base == nullptr) return nullptr;
    at = 0;
    // The rest of a large block's own chunk is less than a page.
    if (bytes < kChunk) current = chunk;
  }
  chunk->used = at + bytes;
  void* address = static_cast<char*>(chunk->base) + at;
  return {std::make_shared<Piece>(std::move(chunk), address, bytes), address};
}

}  // namespace

std::shared_ptr<void> AllocateResident(uint64_t bytes, uint64_t align) {
  align = std::max<uint64_t>(align, 64);
  if (bytes > UINT64_MAX / 2 || align > kHugePage) return nullptr;
  const uint64_t padded = RoundUp(std::max<uint64_t>(bytes, 1), align);
  if (padded >= kWorthAChunk) return FromChunk(padded, align);
  return {std::aligned_alloc(align, padded), [](void* block) { std::free(block); }};
}

}  // namespace ge

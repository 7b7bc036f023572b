#include "memory.h"

#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

namespace graphengine {
namespace {

// A block is its Memory and, 64 bytes behind, what it holds.
constexpr uint64_t kHead = 64;
static_assert(sizeof(Memory) <= kHead);
// Lists of free blocks, four for each doubling of the size: at most a fifth of a block is unused.
constexpr uint32_t kLists = 80, kNoList = kLists;
constexpr uint64_t kMostBytes = 32 << 20;    // of a block that is kept
constexpr uint64_t kMostPooled = 128 << 20;  // of all that are kept

struct Pool {
  std::mutex mutex;
  std::array<Memory*, kLists> first{};  // linked by `context`
  uint64_t bytes = 0;
};

Pool& ThePool() {
  static Pool* pool = new Pool;  // blocks may come back after the end of main
  return *pool;
}

// The list of blocks of *bytes bytes, which is rounded up to what these hold.
uint32_t ListOf(uint64_t* bytes) {
  if (*bytes <= 64) {
    *bytes = 64;
    return 0;
  }
  const int doubling = std::bit_width(*bytes - 1) - 1;  // 2^doubling < bytes <= 2^(doubling + 1)
  const uint64_t step = uint64_t{1} << (doubling - 2);
  const uint64_t steps = (*bytes - (uint64_t{1} << doubling) + step - 1) / step;  // 1 .. 4
  *bytes = (uint64_t{1} << doubling) + steps * step;
  return static_cast<uint32_t>((doubling - 6) * 4 + static_cast<int>(steps));
}

}  // namespace

Memory* NewMemory(uint64_t bytes) {
  uint32_t list = kNoList;
  if (bytes <= kMostBytes) {
    list = ListOf(&bytes);
    Pool& pool = ThePool();
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (Memory* found = pool.first[list]) {
      pool.first[list] = static_cast<Memory*>(found->context);
      pool.bytes -= found->bytes;
      found->owners.store(1, std::memory_order_relaxed);
      return found;
    }
  }
  if (bytes > INT64_MAX - 2 * kHead) return nullptr;
  void* block = std::aligned_alloc(kHead, (bytes + 2 * kHead - 1) / kHead * kHead);
  if (!block) return nullptr;
  return new (block) Memory{1, list, static_cast<char*>(block) + kHead, bytes, nullptr, nullptr};
}

Memory* NewMemory(void* data, uint64_t bytes, void (*release)(void* context), void* context) {
  void* block = std::malloc(sizeof(Memory));
  return block ? new (block) Memory{1, kNoList, data, bytes, release, context} : nullptr;
}

void FreeMemory(Memory* memory) {
  if (memory->release) memory->release(memory->context);
  if (memory->pool != kNoList) {
    Pool& pool = ThePool();
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (pool.bytes + memory->bytes <= kMostPooled) {
      memory->context = pool.first[memory->pool];
      pool.first[memory->pool] = memory;
      pool.bytes += memory->bytes;
      return;
    }
  }
  std::free(memory);
}

}  // namespace graphengine

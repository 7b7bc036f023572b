#include "ge/run/arena_pool.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "ge/base/pages.h"

namespace ge {
namespace {

// Addresses are reserved for arenas so many times as large, so that larger shapes find the pages
// that smaller ones have touched; pages come when they are written.
constexpr uint64_t kAhead = 4;
constexpr uint64_t kLeast = uint64_t{64} << 20;

uint64_t RoundUp(uint64_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

// Aligned to huge pages; null when there are no addresses.
char* Map(uint64_t bytes) {
  void* at = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* begin = static_cast<char*>(at);
  auto* base = reinterpret_cast<char*>(RoundUp(reinterpret_cast<uintptr_t>(begin)));
  if (base > begin) munmap(begin, static_cast<size_t>(base - begin));
  char* end = begin + bytes + kHugePage;
  if (end > base + bytes) munmap(base + bytes, static_cast<size_t>(end - (base + bytes)));
  return base;
}

}  // namespace

ArenaPool::~ArenaPool() {
  for (const Block& b : free_) Release(b);
}

void ArenaPool::DropFree() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Block& b : free_) Release(b);
  made_ -= free_.size();
  free_.clear();
}

void ArenaPool::Release(const Block& block) {
  if (block.base != nullptr) munmap(block.base, block.reserved);
}

bool ArenaPool::Reserve(uint64_t bytes, Block* block) {
  for (const uint64_t wanted : {RoundUp(std::max(kAhead * bytes, kLeast)), RoundUp(bytes)}) {
    *block = {Map(wanted), wanted, 0};
    if (block->base != nullptr) return true;
  }
  *block = {};
  return false;
}

Result<ArenaPool::Lease> ArenaPool::Take(uint64_t bytes) {
  Block block;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) {
      free_.reserve(++made_);
    } else {
      block = free_.back();
      free_.pop_back();
    }
  }
  const bool fits = block.base != nullptr && block.reserved >= bytes;
  if (!fits) {
    Release(block);
    constexpr uint64_t kMost = uint64_t{1} << 46;
    if (bytes > kMost || !Reserve(bytes, &block)) {
      Give({});
      return Status(Code::kResourceExhausted,
                    fmt::format("no host memory for an arena of {} bytes; use smaller inputs or "
                                "fewer runs at once",
                                bytes));
    }
  }
  if (bytes > block.used) {
    PreferHugePages(block.base, bytes);
    block.used = bytes;
  }
  return Lease(this, block);
}

void ArenaPool::Give(const Block& block) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(block);
}

uint64_t ArenaPool::blocks() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return made_;
}

}  // namespace ge

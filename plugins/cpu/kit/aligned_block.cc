#include "plugins/cpu/kit/aligned_block.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace ge_engines::cpu {
namespace {

// The C library keeps blocks of less than 32 MiB that were freed, once a larger one was.
constexpr uint64_t kPagesOfItsOwn = uint64_t{1} << 20;

std::shared_ptr<void> Pages(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  (void)madvise(p, bytes, MADV_HUGEPAGE);
  return {p, [bytes](void* block) { munmap(block, bytes); }};
}

}  // namespace

AlignedBlock::AlignedBlock(uint64_t bytes) {
  if (bytes > UINT64_MAX / 2) throw std::bad_alloc();
  if (bytes >= kPagesOfItsOwn) {
    data_ = Pages(bytes);
    return;
  }
  void* p = std::aligned_alloc(64, (std::max<uint64_t>(bytes, 1) + 63) / 64 * 64);
  if (p == nullptr) throw std::bad_alloc();
  data_ = std::shared_ptr<void>(p, [](void* block) { std::free(block); });
}

}  // namespace ge_engines::cpu

#include "ge/base/aligned.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>

#include "ge/base/pages.h"
#include "ge/base/sanitizer.h"

namespace ge {

void FreeAligned::operator()(void* memory) const { std::free(memory); }

AlignedBytes AllocateAligned(uint64_t bytes, uint64_t align) {
  if (align < 64) align = 64;
  if (bytes > UINT64_MAX - align) return nullptr;
  align = PageAlign(bytes, align);
  if (bytes > UINT64_MAX - align) return nullptr;
#if GE_ADDRESS_SANITIZER
  // To the byte, so that an access beyond the last one is seen.
  void* exact = nullptr;
  if (posix_memalign(&exact, align, bytes > 0 ? bytes : 1) != 0) return nullptr;
  return AlignedBytes(static_cast<std::byte*>(exact));
#endif
  const uint64_t rounded = (bytes + align - 1) / align * align;
  AlignedBytes block(static_cast<std::byte*>(std::aligned_alloc(align, rounded ? rounded : align)));
  PreferHugePages(block.get(), bytes);
  return block;
}

#if !GE_ADDRESS_SANITIZER
namespace {

constexpr uint64_t kWorthPages = 64 << 10;  // smaller ones would waste much of their last page

// Pages at a place where huge ones fit, if it is worth one. Null when there is no memory.
std::shared_ptr<std::byte> AllocatePages(uint64_t bytes) {
  const uint64_t spare = bytes >= kHugePage ? kHugePage : 0;
  if (bytes > UINT64_MAX - spare) return nullptr;
  void* all =
      mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* block = static_cast<std::byte*>(all);
  if (spare > 0) block += (spare - reinterpret_cast<uintptr_t>(all) % spare) % spare;
  PreferHugePages(block, bytes);
  return {block, [all, length = bytes + spare](std::byte*) { munmap(all, length); }};
}

}  // namespace
#endif

std::shared_ptr<std::byte> AllocateShared(uint64_t bytes) {
#if !GE_ADDRESS_SANITIZER
  if (bytes >= kWorthPages) {
    // There may be no more mappings where there is still memory.
    if (auto pages = AllocatePages(bytes)) return pages;
  }
#endif
  return AllocateAligned(bytes, 64);
}

uint64_t CapacityOf(void* block) { return malloc_usable_size(block); }

}  // namespace ge

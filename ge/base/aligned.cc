#include "ge/base/aligned.h"

#include <malloc.h>

#include <cstdlib>

#include "ge/base/pages.h"
#include "ge/base/sanitizer.h"

namespace ge {

void FreeAligned::operator()(void* p) const { std::free(p); }

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

uint64_t CapacityOf(void* block) { return malloc_usable_size(block); }

}  // namespace ge

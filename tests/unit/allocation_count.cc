#include "tests/unit/allocation_count.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#include "ge/base/sanitizer.h"

#if GE_ADDRESS_SANITIZER || GE_THREAD_SANITIZER
namespace ge {
bool AllocationCounting() { return false; }
uint64_t AllocationCount() { return 0; }
}  // namespace ge
#else
namespace {
thread_local uint64_t count = 0;

void* Take(std::size_t size, std::size_t align) {
  ++count;
  const std::size_t rounded = (size + align - 1) / align * align;
  void* p = align <= alignof(std::max_align_t) ? std::malloc(size == 0 ? 1 : size)
                                               : std::aligned_alloc(align, rounded);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

namespace ge {
bool AllocationCounting() { return true; }
uint64_t AllocationCount() { return count; }
}  // namespace ge

void* operator new(std::size_t size) { return Take(size, 1); }
void* operator new[](std::size_t size) { return Take(size, 1); }
void* operator new(std::size_t size, std::align_val_t align) {
  return Take(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return Take(size, static_cast<std::size_t>(align));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
#endif

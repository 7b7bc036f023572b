#include "counted_memory.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "ge/ge_plugin.h"

namespace {

std::atomic<int64_t> g_live{0};
std::atomic<uint64_t> g_count{0};
thread_local uint64_t t_count = 0;
thread_local uint64_t t_fail_at = 0;

}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GE_COUNTS 1
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

// Whether this allocation is the one that must fail.
bool Begin() {
  ++t_count;
  g_count.fetch_add(1, std::memory_order_relaxed);
  if (t_fail_at == 0 || t_count != t_fail_at) return false;
  t_fail_at = 0;
  errno = ENOMEM;
  return true;
}
void* Taken(void* p) {
  if (p != nullptr) {
    g_live.fetch_add(static_cast<int64_t>(malloc_usable_size(p)), std::memory_order_relaxed);
  }
  return p;
}
void Given(void* p) {
  if (p != nullptr) {
    g_live.fetch_sub(static_cast<int64_t>(malloc_usable_size(p)), std::memory_order_relaxed);
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void* malloc(size_t n) { return Begin() ? nullptr : Taken(__libc_malloc(n)); }
void* calloc(size_t n, size_t size) { return Begin() ? nullptr : Taken(__libc_calloc(n, size)); }
void* realloc(void* p, size_t n) {
  if (Begin()) return nullptr;
  const int64_t before = p != nullptr ? static_cast<int64_t>(malloc_usable_size(p)) : 0;
  void* out = __libc_realloc(p, n);
  if (out != nullptr || n == 0) g_live.fetch_sub(before, std::memory_order_relaxed);
  return Taken(out);
}
void* memalign(size_t align, size_t n) {
  return Begin() ? nullptr : Taken(__libc_memalign(align, n));
}
void* aligned_alloc(size_t align, size_t n) { return memalign(align, n); }
int posix_memalign(void** out, size_t align, size_t n) {
  void* p = memalign(align, n);
  if (p == nullptr) return ENOMEM;
  *out = p;
  return 0;
}
void free(void* p) {
  Given(p);
  __libc_free(p);
}
}
#pragma GCC visibility pop
#else
#define GE_COUNTS 0
#endif

namespace ge::conform {

bool IsCounting() { return GE_COUNTS != 0; }
int64_t LiveBytes() { return g_live.load(std::memory_order_relaxed); }
uint64_t AllocationsHere() { return t_count; }
uint64_t Allocations() { return g_count.load(std::memory_order_relaxed); }
void FailAllocation(uint64_t n) { t_fail_at = n == 0 ? 0 : t_count + n; }

}  // namespace ge::conform

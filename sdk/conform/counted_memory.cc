#include "counted_memory.h"

#include <dlfcn.h>
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

#include "ge/ge_plugin.h"

namespace {

std::atomic<int64_t> g_live{0};
thread_local uint64_t t_count = 0;
const void* g_object = nullptr;  // where the watched object is loaded
std::atomic<bool> g_watching{false};
std::atomic<uint64_t> g_own{0};
thread_local bool t_watching = false;
thread_local uint64_t t_others = 0;
// Of FailAllocation: which one is to fail, and how many there were.
thread_local bool t_starving = false;
thread_local uint64_t t_fail_at = 0, t_starved = 0;

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

bool IsOwn(const void* caller) {
  Dl_info info;
  return g_object != nullptr && dladdr(caller, &info) != 0 && info.dli_fbase == g_object;
}

// Whether this allocation is the one that must fail.
bool Begin(const void* caller) {
  ++t_count;
  if (g_watching.load(std::memory_order_relaxed)) {
    if (IsOwn(caller)) {
      g_own.fetch_add(1, std::memory_order_relaxed);
    } else if (t_watching) {
      ++t_others;
    }
  }
  if (!t_starving || !IsOwn(caller)) return false;
  if (++t_starved != t_fail_at) return false;
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
void* Thrown(void* p) {
  if (p == nullptr) std::__throw_bad_alloc();
  return p;
}

}  // namespace

#define GE_CALLER __builtin_return_address(0)
#pragma GCC visibility push(default)
extern "C" {
void* malloc(size_t n) { return Begin(GE_CALLER) ? nullptr : Taken(__libc_malloc(n)); }
void* calloc(size_t n, size_t size) {
  return Begin(GE_CALLER) ? nullptr : Taken(__libc_calloc(n, size));
}
void* realloc(void* p, size_t n) {
  if (Begin(GE_CALLER)) return nullptr;
  const int64_t before = p != nullptr ? static_cast<int64_t>(malloc_usable_size(p)) : 0;
  void* out = __libc_realloc(p, n);
  if (out != nullptr || n == 0) g_live.fetch_sub(before, std::memory_order_relaxed);
  return Taken(out);
}
void* memalign(size_t align, size_t n) {
  return Begin(GE_CALLER) ? nullptr : Taken(__libc_memalign(align, n));
}
void* aligned_alloc(size_t align, size_t n) {
  return Begin(GE_CALLER) ? nullptr : Taken(__libc_memalign(align, n));
}
int posix_memalign(void** out, size_t align, size_t n) {
  void* p = Begin(GE_CALLER) ? nullptr : Taken(__libc_memalign(align, n));
  if (p == nullptr) return ENOMEM;
  *out = p;
  return 0;
}
void free(void* p) {
  Given(p);
  __libc_free(p);
}
}
// Of the C++ library all others come to these; inlined containers call them from the plugin's code.
void* operator new(size_t n) {
  return Thrown(Begin(GE_CALLER) ? nullptr : Taken(__libc_malloc(n == 0 ? 1 : n)));
}
void* operator new[](size_t n) {
  return Thrown(Begin(GE_CALLER) ? nullptr : Taken(__libc_malloc(n == 0 ? 1 : n)));
}
void* operator new(size_t n, std::align_val_t align) {
  return Thrown(Begin(GE_CALLER) ? nullptr : Taken(__libc_memalign(static_cast<size_t>(align), n)));
}
void operator delete(void* p) noexcept { free(p); }
void operator delete[](void* p) noexcept { free(p); }
void operator delete(void* p, size_t) noexcept { free(p); }
void operator delete[](void* p, size_t) noexcept { free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { free(p); }
#pragma GCC visibility pop
#else
#define GE_COUNTS 0
#endif

namespace ge::conform {

bool IsCounting() { return GE_COUNTS != 0; }
int64_t LiveBytes() { return g_live.load(std::memory_order_relaxed); }
uint64_t AllocationsHere() { return t_count; }

void WatchObject(const void* address) {
  Dl_info info;
  g_object = dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}
void BeginWatch() {
  g_own = 0;
  t_others = 0;
  t_watching = true;
  g_watching = true;
}
Watched EndWatch() {
  g_watching = false;
  t_watching = false;
  return {g_own.load(), t_others};
}
uint64_t FailAllocation(uint64_t n) {
  const uint64_t before = t_starved;
  t_fail_at = n;
  t_starved = 0;
  t_starving = n != 0;
  return before;
}

}  // namespace ge::conform

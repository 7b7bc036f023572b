#include "counted_threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace {

std::atomic<uint64_t> g_made{0};

}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#pragma GCC visibility push(default)
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attr, void* (*body)(void*),
                              void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (create == nullptr) return EAGAIN;
  g_made.fetch_add(1, std::memory_order_relaxed);
  return create(thread, attr, body, argument);
}
#pragma GCC visibility pop
#endif

namespace ge::conform {

uint64_t ThreadsMade() { return g_made.load(std::memory_order_relaxed); }

}  // namespace ge::conform

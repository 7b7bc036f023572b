#include "plugins/cpu/kit/float_mode.h"

#include <cstddef>

#include "plugins/cpu/omp/ge_omp.h"

extern "C" void GOMP_parallel(void (*fn)(void*), void* data, unsigned threads, unsigned flags);

namespace ge_engines::cpu {
namespace {

// 0 = none: a word with all exceptions unmasked and no flag set is nobody's.
thread_local uint32_t noted = 0;     // by LaunchMode
thread_local uint32_t replaced = 0;  // by LibraryMode: this thread's own word

}  // namespace

bool OnHostThreads() {
  // Bound before the first engine of the plugin is made.
  static const bool on = ge_omp_serves(reinterpret_cast<const void*>(&GOMP_parallel)) != 0;
  return on;
}

uint32_t OwnFloatControl() { return noted != 0 ? noted : _mm_getcsr(); }

LaunchMode::LaunchMode(const ge_host_api* host) : old_(noted) {
  if (host == nullptr || host->h.size < offsetof(ge_host_api, caller_fp) + sizeof(void*)) return;
  if (host->caller_fp != nullptr) noted = host->caller_fp(host->host);
}
LaunchMode::~LaunchMode() { noted = old_; }

LibraryMode::LibraryMode(int threads) : threads_(threads) {
  const uint32_t mode = _mm_getcsr(), own = OwnFloatControl();
  if (mode == own || OnHostThreads()) threads_ = 1;
  if (threads_ == 1) return;
  _mm_setcsr(own);
#pragma omp parallel num_threads(threads_)
  {
    replaced = _mm_getcsr();
    _mm_setcsr(mode);
  }
  _mm_setcsr(mode);
}

// A thread that the library's regions made anew in between replaced nothing: it was born in the
// mode and gets the word of the thread that it works for.
LibraryMode::~LibraryMode() {
  if (threads_ == 1) return;
  const uint32_t mode = _mm_getcsr(), own = OwnFloatControl();
  _mm_setcsr(own);
#pragma omp parallel num_threads(threads_)
  {
    _mm_setcsr(replaced != 0 ? replaced : own);
    replaced = 0;
  }
  _mm_setcsr(mode);
}

}  // namespace ge_engines::cpu

// OpenMP's threads belong to the application: libgomp gives each application thread one pool,
// and regions of ours and of the application use it by turns. So inside our regions a thread
// computes in the launching thread's mode (MXCSR, set by the host: ge_plugin.h, rule 8), and
// gets its own word back afterwards. New pool threads inherit the word of the forking thread,
// so it forks with its own word. Owns nothing; for the sources of this folder and of the
// engines.
#pragma once

#include <immintrin.h>
#include <omp.h>

#include <cstdint>

#include "ge/ge_plugin.h"
#include "plugins/cpu/kit/arrival.h"

namespace ge_engines::cpu {

// The calling thread's own word, outside of the host's calls, as LaunchMode noted it; the present
// word if none is noted.
uint32_t OwnFloatControl();

// Whether the engine's OpenMP regions run on the host's threads. Those take over the forking
// thread's mode; see plugins/cpu/omp.
bool OnHostThreads();

// Notes the thread's own word during a call of the host's. `host` may be NULL.
class LaunchMode {
 public:
  explicit LaunchMode(const ge_host_api* host);
  ~LaunchMode();
  LaunchMode(const LaunchMode&) = delete;
  LaunchMode& operator=(const LaunchMode&) = delete;

 private:
  uint32_t old_;
};

// Calls f() on each of `threads` of OpenMP's threads at once, in the calling thread's mode; on the
// calling thread alone while others' cores are busy (Arrival).
template <class F>
void OnThreads(int threads, const F& call) {
  const int64_t start = Arrival::Now();
  if (Arrival::Team(threads, start) == 1) return call();
  int64_t mine = start;  // when the calling thread had done its part
  const uint32_t mode = _mm_getcsr();
  _mm_setcsr(OwnFloatControl());
#pragma omp parallel num_threads(threads)
  {
    const uint32_t own = _mm_getcsr();
    _mm_setcsr(mode);
    call();
    _mm_setcsr(own);
    if (omp_get_thread_num() == 0) mine = Arrival::Now();
  }
  _mm_setcsr(mode);
  const int64_t end = Arrival::Now();
  Arrival::Note(end, mine - start, end - mine);
}

// For calls of a library with parallel regions of its own: while it lives, their threads have the
// calling thread's mode. It costs two regions, so use it once a launch; none if the mode is the
// thread's own or `threads` is 1.
class LibraryMode {
 public:
  explicit LibraryMode(int threads);
  ~LibraryMode();
  LibraryMode(const LibraryMode&) = delete;
  LibraryMode& operator=(const LibraryMode&) = delete;

 private:
  int threads_;
};

}  // namespace ge_engines::cpu

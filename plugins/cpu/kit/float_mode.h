// OpenMP's threads are the application's: libgomp gives each of its threads one pool, on which
// regions of the application and ours run by turns. So a thread computes in the mode of the thread
// that launched (MXCSR, which the host sets: ge_plugin.h, rule 8) inside a region of ours and has
// its own word back behind it; and threads that a region makes, which inherit the word of the one
// that forks, are made while that one has its own. Owns nothing; for the sources of this folder and
// of the engines.
#pragma once

#include <immintrin.h>
#include <omp.h>

#include <cstdint>

#include "ge/ge_plugin.h"
#include "plugins/cpu/kit/arrival.h"

namespace ge_engines::cpu {

// The word that the calling thread has outside of the host's calls, as LaunchMode noted it; the
// present one where nothing is noted.
uint32_t OwnFloatControl();

// Whether OpenMP's regions of this engine run on the host's threads, which take over the mode of
// the thread that forks; see plugins/cpu/omp.
bool OnHostThreads();

// Notes it for the time of a call of the host's. `host` may be NULL.
class LaunchMode {
 public:
  explicit LaunchMode(const ge_host_api* host);
  ~LaunchMode();
  LaunchMode(const LaunchMode&) = delete;
  LaunchMode& operator=(const LaunchMode&) = delete;

 private:
  uint32_t old_;
};

// f() on each of `threads` of OpenMP's threads at once, in the calling thread's mode; on the
// calling one alone while the others are kept from their cores.
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

// For calls of a library that forks regions of its own: their threads are in the calling thread's
// mode while this lives. Two regions of its own, so once a launch; none where the mode is no other
// than the thread's own or `threads` is 1.
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

// Shared by the loops of this folder: when to use threads, and the padding of blocked layouts. Only
// for the sources of loops. Plain values; any thread.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/kit/float_mode.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/units/layout.h"

namespace ge_engines::cpu {

// Lanes behind the last channel of a blocked layout.
struct Padding {
  int64_t batches = 0, batch_stride = 0, first = 0, rows = 0, lanes = 0, block = 0;
  explicit Padding(const Layout& layout) {
    if (!layout.padded()) return;
    batches = layout.dim[0];
    batch_stride = layout.stride[0];
    block = layout.cblock;
    const int64_t used = layout.dim[1] % layout.cblock;
    first = (layout.blocks() - 1) * layout.stride[1] + used;
    lanes = layout.cblock - used;
    rows = 1;
    for (int i = 2; i < layout.rank; ++i) rows *= layout.dim[i];
  }
  void Zero(float* p) const {
    for (int64_t b = 0; b < batches; ++b) {
      float* q = p + b * batch_stride + first;
      for (int64_t r = 0; r < rows; ++r, q += block) {
        for (int64_t k = 0; k < lanes; ++k) q[k] = 0.0f;
      }
    }
  }
};

// Calls f(i) for i in [0, n), on OpenMP's threads if `parallel`. The plain loop is separate because
// OpenMP makes a team even of one thread (250 ns).
template <class F>
void ForRange(bool parallel, int64_t n, F call) {
  if (!parallel || n < 2 || omp_get_max_threads() == 1) {
    for (int64_t i = 0; i < n; ++i) call(i);
    return;
  }
  OnThreads(omp_get_max_threads(), [&] {
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < n; ++i) call(i);
  });
}

// Calls f(first element, count) for pieces of n quantized values.
template <class F>
void ForBytes(int64_t n, F call) {
  ForRange(n > kParallel, (n + kQuantizeElements - 1) / kQuantizeElements, [&](int64_t i) {
    call(i * kQuantizeElements, std::min(kQuantizeElements, n - i * kQuantizeElements));
  });
}

// Calls f(i, buffer) for i in [0, n) on `threads` of OpenMP's threads. Each thread's buffer has
// `floats` floats of the workspace.
template <class F>
void ForJobs(int threads, int64_t n, float* workspace, uint64_t floats, F call) {
  if (threads == 1 || n == 1) {
    for (int64_t i = 0; i < n; ++i) call(i, workspace);
    return;
  }
  OnThreads(threads, [&] {
    float* const own = workspace + floats * static_cast<uint64_t>(omp_get_thread_num());
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < n; ++i) call(i, own);
  });
}

}  // namespace ge_engines::cpu

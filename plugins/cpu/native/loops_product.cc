// Thin products, and loops over rows that an index or a condition picks.
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/loops.h"

namespace ge_engines::cpu::native {
namespace {

class ThinProducts final : public Loop {
 public:
  ThinProducts(const Simd& simd, const ThinProduct& t) : simd_(simd), t_(t) {}

  void Run(float* const* p) const override {
    // Whole rows of w by one thread alone; strips of whole cache lines for several.
    const bool parallel = t_.batch * t_.n * t_.k > kParallel;
    int64_t strip = t_.n;
    if (parallel && t_.batch == 1) {
      const int64_t threads = std::max(1, omp_get_max_threads());
      strip = ((t_.n + threads - 1) / threads + kStripColumns - 1) / kStripColumns * kStripColumns;
    }
    strip = std::max<int64_t>(strip, 1);
    const int64_t strips = (t_.n + strip - 1) / strip;
    ForRange(parallel, t_.batch * strips, [&](int64_t i) {
      const int64_t at = i % strips * strip;
      One(p, i / strips, at, std::min(strip, t_.n - at));
    });
  }

 private:
  void One(float* const* p, int64_t batch, int64_t at, int64_t n) const {
    const float* x = p[1] + batch * t_.x_batch;
    const float* w = p[2] + batch * t_.w_batch;
    float* y = p[0] + batch * t_.m * t_.n + at;
    if (t_.w_by_columns) {
      simd_.dot_rows(x, t_.k, w + at * t_.k, t_.k, y, t_.n, t_.m, n, t_.k);
    } else {
      simd_.thin_product(x, t_.k, w + at, t_.n, y, t_.n, t_.m, n, t_.k);
    }
    if (t_.alpha == 1.0f && !t_.bias) return;
    for (int64_t r = 0; r < t_.m; ++r) {
      float* row = y + r * t_.n;
      if (t_.alpha != 1.0f) simd_.unary(Fn::kLinear, t_.alpha, 0.0f, row, row, n);
      if (t_.bias) simd_.binary(Fn::kAdd, row, p[3] + at, row, n);
    }
  }

  const Simd& simd_;
  const ThinProduct t_;
};

class Gathered final : public Work {
  // A copy of a run by the library costs as much as some four elements one by one.
  static constexpr int64_t kRunIndices = 4;

 public:
  explicit Gathered(const Gather& g) : g_(g) {}

  ge_rc Do(const Call& call) const override {
    return g_.wide ? Pick(call, reinterpret_cast<const int64_t*>(call.p[2]))
                   : Pick(call, reinterpret_cast<const int32_t*>(call.p[2]));
  }

 private:
  template <class Index>
  ge_rc Pick(const Call& call, const Index* index) const {
    const int64_t least = g_.backwards ? -g_.axis : 0;
    for (int64_t i = 0; i < g_.count; ++i) {
      const int64_t k = index[i];
      if (k >= least && k < g_.axis) continue;
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "index %lld (number %lld of the indices) is outside [%lld, %lld), "
                              "the gathered axis; give indices inside it",
                              static_cast<long long>(k), static_cast<long long>(i),
                              static_cast<long long>(least), static_cast<long long>(g_.axis));
    }
    const auto* x = reinterpret_cast<const char*>(call.p[1]);
    auto* y = reinterpret_cast<char*>(call.p[0]);
    const int64_t row = g_.inner * g_.bytes;
    if (row == 4) {
      Spread<4>(index, x, y, row);
    } else if (row == 8) {
      Spread<8>(index, x, y, row);
    } else {
      Spread<0>(index, x, y, row);
    }
    return GE_OK;
  }

  // Indices and blocks of the axes before theirs are cut into pieces: what is found out about a
  // piece of indices serves a whole block. kRow > 0: the bytes of a row, known to the compiler.
  template <size_t kRow, class Index>
  void Spread(const Index* index, const char* x, char* y, int64_t row) const {
    const int64_t pieces = (g_.count + kGatherIndices - 1) / kGatherIndices;
    const int64_t blocks = (g_.outer + kGatherBlocks - 1) / kGatherBlocks;
    const bool parallel = g_.outer * g_.count * row > kParallelBytes;
    ForRange(parallel, blocks * pieces, [&](int64_t t) {
      const int64_t block = t / pieces * kGatherBlocks, first = t % pieces * kGatherIndices;
      const int64_t n = std::min(kGatherIndices, g_.count - first);
      const int64_t outer = std::min(kGatherBlocks, g_.outer - block);
      const char* from = x + block * g_.axis * row;
      char* to = y + (block * g_.count + first) * row;
      int64_t offset[kGatherIndices];
      for (int64_t i = 0; i < n; ++i) {
        const int64_t k = index[first + i];
        offset[i] = (k < 0 ? k + g_.axis : k) * row;
      }
      Runs runs;
      if (outer > 1 && FindRuns(offset, n, row, &runs)) return CopyRuns(runs, from, to, outer, row);
      for (int64_t o = 0; o < outer; ++o, from += g_.axis * row, to += g_.count * row) {
        for (int64_t i = 0; i < n; ++i) {
          if constexpr (kRow > 0) {
            std::memcpy(to + i * row, from + offset[i], kRow);
          } else {
            std::memcpy(to + i * row, from + offset[i], static_cast<size_t>(row));
          }
        }
      }
    });
  }

  // Indices that count up by ones: windows (unfold), rolls and slices come as such.
  struct Runs {
    int64_t from[kGatherIndices / kRunIndices + 1], bytes[kGatherIndices / kRunIndices + 1];
    int64_t n = 0;
  };

  // False where runs are shorter than kRunIndices in the mean.
  static bool FindRuns(const int64_t* offset, int64_t n, int64_t row, Runs* runs) {
    const int64_t most = n / kRunIndices;
    for (int64_t i = 0; i < n;) {
      if (runs->n == most) return false;
      int64_t end = i + 1;
      while (end < n && offset[end] == offset[end - 1] + row) ++end;
      runs->from[runs->n] = offset[i];
      runs->bytes[runs->n++] = (end - i) * row;
      i = end;
    }
    return true;
  }

  void CopyRuns(const Runs& runs, const char* from, char* to, int64_t outer, int64_t row) const {
    for (int64_t o = 0; o < outer; ++o, from += g_.axis * row, to += g_.count * row) {
      char* at = to;
      for (int64_t i = 0; i < runs.n; at += runs.bytes[i++]) {
        std::memcpy(at, from + runs.from[i], static_cast<size_t>(runs.bytes[i]));
      }
    }
  }

  const Gather g_;
};

class Appended final : public Work {
 public:
  explicit Appended(const Append& a) : a_(a) {}

  ge_rc Do(const Call& call) const override {
    const int64_t first = *reinterpret_cast<const int64_t*>(call.p[2]);
    if (first < 0 || first > a_.room - a_.rows) {
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "%lld rows behind the %lld in use do not fit into the cache of %lld; "
                              "start anew, or make it larger",
                              static_cast<long long>(a_.rows), static_cast<long long>(first),
                              static_cast<long long>(a_.room));
    }
    auto* y = reinterpret_cast<char*>(call.p[0]);
    const auto* rows = reinterpret_cast<const char*>(call.p[3]);
    const int64_t block = a_.room * a_.row_bytes, piece = a_.rows * a_.row_bytes;
    if (call.p[0] != call.p[1]) {
      std::memcpy(y, call.p[1], static_cast<size_t>(a_.outer * block));
    }
    for (int64_t o = 0; o < a_.outer; ++o) {
      std::memcpy(y + o * block + first * a_.row_bytes, rows + o * piece,
                  static_cast<size_t>(piece));
    }
    return GE_OK;
  }

 private:
  const Append a_;
};

// Calls f(first, count) for pieces of n elements.
template <class F>
void ForTiles(int64_t n, F f) {
  const int64_t pieces = (n + kTile - 1) / kTile;
  ForRange(n > kParallel, pieces, [&](int64_t t) { f(t * kTile, std::min(kTile, n - t * kTile)); });
}

class Compared final : public Loop {
 public:
  Compared(const Simd& simd, Compare op, int64_t n, bool scalar)
      : simd_(simd), op_(op), n_(n), step_(scalar ? 0 : 1) {}
  void Run(float* const* p) const override {
    auto* out = reinterpret_cast<uint8_t*>(p[0]);
    ForTiles(n_, [&](int64_t i, int64_t n) {
      simd_.compare(op_, p[1] + i, p[2] + i * step_, step_, out + i, n);
    });
  }

 private:
  const Simd& simd_;
  Compare op_;
  int64_t n_, step_;
};

}  // namespace

std::unique_ptr<Loop> ThinProductLoop(const Simd& simd, const ThinProduct& t) {
  return std::make_unique<ThinProducts>(simd, t);
}
std::unique_ptr<Work> GatherLoop(const Gather& g) { return std::make_unique<Gathered>(g); }
std::unique_ptr<Work> AppendLoop(const Append& a) { return std::make_unique<Appended>(a); }
std::unique_ptr<Loop> CompareLoop(const Simd& simd, Compare op, int64_t n, bool scalar) {
  return std::make_unique<Compared>(simd, op, n, scalar);
}

}  // namespace ge_engines::cpu::native

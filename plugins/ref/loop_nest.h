// LoopNest: visits N strided operands of one index space together, innermost runs in one call. It
// is no tensor library: no data, only dims and strides in elements. Built at compile, or on the
// stack at run time; it never allocates; any thread may run a const nest.
#pragma once

#include <cstdint>

#include "plugins/ref/kernel.h"
#include "plugins/ref/stop.h"

namespace ref {

template <int N>
class LoopNest {
 public:
  // Adds the next inner dim. Dims of one are dropped, dims that continue each other are merged.
  void Add(int64_t dim, const int64_t (&stride)[N]) {
    if (dim == 0) empty_ = true;
    if (dim == 1 || empty_) return;
    if (rank_ > 0) {
      bool merge = true;
      for (int k = 0; k < N; ++k) merge &= stride_[k][rank_ - 1] == stride[k] * dim;
      if (merge) {
        dims_[rank_ - 1] *= dim;
        for (int k = 0; k < N; ++k) stride_[k][rank_ - 1] = stride[k];
        return;
      }
    }
    dims_[rank_] = dim;
    for (int k = 0; k < N; ++k) stride_[k][rank_] = stride[k];
    ++rank_;
  }

  // inner(offset, n, stride): operand k's element j of the run lies at offset[k] + j * stride[k].
  // A bool result false ends the walk. Offsets are in elements.
  template <class F>
  bool Run(F&& inner) const {
    if (empty_) return true;
    int64_t offset[N] = {}, inner_stride[N] = {}, index[kMaxRank] = {};
    const int last = rank_ - 1;
    const int64_t n = rank_ == 0 ? 1 : dims_[last];
    for (int k = 0; k < N && rank_ > 0; ++k) inner_stride[k] = stride_[k][last];
    int64_t done = 0;
    while (true) {
      if (!inner(offset, n, inner_stride)) return false;
      if ((done += n) >= kBetweenSpends) {
        Spend(done);
        done = 0;
      }
      int d = last - 1;
      for (; d >= 0; --d) {
        for (int k = 0; k < N; ++k) offset[k] += stride_[k][d];
        if (++index[d] < dims_[d]) break;
        for (int k = 0; k < N; ++k) offset[k] -= stride_[k][d] * dims_[d];
        index[d] = 0;
      }
      if (d < 0) {
        Spend(done);
        return true;
      }
    }
  }

  bool empty() const { return empty_; }

 private:
  static constexpr int64_t kBetweenSpends = 1 << 14;
  int rank_ = 0;
  bool empty_ = false;
  int64_t dims_[kMaxRank] = {};
  int64_t stride_[N][kMaxRank] = {};
};

// Row-major strides of dims, in elements.
inline void DenseStrides(Ints dims, int64_t* stride) {
  int64_t s = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    stride[i] = s;
    s *= dims[i];
  }
}

// Strides that read `dims` as shape `to` (ONNX broadcasting); false if it does not broadcast.
inline bool BroadcastStrides(Ints dims, Ints to, int64_t* stride) {
  if (dims.size() > to.size()) return false;
  const size_t pad = to.size() - dims.size();
  int64_t dense[kMaxRank];
  DenseStrides(dims, dense);
  for (size_t i = 0; i < to.size(); ++i) {
    const int64_t d = i < pad ? 1 : dims[i - pad];
    if (d != 1 && d != to[i]) return false;
    stride[i] = d == 1 ? 0 : dense[i - pad];
  }
  return true;
}

inline bool SameDims(Ints left, Ints right) {
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i] != right[i]) return false;
  }
  return true;
}

// Axis in [0, rank), or -1 when it is out of range.
inline int64_t NormalAxis(int64_t axis, int64_t rank) {
  const int64_t a = axis < 0 ? axis + rank : axis;
  return a >= 0 && a < rank ? a : -1;
}

// Product of dims [from, to); the whole tensor's count has been checked.
inline int64_t PartCount(Ints dims, size_t from, size_t to) {
  int64_t n = 1;
  for (size_t i = from; i < to && i < dims.size(); ++i) n *= dims[i];
  return n;
}

}  // namespace ref

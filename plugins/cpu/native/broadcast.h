// Common axes of a dense result and of two operands repeated along some of them. Plain values; any
// thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"

namespace ge_engines::cpu::native {

// The axes of a dense result and the strides of two broadcast operands along them, merged.
struct Broadcast {
  std::vector<int64_t> dim, x, z;
  int64_t rows = 1;

  Broadcast(const Dims& result, const Dims& xd, const Dims& zd) {
    const std::vector<int64_t> sx = Strides(result, xd), sz = Strides(result, zd);
    for (size_t k = 0; k < result.size(); ++k) {
      if (result[k] == 1) continue;
      if (!dim.empty() && x.back() == sx[k] * result[k] && z.back() == sz[k] * result[k]) {
        dim.back() *= result[k];
        x.back() = sx[k];
        z.back() = sz[k];
      } else {
        dim.push_back(result[k]);
        x.push_back(sx[k]);
        z.push_back(sz[k]);
      }
    }
    if (dim.empty()) {
      dim = {1};
      x = {1};
      z = {1};
    }
    for (size_t k = 0; k + 1 < dim.size(); ++k) rows *= dim[k];
  }

  // inner(result's offset, x's, z's) for each run along the last axis.
  template <class F>
  void ForEach(const F& inner) const {
    const int64_t n = dim.back();
    ForRange(rows * n > kParallel, rows, [&](int64_t r) {
      int64_t rest = r, ox = 0, oz = 0;
      for (size_t k = dim.size() - 1; k-- > 0;) {
        ox += rest % dim[k] * x[k];
        oz += rest % dim[k] * z[k];
        rest /= dim[k];
      }
      inner(r * n, ox, oz);
    });
  }

  // inner(result's offset, elements, x's offset, z's) for pieces of runs along the last axis, on
  // threads if `parallel`.
  template <class F>
  void ForPieces(bool parallel, int64_t piece, const F& inner) const {
    const int64_t n = dim.back(), pieces = CeilDiv(n, piece);
    ForRange(parallel, rows * pieces, [&](int64_t i) {
      const int64_t at = i % pieces * piece;
      int64_t rest = i / pieces, ox = at * x.back(), oz = at * z.back();
      for (size_t k = dim.size() - 1; k-- > 0;) {
        ox += rest % dim[k] * x[k];
        oz += rest % dim[k] * z[k];
        rest /= dim[k];
      }
      inner(i / pieces * n + at, std::min(piece, n - at), ox, oz);
    });
  }

 private:
  static std::vector<int64_t> Strides(const Dims& result, const Dims& dims) {
    std::vector<int64_t> s(result.size(), 0);
    int64_t step = 1;
    for (size_t k = dims.size(); k-- > 0;) {
      s[k + result.size() - dims.size()] = dims[k] == 1 ? 0 : step;
      step *= dims[k];
    }
    return s;
  }
};

// ---- two operands ------------------------------------------------------------------------------
template <class T, class R, class F>
void ForRun(const T* x, const T* value, R* y, int64_t n, int64_t sx, int64_t sz, F call) {
  if (sx == 1 && sz == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] = call(x[i], value[i]);
  } else if (sx == 1 && sz == 0) {
    const T c = value[0];
    for (int64_t i = 0; i < n; ++i) y[i] = call(x[i], c);
  } else if (sx == 0 && sz == 1) {
    const T c = x[0];
    for (int64_t i = 0; i < n; ++i) y[i] = call(c, value[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = call(x[i * sx], value[i * sz]);
  }
}

}  // namespace ge_engines::cpu::native

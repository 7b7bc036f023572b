#include "plugins/cpu/native/training/max_pool_grad.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// One axis: the elements of x that each window reads.
struct Taps {
  std::vector<std::vector<int64_t>> of;  // by window
  Taps(int64_t dim, int64_t windows, int64_t taps, int64_t stride, int64_t dilation, int64_t pad)
      : of(static_cast<size_t>(windows)) {
    for (int64_t o = 0; o < windows; ++o) {
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t at = o * stride - pad + t * dilation;
        if (at >= 0 && at < dim) of[static_cast<size_t>(o)].push_back(at);
      }
    }
  }
};

class PoolGrad final : public Loop {
 public:
  PoolGrad(const Simd& simd, const PoolGradSpec& s) : simd_(simd) {
    planes_ = s.x[0] * s.x[1];
    const size_t axes = s.kernel.size();
    for (size_t i = 0; i < axes; ++i) {
      const int64_t dim = s.x[2 + i], windows = s.dy[2 + i];
      axes_.emplace_back(dim, windows, s.kernel[i], s.stride[i], s.dilation[i], s.pad_l[i]);
      dims_.push_back(dim);
      windows_.push_back(windows);
      in_ *= dim;
      out_ *= windows;
    }
    taps_ = s.kernel.back();
    stride_ = s.stride.back();
    dilation_ = s.dilation.back();
    pad_ = s.pad_l.back();
    pairs_ = axes == 2;
    for (size_t i = 0; i < axes; ++i) {
      pairs_ = pairs_ && s.kernel[i] == 2 && s.stride[i] == 2 && s.dilation[i] == 1 &&
               s.pad_l[i] == 0 && 2 * s.dy[2 + i] <= s.x[2 + i];
    }
    FindRows();
  }

  void Run(float* const* p) const override {
    ForRange(planes_ * in_ > kParallel, planes_, [&](int64_t k) {
      float* const dx = p[0] + k * in_;
      const float *dy = p[1] + k * out_, *x = p[2] + k * in_;
      if (pairs_) {
        Pairs(x, dy, dx);
      } else {
        Any(x, dy, dx);
      }
    });
  }

 private:
  // Rows of x under each line of windows.
  void FindRows() {
    const size_t outer = axes_.size() - 1;
    int64_t lines = 1;
    for (size_t i = 0; i < outer; ++i) lines *= windows_[i];
    for (int64_t line = 0; line < lines; ++line) {
      std::vector<int64_t> rows = {0};
      int64_t below = lines;
      for (size_t i = 0; i < outer; ++i) {
        below /= windows_[i];
        const auto& taps = axes_[i].of[static_cast<size_t>(line / below % windows_[i])];
        std::vector<int64_t> next;
        for (const int64_t r : rows) {
          for (const int64_t t : taps) next.push_back(r * dims_[i] + t);
        }
        rows = std::move(next);
      }
      for (int64_t& r : rows) r *= dims_.back();
      rows_.push_back(std::move(rows));
    }
  }

  void Pairs(const float* x, const float* dy, float* dx) const {
    const int64_t width = dims_[1], n = windows_[1];
    for (int64_t l = 0; l < windows_[0]; ++l) {
      const int64_t at = 2 * l * width;
      simd_.pool_grad_pairs(x + at, x + at + width, dy + l * n, dx + at, dx + at + width, n);
      for (int64_t i = 2 * n; i < width; ++i) dx[at + i] = dx[at + width + i] = 0;
    }
    std::fill(dx + 2 * windows_[0] * width, dx + in_, 0.0f);
  }

  // The first greatest of each of a line's windows, tap by tap: no branch waits for a comparison.
  void Any(const float* x, const float* dy, float* dx) const {
    constexpr int64_t kRoom = 256;
    std::fill(dx, dx + in_, 0.0f);
    const int64_t n = windows_.back();
    for (const std::vector<int64_t>& rows : rows_) {
      for (int64_t from = 0; from < n; from += kRoom) {
        float best[kRoom];
        int32_t where[kRoom];
        const int64_t end = std::min(n, from + kRoom);
        std::fill(best, best + (end - from), -std::numeric_limits<float>::infinity());
        std::fill(where, where + (end - from), -1);
        for (const int64_t r : rows) {
          for (int64_t t = 0; t < taps_; ++t) Tap(x, r, t, from, end, best, where);
        }
        for (int64_t w = from; w < end; ++w) {
          const int64_t at = where[w - from] >= 0 ? where[w - from] : First(rows, w);
          if (at >= 0) dx[at] += dy[w];
        }
      }
      dy += n;
    }
  }

  void Tap(const float* x, int64_t row, int64_t t, int64_t from, int64_t end, float* best,
           int32_t* where) const {
    const int64_t off = t * dilation_ - pad_;  // windows whose tap lies in x
    const int64_t first = std::max(from, off < 0 ? (-off + stride_ - 1) / stride_ : 0);
    const int64_t last =
        std::min(end, off < dims_.back() ? (dims_.back() - 1 - off) / stride_ + 1 : int64_t{0});
    for (int64_t w = first; w < last; ++w) {
      const int64_t at = row + w * stride_ + off;
      const float v = x[at], b = best[w - from];
      const bool takes = !(v <= b) && b == b;  // the first NaN is greater than all
      best[w - from] = takes ? v : b;
      where[w - from] = takes ? static_cast<int32_t>(at) : where[w - from];
    }
  }

  // Of a window in which nothing is above -infinity; -1 where it lies in the padding.
  int64_t First(const std::vector<int64_t>& rows, int64_t window) const {
    const std::vector<int64_t>& taps = axes_.back().of[static_cast<size_t>(window)];
    return rows.empty() || taps.empty() ? -1 : rows[0] + taps[0];
  }

  const Simd& simd_;
  std::vector<Taps> axes_;
  Dims dims_, windows_;
  std::vector<std::vector<int64_t>> rows_;
  int64_t taps_ = 0, stride_ = 1, dilation_ = 1, pad_ = 0;  // along the last axis
  int64_t planes_ = 0, in_ = 1, out_ = 1;
  bool pairs_ = false;
};

}  // namespace

std::unique_ptr<Loop> PoolGradLoop(const Simd& simd, const PoolGradSpec& spec) {
  return std::make_unique<PoolGrad>(simd, spec);
}

namespace {

// Pairs of pairs by vectors, other windows tap by tap.
double PoolGradNs(const PoolGradSpec& s, const Machine& m) {
  const auto windows = static_cast<double>(Product(s.dy)), x = static_cast<double>(Product(s.x));
  const auto taps = static_cast<double>(Product(s.kernel));
  const bool pairs = s.kernel == Dims{2, 2} && s.stride == Dims{2, 2};
  return (pairs ? x * ByIsa(m, 0.2, 0.35, 0.7) : x * 0.1 + windows * (2 + taps)) / m.compute;
}

class MaxPoolGradKind final : public KindOf<PoolGradSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine, {PoolGradNs(SpecOf(unit), machine)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const PoolGradSpec& spec = SpecOf(u);
    b->AddPlain(u, "pool grad", PoolGradLoop(b->simd(), spec),
                {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place});
  }
};

const MaxPoolGradKind kMaxPoolGradKind;
}  // namespace

GE_NATIVE_KINDS(max_pool_grad, &kMaxPoolGradKind)

}  // namespace ge_engines::cpu::native

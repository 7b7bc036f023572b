// The loop that repeats elements.
#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/loops.h"

namespace ge_engines::cpu::native {
namespace {

class Repeat final : public Loop {
 public:
  Repeat(const Simd& simd, const Layout& x, const Layout& result, const Dims& factor)
      : simd_(simd) {
    const Phys px(x), py(result);
    for (size_t i = 0; i < py.axes.size(); ++i) {
      const bool inner = py.axes[i].inner;
      const int64_t f = inner ? 1 : factor[static_cast<size_t>(py.axes[i].axis)];
      axes_.push_back({py.axes[i].dim, f, 0, py.axes[i].stride});
      for (const Phys::Axis& a : px.axes) {
        if (a.axis == py.axes[i].axis && a.inner == inner) axes_.back().src = a.stride;
      }
    }
    while (axes_.size() > 1 && axes_.back().factor == 1 && axes_.back().src == n_ &&
           axes_.back().dst == n_) {
      n_ *= axes_.back().dim;
      axes_.pop_back();
    }
    total_ = n_;
    for (const Axis& a : axes_) total_ *= a.dim;
  }
  void Run(float* const* p) const override {
    const Axis& a = axes_[0];
    if (axes_.size() < 2) return Level(p[1], p[0], 0);
    ForRange(total_ > kParallel, a.dim,
             [&](int64_t i) { Level(p[1] + i / a.factor * a.src, p[0] + i * a.dst, 1); });
  }

 private:
  struct Axis {
    int64_t dim, factor, src, dst;
  };
  void Level(const float* x, float* y, size_t level) const {
    const Axis& a = axes_[level];
    if (level + 1 < axes_.size()) {
      for (int64_t i = 0; i < a.dim; ++i) Level(x + i / a.factor * a.src, y + i * a.dst, level + 1);
      return;
    }
    if (n_ == 1 && a.src == 1 && a.factor > 1) {
      // As many equal rows as the factor, side by side.
      return simd_.transpose(x, 0, y, a.factor, a.factor, a.dim / a.factor);
    }
    for (int64_t i = 0; i < a.dim; i += a.factor, x += a.src) {
      for (int64_t k = 0; k < a.factor; ++k, y += a.dst) {
        if (n_ == 1) {
          *y = *x;
        } else if (n_ == 16) {
          std::memcpy(y, x, 16 * sizeof(float));  // of a known length it is no call
        } else {
          std::memcpy(y, x, static_cast<size_t>(n_) * sizeof(float));
        }
      }
    }
  }

  const Simd& simd_;
  std::vector<Axis> axes_;
  int64_t n_ = 1, total_ = 1;
};

}  // namespace

std::unique_ptr<Loop> RepeatLoop(const Simd& simd, const Layout& x, const Layout& result,
                                 const Dims& factor) {
  return std::make_unique<Repeat>(simd, x, result, factor);
}

}  // namespace ge_engines::cpu::native

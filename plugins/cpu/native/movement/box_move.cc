#include "plugins/cpu/native/movement/box_move.h"

#include <cmath>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"

namespace ge_engines::cpu::native {

namespace {

// One box: axes, outermost first, and n elements that lie together on both sides.
struct BoxNest {
  int place = 1;
  int64_t from = 0, to = 0, n = 1;
  struct Axis {
    int64_t dim, src, dst;
  };
  std::vector<Axis> axes;

  explicit BoxNest(const MoveBox& b) : place(b.place), from(b.from), to(b.to) {
    for (size_t k = 0; k < b.size.size(); ++k) {
      if (b.size[k] == 1) continue;
      const bool joins = !axes.empty() && axes.back().src == b.src[k] * b.size[k] &&
                         axes.back().dst == b.dst[k] * b.size[k];
      if (joins) {
        axes.back() = {axes.back().dim * b.size[k], b.src[k], b.dst[k]};
      } else {
        axes.push_back({b.size[k], b.src[k], b.dst[k]});
      }
    }
    if (!axes.empty() && axes.back().src == 1 && axes.back().dst == 1) {
      n = axes.back().dim;
      axes.pop_back();
    }
    if (axes.empty()) axes = {{1, 0, 0}};
    if (n == 1) PutLongestLast();
  }

  int64_t total() const {
    int64_t all = n;
    for (const Axis& a : axes) all *= a.dim;
    return all;
  }

  template <class T>
  void Run(const T* x, T* y, size_t level) const {
    if (level == axes.size()) {
      std::memcpy(y, x, static_cast<size_t>(n) * sizeof *y);
      return;
    }
    const Axis a = axes[level];
    if (level + 1 == axes.size() && n == 1) {
      for (int64_t i = 0; i < a.dim; ++i) y[i * a.dst] = x[i * a.src];
    } else {
      for (int64_t i = 0; i < a.dim; ++i) Run(x + i * a.src, y + i * a.dst, level + 1);
    }
  }

 private:
  // Single elements: the inner loop is along the longest axis of those whose steps are short, so
  // that it is no loop of two or three.
  void PutLongestLast() {
    constexpr int64_t kNear = 16;
    size_t best = axes.size() - 1;
    for (size_t k = 0; k < axes.size(); ++k) {
      const bool near = std::abs(axes[k].src) < kNear && std::abs(axes[k].dst) < kNear;
      if (near && axes[k].dim > 4 * axes[best].dim) best = k;
    }
    if (best > 0) std::swap(axes[best], axes.back());
  }
};

template <class T>
class Move final : public Loop {
 public:
  explicit Move(const std::vector<MoveBox>& boxes) {
    for (const MoveBox& b : boxes) nests_.emplace_back(b);
  }
  void Run(float* const* p) const override {
    for (const BoxNest& n : nests_) {
      const auto* x = reinterpret_cast<const T*>(p[n.place]) + n.from;
      auto* y = reinterpret_cast<T*>(p[0]) + n.to;
      if (n.axes.size() == 1 && n.n == 1) {
        n.Run(x, y, 0);
        continue;
      }
      ForRange(n.total() > kParallel, n.axes[0].dim,
               [&](int64_t i) { n.Run(x + i * n.axes[0].src, y + i * n.axes[0].dst, 1); });
    }
  }

 private:
  std::vector<BoxNest> nests_;
};

}  // namespace

std::unique_ptr<Loop> MoveLoop(const std::vector<MoveBox>& boxes, int64_t bytes) {
  if (bytes == 1) return std::make_unique<Move<uint8_t>>(boxes);
  if (bytes == 2) return std::make_unique<Move<uint16_t>>(boxes);
  if (bytes == 4) return std::make_unique<Move<uint32_t>>(boxes);
  return std::make_unique<Move<uint64_t>>(boxes);
}

}  // namespace ge_engines::cpu::native

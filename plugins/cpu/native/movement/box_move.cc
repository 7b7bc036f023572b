#include "plugins/cpu/native/movement/box_move.h"

#include <algorithm>
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
    if (n == 1 && !PutMatrixLast()) PutLongestLast();
  }

  // Whether the last two axes are a matrix that is transposed: the first of both lies together in
  // the source, the second in the result.
  bool matrix = false;

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
  // A square of a few elements of each matrix is moved in registers.
  bool PutMatrixLast() {
    constexpr int64_t kLeast = 4;
    const auto of = [&](int64_t Axis::*step) {
      return std::find_if(axes.begin(), axes.end(),
                          [=](const Axis& a) { return a.*step == 1 && a.dim >= kLeast; });
    };
    const auto column = of(&Axis::src), row = of(&Axis::dst);
    if (column == axes.end() || row == axes.end() || column == row) return false;
    const Axis last[] = {*column, *row};
    if (last[0].dst < last[1].dim || last[1].src < last[0].dim) return false;
    axes.erase(std::max(column, row));
    axes.erase(std::min(column, row));
    axes.insert(axes.end(), std::begin(last), std::end(last));
    return matrix = true;
  }
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
  Move(const Simd& simd, const std::vector<MoveBox>& boxes) : simd_(simd) {
    for (const MoveBox& b : boxes) nests_.emplace_back(b);
  }
  void Run(float* const* p) const override {
    for (const BoxNest& n : nests_) {
      const auto* x = reinterpret_cast<const T*>(p[n.place]) + n.from;
      auto* y = reinterpret_cast<T*>(p[0]) + n.to;
      if (n.matrix && sizeof(T) != 4) {
        Matrices(n, x, y);
        continue;
      }
      if (n.axes.size() == 1 && n.n == 1) {
        n.Run(x, y, 0);
        continue;
      }
      ForRange(n.total() > kParallel, n.axes[0].dim,
               [&](int64_t i) { n.Run(x + i * n.axes[0].src, y + i * n.axes[0].dst, 1); });
    }
  }

 private:
  // Blocks of all matrices, so that threads find something in one.
  void Matrices(const BoxNest& nest, const T* x, T* y) const {
    const size_t outer = nest.axes.size() - 2;
    const BoxNest::Axis column = nest.axes[outer], row = nest.axes[outer + 1];
    const int64_t down = CeilDiv(row.dim, kRows), across = CeilDiv(column.dim, kColumns);
    const int64_t total = nest.total();
    ForRange(total > kParallel, total / (row.dim * column.dim) * down * across, [&](int64_t i) {
      const int64_t r = i % down * kRows, c = i / down % across * kColumns;
      int64_t from = r * row.src + c, to = c * column.dst + r, rest = i / (down * across);
      for (size_t k = outer; k-- > 0; rest /= nest.axes[k].dim) {
        from += rest % nest.axes[k].dim * nest.axes[k].src;
        to += rest % nest.axes[k].dim * nest.axes[k].dst;
      }
      simd_.transpose_words(sizeof(T), x + from, row.src, y + to, column.dst,
                            std::min(kRows, row.dim - r), std::min(kColumns, column.dim - c));
    });
  }

  static constexpr int64_t kRows = 1024, kColumns = 64;  // of a block

  const Simd& simd_;
  std::vector<BoxNest> nests_;
};

}  // namespace

std::unique_ptr<Loop> MoveLoop(const Simd& simd, const std::vector<MoveBox>& boxes, int64_t bytes) {
  if (bytes == 1) return std::make_unique<Move<uint8_t>>(simd, boxes);
  if (bytes == 2) return std::make_unique<Move<uint16_t>>(simd, boxes);
  if (bytes == 4) return std::make_unique<Move<uint32_t>>(simd, boxes);
  return std::make_unique<Move<uint64_t>>(simd, boxes);
}

}  // namespace ge_engines::cpu::native

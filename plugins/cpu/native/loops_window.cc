// Loops that read a neighbourhood: pooling and resizing.
#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/loops.h"
#include "plugins/cpu/native/window_axis.h"

namespace ge_engines::cpu::native {

// ---- pooling -----------------------------------------------------------------------------------

namespace {

WindowAxis AxisOf(const Pool& p, size_t i) {
  return WindowAxis({p.x[i + 2], p.result[i + 2], p.window[i], p.stride[i], p.dilation[i],
                     p.pad_begin[i], p.pad_end[i], p.count_pad});
}

class Pooled final : public Loop {
 public:
  Pooled(const Simd& simd, const Pool& p) : simd_(simd), max_(p.max) {
    for (size_t i = 0; i + 2 < p.x.size(); ++i) outer_.push_back(AxisOf(p, i));
    const WindowAxis row = std::move(outer_.back());
    outer_.pop_back();
    planes_ = p.x[0] * p.x[1];
    row_ = {row.dim,   row.result > 0 ? row.start[0] : 0, p.window.back(), row.dilation, row.stride,
            row.result};
    if ((row_.taps - 1) * row_.dilation >= kPoolRoom) {
      throw std::invalid_argument("a pooled window is wider than its buffer");
    }
    for (const WindowAxis& a : outer_) {
      in_ *= a.dim;
      lines_ *= a.result;
    }
    in_ *= row.dim;
    FindRows();
    for (int64_t c : row.count) inverse_.push_back(c == 0 ? 0.0f : 1.0f / static_cast<float>(c));
    even_ = row.count.empty() ||
            std::count(row.count.begin(), row.count.end(), row.count[0]) == row.result;
  }

  void Run(float* const* p) const override {
    const int64_t out = lines_ * row_.n;
    const Reduce op = max_ ? Reduce::kMax : Reduce::kSum;
    ForRange(planes_ * out * row_.taps > kParallel, planes_, [&](int64_t k) {
      float* y = p[0] + k * out;
      simd_.pool_plane(op, p[1] + k * in_, begins_.data(), first_.data(), lines_, row_, y);
      for (int64_t l = 0; l < lines_ && !max_; ++l) Mean(y + l * row_.n, counts_[Index(l)]);
    });
  }

 private:
  static constexpr size_t kMaxOuter = 5;
  static size_t Index(int64_t i) { return static_cast<size_t>(i); }

  // Which rows of x each line of the result is of, and how many elements of the outer axes its mean
  // is over.
  void FindRows() {
    for (int64_t line = 0; line < lines_; ++line) {
      int64_t at[kMaxOuter] = {};
      int64_t count = 1, r = line;
      for (size_t i = outer_.size(); i-- > 0; r /= outer_[i].result) {
        at[i] = r % outer_[i].result;
        count *= outer_[i].count[Index(at[i])];
      }
      first_.push_back(static_cast<int64_t>(begins_.size()));
      counts_.push_back(count);
      AddRows(0, at, 0);
    }
    first_.push_back(static_cast<int64_t>(begins_.size()));
  }

  // The rows of x under the window, over the outer axes from `level` on.
  void AddRows(int64_t begin, const int64_t* at, size_t level) {
    if (level == outer_.size()) return begins_.push_back(begin);
    const WindowAxis& a = outer_[level];
    const size_t o = Index(at[level]);
    int64_t below = row_.dim;
    for (size_t i = level + 1; i < outer_.size(); ++i) below *= outer_[i].dim;
    for (int64_t t = a.first[o]; t < a.end[o]; ++t) {
      AddRows(begin + (a.start[o] + t * a.dilation) * below, at, level + 1);
    }
  }

  void Mean(float* y, int64_t count) const {
    const float scale = count == 0 ? 0.0f : 1.0f / static_cast<float>(count);
    if (even_) {
      simd_.unary(Fn::kLinear, scale * inverse_[0], 0.0f, y, y, row_.n);
    } else {
      simd_.unary(Fn::kLinear, scale, 0.0f, y, y, row_.n);
      simd_.binary(Fn::kMul, y, inverse_.data(), y, row_.n);
    }
  }

  const Simd& simd_;
  bool max_;
  std::vector<WindowAxis> outer_;
  PoolSpan row_;  // the last axis
  int64_t planes_ = 0, in_ = 1, lines_ = 1;
  std::vector<float> inverse_;
  bool even_ = true;
  std::vector<int64_t> begins_, first_, counts_;  // see FindRows
};

}  // namespace

std::unique_ptr<Loop> PoolLoop(const Simd& simd, const Pool& pool) {
  return std::make_unique<Pooled>(simd, pool);
}

// ---- resizing ----------------------------------------------------------------------------------

namespace {

class Resized final : public Loop {
 public:
  Resized(const Simd& simd, const Dims& x, std::vector<ResizeAxis> axes) : simd_(simd) {
    Check(x, axes);
    // Unchanged axes at the end are one row; without any, rows lie along the last changed axis.
    size_t n = axes.size();
    while (n > 0 && axes[n - 1].from.empty()) row_in_ *= x[--n];
    row_out_ = row_in_;
    along_ = row_in_ == 1 && n > 0;
    if (along_) {
      along_axis_ = std::move(axes[--n]);
      row_in_ = x[n];
      row_out_ = static_cast<int64_t>(along_axis_.from.size());
    }
    int64_t stride = row_in_;
    std::vector<Axis> outer;
    for (size_t i = n; i-- > 0; stride *= x[i]) {
      const int64_t result =
          axes[i].from.empty() ? x[i] : static_cast<int64_t>(axes[i].from.size());
      rows_ *= result;
      outer.push_back({result, stride, std::move(axes[i])});
    }
    outer_.assign(std::make_move_iterator(outer.rbegin()), std::make_move_iterator(outer.rend()));
    Cut();
  }

  void Run(float* const* p) const override {
    ForRange(rows_ * row_out_ > kParallel, rows_, [&](int64_t r) {
      Pick pick;
      pick.x = p[1];
      int64_t rest = r;
      for (size_t i = outer_.size(); i-- > 0; rest /= outer_[i].result) {
        pick.Take(outer_[i], static_cast<size_t>(rest % outer_[i].result));
      }
      for (const Piece& piece : pieces_) One(pick, piece, p[0] + r * row_out_);
    });
  }

 private:
  static constexpr size_t kMaxLinear = 4;
  struct Axis {
    int64_t result, stride;
    ResizeAxis of;
  };
  // Results [at, at + n) of a row come from [from, from + width) of x's row.
  struct Piece {
    int64_t at, n, from, width;
  };
  // Which rows of x make one row of the result.
  struct Pick {
    const float* x = nullptr;  // the first of both rows along all axes
    struct {
      int64_t step;  // to the second row
      float t;
    } mix[kMaxLinear];
    size_t n = 0;

    void Take(const Axis& a, size_t i) {
      const int64_t k = a.of.from.empty() ? static_cast<int64_t>(i) : a.of.from[i];
      x += k * a.stride;
      if (a.of.next.empty() || a.of.next[i] == k || a.of.t[i] == 0.0f) return;
      mix[n++] = {(a.of.next[i] - k) * a.stride, a.of.t[i]};
    }
  };

  static void Check(const Dims& x, const std::vector<ResizeAxis>& axes) {
    size_t linear = 0;
    if (axes.size() != x.size()) throw std::invalid_argument("resize: one entry an axis is needed");
    for (size_t i = 0; i < axes.size(); ++i) {
      const ResizeAxis& a = axes[i];
      linear += a.next.empty() ? 0 : 1;
      if (!a.next.empty() && (a.next.size() != a.from.size() || a.t.size() != a.from.size())) {
        throw std::invalid_argument("resize: from, next and t differ in length");
      }
      for (const std::vector<int32_t>* v : {&a.from, &a.next}) {
        for (int32_t k : *v) {
          if (k < 0 || k >= x[i]) {
            throw std::invalid_argument("resize: index " + std::to_string(k) + " is outside axis " +
                                        std::to_string(i) + " of " + std::to_string(x[i]));
          }
        }
      }
    }
    if (linear > kMaxLinear) throw std::invalid_argument("resize: more than 4 linear axes");
  }

  // Pieces whose sources fit in a tile; indices along the row are made relative to their piece.
  void Cut() {
    if (!along_) {
      for (int64_t at = 0; at < row_out_; at += kTile) {
        const int64_t n = std::min(kTile, row_out_ - at);
        pieces_.push_back({at, n, at, n});
      }
      return;
    }
    ResizeAxis& a = along_axis_;
    for (int64_t at = 0; at < row_out_;) {
      int64_t low = row_in_, high = -1, n = 0;
      for (; at + n < row_out_; ++n) {
        const size_t i = static_cast<size_t>(at + n);
        const int64_t p = a.from[i], q = a.next.empty() ? p : a.next[i];
        const int64_t l = std::min({low, p, q}), h = std::max({high, p, q});
        if (n > 0 && h - l >= kTile) break;
        low = l;
        high = h;
      }
      for (int64_t i = at; i < at + n; ++i) {
        a.from[static_cast<size_t>(i)] -= static_cast<int32_t>(low);
        if (!a.next.empty()) a.next[static_cast<size_t>(i)] -= static_cast<int32_t>(low);
      }
      pieces_.push_back({at, n, low, high - low + 1});
      at += n;
    }
    if (!a.next.empty() || pieces_.size() != 1 || a.from.back() == 0) return;
    // Nearest by a whole factor is a repetition.
    const int64_t f = row_out_ / row_in_;
    bool whole = row_out_ == f * row_in_ && f > 1;
    for (int64_t i = 0; i < row_out_ && whole; ++i) whole = a.from[static_cast<size_t>(i)] == i / f;
    if (whole) factor_ = f;
  }

  void One(const Pick& pick, const Piece& piece, float* y) const {
    if (piece.width > kTile) return Wide(pick, piece, y);
    alignas(64) float room[2 * kMaxLinear + 1][kTile];
    float* mixed = along_ ? room[2 * kMaxLinear] : y + piece.at;
    const float* row = Mix(pick, piece, 0, pick.x + piece.from, room, mixed);
    if (!along_) {
      if (row != mixed) std::memcpy(mixed, row, static_cast<size_t>(piece.n) * sizeof(float));
      return;
    }
    const ResizeAxis& a = along_axis_;
    const int32_t* from = a.from.data() + piece.at;
    if (!a.next.empty()) {
      simd_.gather_lerp(row, piece.width, from, a.next.data() + piece.at, a.t.data() + piece.at,
                        y + piece.at, piece.n);
    } else if (factor_ > 1) {
      simd_.transpose(row, 0, y, factor_, factor_, row_in_);
    } else {
      for (int64_t i = 0; i < piece.n; ++i) y[piece.at + i] = row[from[i]];
    }
  }
  // One result whose two sources lie further apart than a tile: of neighbours that never happens,
  // but what the caller gives decides.
  void Wide(const Pick& pick, const Piece& piece, float* y) const {
    const size_t i = static_cast<size_t>(piece.at);
    alignas(64) float room[2 * kMaxLinear + 1][kTile];
    float ends[2];
    for (int k = 0; k < 2; ++k) {
      const int64_t at = piece.from + (k == 0 ? along_axis_.from[i] : along_axis_.next[i]);
      ends[k] = *Mix(pick, {0, 1, at, 1}, 0, pick.x + at, room, room[2 * kMaxLinear]);
    }
    y[piece.at] = (1 - along_axis_.t[i]) * ends[0] + along_axis_.t[i] * ends[1];
  }

  // The mean of the rows that `pick` names from axis `level` on, in y or in x itself.
  const float* Mix(const Pick& pick, const Piece& piece, size_t level, const float* x,
                   float (*room)[kTile], float* y) const {
    if (level == pick.n) return x;
    const float* p = Mix(pick, piece, level + 1, x, room, room[2 * level]);
    const float* q =
        Mix(pick, piece, level + 1, x + pick.mix[level].step, room, room[2 * level + 1]);
    simd_.lerp_rows(p, q, pick.mix[level].t, y, piece.width);
    return y;
  }

  const Simd& simd_;
  std::vector<Axis> outer_;
  ResizeAxis along_axis_;
  bool along_ = false;
  int64_t row_in_ = 1, row_out_ = 1, rows_ = 1, factor_ = 1;
  std::vector<Piece> pieces_;
};

}  // namespace

std::unique_ptr<Loop> ResizeLoop(const Simd& simd, const Dims& x, std::vector<ResizeAxis> axes) {
  return std::make_unique<Resized>(simd, x, std::move(axes));
}

}  // namespace ge_engines::cpu::native

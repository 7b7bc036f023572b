#include "plugins/cpu/kit/loops.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_cpu {

Phys::Phys(const Layout& l) {
  for (int i = 0; i < l.rank; ++i) {
    const bool blocked = l.cblock > 0 && i == 1;
    axes.push_back({blocked ? l.blocks() : l.dim[i], l.stride[i], i, false});
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& x, const Axis& y) { return x.stride > y.stride; });
  if (l.cblock > 0) axes.push_back({l.cblock, 1, 1, true});
}

std::vector<int64_t> StridesAlong(const Phys& target, const Layout& operand) {
  std::vector<int64_t> s;
  for (const Phys::Axis& a : target.axes) {
    const bool repeated = operand.dim[a.axis] == 1;
    s.push_back(repeated ? 0 : a.inner ? 1 : operand.stride[a.axis]);
  }
  return s;
}

namespace {

class Pointwise final : public Loop {
 public:
  Pointwise(const Simd& simd, const Layout& result, const Layout& x,
            const std::vector<Layout>& operands, std::vector<PointwiseOp> ops)
      : simd_(simd), ops_(std::move(ops)), padding_(result) {
    const Phys phys(result);
    std::vector<std::vector<int64_t>> s = {StridesAlong(phys, x)};
    for (const Layout& o : operands) s.push_back(StridesAlong(phys, o));
    Collapse(phys, s);
    const int64_t n = dim_.back();
    inner_ = n;
    rows_ = 1;
    if (n >= 256 || dim_.size() == 1) {
      tile_ = std::min(n, kTile);
    } else {
      rows_ = std::clamp<int64_t>(kTile / n, 1, dim_[dim_.size() - 2]);
      tile_ = n;
    }
    total_ = 1;
    for (int64_t d : dim_) total_ *= d;
    flat_ = dim_.size() == 1 && n <= kTile && !result.padded() && stride_[0][0] == 1;
    for (const auto& v : stride_) flat_ = flat_ && (v[0] == 0 || v[0] == 1);
  }

  void Run(float* const* p) const override {
    if (flat_) return RunFlat(p);
    const size_t last = dim_.size() - 1;
    const bool by_rows = rows_ > 1;
    const int64_t chunks =
        by_rows ? (dim_[last - 1] + rows_ - 1) / rows_ : (inner_ + tile_ - 1) / tile_;
    int64_t outer = chunks;
    for (size_t i = 0; i + (by_rows ? 2 : 1) <= last; ++i) outer *= dim_[i];
    ForRange(total_ > kParallel, outer, [&](int64_t t) { RunTile(p, t / chunks, t % chunks); });
    padding_.Zero(p[0]);
  }

 private:
  // One tile, and every tensor in place or one element: what small operators consist of.
  void RunFlat(float* const* p) const {
    const int64_t n = dim_[0];
    const float* now = p[1];
    for (const PointwiseOp& op : ops_) {
      if (op.operand < 0) {
        simd_.unary(op.fn, op.a, op.b, now, p[0], n);
      } else {
        const size_t k = static_cast<size_t>(op.operand) + 1;
        if (stride_[k][0] == 0) {
          simd_.binary_scalar(op.fn, now, *p[k + 1], p[0], n);
        } else {
          simd_.binary(op.fn, now, p[k + 1], p[0], n);
        }
      }
      now = p[0];
    }
    if (now != p[0]) std::memcpy(p[0], now, static_cast<size_t>(n) * sizeof(float));
  }

  // Drops axes of one element and merges neighbours that every tensor walks alike.
  void Collapse(const Phys& phys, const std::vector<std::vector<int64_t>>& s) {
    stride_.resize(s.size());
    for (size_t i = 0; i < phys.axes.size(); ++i) {
      const int64_t d = phys.axes[i].dim;
      if (d == 1) continue;
      bool merge = !dim_.empty();
      for (size_t k = 0; k < s.size() && merge; ++k) merge = stride_[k].back() == s[k][i] * d;
      if (merge) {
        dim_.back() *= d;
        for (size_t k = 0; k < s.size(); ++k) stride_[k].back() = s[k][i];
      } else {
        dim_.push_back(d);
        for (size_t k = 0; k < s.size(); ++k) stride_[k].push_back(s[k][i]);
      }
    }
    if (dim_.empty()) {
      dim_.push_back(1);
      for (auto& v : stride_) v.push_back(1);
    }
  }

  // Elements [0, m) of tensor k's tile: in place, as one repeated scalar, or gathered into `room`.
  struct Source {
    const float* p;
    bool scalar;
  };
  Source Load(size_t k, const float* base, int64_t rows, int64_t n, float* room) const {
    const size_t last = dim_.size() - 1;
    const int64_t s1 = stride_[k][last], s2 = rows > 1 ? stride_[k][last - 1] : 0;
    if (s1 == 1 && (rows == 1 || s2 == n)) return {base, false};
    if (s1 == 0 && s2 == 0) return {base, true};
    for (int64_t r = 0; r < rows; ++r) {
      const float* q = base + r * s2;
      float* w = room + r * n;
      if (s1 == 1) {
        std::memcpy(w, q, static_cast<size_t>(n) * sizeof(float));
      } else {
        for (int64_t i = 0; i < n; ++i) w[i] = q[i * s1];
      }
    }
    return {room, false};
  }

  void RunTile(float* const* p, int64_t outer, int64_t chunk) const {
    const size_t last = dim_.size() - 1;
    const bool by_rows = rows_ > 1;
    const size_t n_outer = by_rows ? last - 1 : last;
    int64_t index[2 * kMaxRank];
    for (size_t i = n_outer; i-- > 0;) {
      index[i] = outer % dim_[i];
      outer /= dim_[i];
    }
    const int64_t begin = chunk * (by_rows ? rows_ : tile_);
    const int64_t rows = by_rows ? std::min(rows_, dim_[last - 1] - begin) : 1;
    const int64_t n = by_rows ? inner_ : std::min(tile_, inner_ - begin);
    auto address = [&](size_t k, const float* base) {
      for (size_t i = 0; i < n_outer; ++i) base += index[i] * stride_[k][i];
      return base + begin * stride_[k][by_rows ? last - 1 : last];
    };
    int64_t at = 0;  // in the gapless result
    for (size_t i = 0; i < n_outer; ++i) at = at * dim_[i] + index[i];
    at = by_rows ? (at * dim_[last - 1] + begin) * inner_ : at * inner_ + begin;
    float* y = p[0] + at;
    const int64_t m = rows * n;
    alignas(64) float room[kTile];
    Source x = Load(0, address(0, p[1]), rows, n, y);
    if (x.scalar) {
      std::fill(y, y + m, *x.p);
      x.p = y;
    }
    const float* now = x.p;
    for (const PointwiseOp& op : ops_) {
      if (op.operand < 0) {
        simd_.unary(op.fn, op.a, op.b, now, y, m);
      } else {
        const size_t k = static_cast<size_t>(op.operand) + 1;
        const Source z = Load(k, address(k, p[k + 1]), rows, n, room);
        if (z.scalar) {
          simd_.binary_scalar(op.fn, now, *z.p, y, m);
        } else {
          simd_.binary(op.fn, now, z.p, y, m);
        }
      }
      now = y;
    }
    if (now != y) std::memcpy(y, now, static_cast<size_t>(m) * sizeof(float));
  }

  const Simd& simd_;
  std::vector<PointwiseOp> ops_;
  Padding padding_;
  std::vector<int64_t> dim_;
  std::vector<std::vector<int64_t>> stride_;  // by tensor: x, operands
  int64_t inner_ = 1, rows_ = 1, tile_ = 1, total_ = 1;
  bool flat_ = false;
};

}  // namespace

std::unique_ptr<Loop> PointwiseLoop(const Simd& simd, const Layout& result, const Layout& x,
                                    const std::vector<Layout>& operands,
                                    std::vector<PointwiseOp> ops) {
  return std::make_unique<Pointwise>(simd, result, x, operands, std::move(ops));
}

}  // namespace ge_cpu

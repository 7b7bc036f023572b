#include "plugins/cpu/kit/loops.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_engines::cpu {

Phys::Phys(const Layout& layout) {
  for (int i = 0; i < layout.rank; ++i) {
    const bool blocked = layout.cblock > 0 && i == 1;
    axes.push_back({blocked ? layout.blocks() : layout.dim[i], layout.stride[i], i, false});
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& x, const Axis& y) { return x.stride > y.stride; });
  if (layout.cblock > 0) axes.push_back({layout.cblock, 1, 1, true});
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
    split_ = dim_.size() - 1;
    step_ = std::min(n, kTile);
    // A tile has all of up to two short axes behind the one that is cut.
    while (split_ > 0 && dim_.size() - split_ <= 2 && inner_ * dim_[split_] < kShortRow) {
      inner_ *= dim_[split_--];
      step_ = std::clamp<int64_t>(kTile / inner_, 1, dim_[split_]);
    }
    total_ = 1;
    for (int64_t d : dim_) total_ *= d;
    flat_ = dim_.size() == 1 && n <= kTile && !result.padded() && stride_[0][0] == 1;
    for (const auto& v : stride_) flat_ = flat_ && (v[0] == 0 || v[0] == 1);
  }

  void Run(float* const* p) const override {
    if (flat_) return RunFlat(p);
    const int64_t chunks = (dim_[split_] + step_ - 1) / step_;
    int64_t outer = chunks;
    for (size_t i = 0; i < split_; ++i) outer *= dim_[i];
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
  struct Axis {
    int64_t dim, stride;
  };
  Source Load(size_t k, const float* base, int64_t count, float* room) const {
    // The tile's axes, innermost first, merged as this tensor walks them.
    Axis axes[3];
    int n = 0;
    for (size_t i = dim_.size(); i-- > split_;) {
      const Axis a = {i == split_ ? count : dim_[i], stride_[k][i]};
      if (n > 0 && a.stride == axes[n - 1].stride * axes[n - 1].dim) {
        axes[n - 1].dim *= a.dim;
      } else {
        axes[n++] = a;
      }
    }
    if (n == 1 && axes[0].stride <= 1) return {base, axes[0].stride == 0};
    Gather(axes, n - 1, base, room);
    return {room, false};
  }

  // Axis `level` and those inside of it; gives how many elements it wrote.
  static int64_t Gather(const Axis* axes, int level, const float* q, float* w) {
    const Axis a = axes[level];
    if (level == 0) {
      GatherRow(a, q, w);
      return a.dim;
    }
    if (a.stride == 0) {  // copies of copies
      const int64_t once = Gather(axes, level - 1, q, w), all = once * a.dim;
      for (int64_t have = once; have < all;) {
        const int64_t more = std::min(have, all - have);
        std::memcpy(w + have, w, static_cast<size_t>(more) * sizeof(float));
        have += more;
      }
      return all;
    }
    if (level == 1 && axes[0].dim <= 4) return GatherShort(axes, q, w);
    int64_t at = 0;
    for (int64_t r = 0; r < a.dim; ++r, q += a.stride) at += Gather(axes, level - 1, q, w + at);
    return at;
  }
  static void GatherRow(const Axis& a, const float* q, float* w) {
    if (a.stride == 1) {
      std::memcpy(w, q, static_cast<size_t>(a.dim) * sizeof(float));
    } else if (a.stride == 0) {
      std::fill(w, w + a.dim, *q);
    } else {
      for (int64_t i = 0; i < a.dim; ++i) w[i] = q[i * a.stride];
    }
  }
  template <int kWide>
  static void GatherRows(const Axis* axes, const float* q, float* w) {
    const int64_t step = axes[0].stride;
    for (int64_t r = 0; r < axes[1].dim; ++r, q += axes[1].stride, w += kWide) {
      for (int i = 0; i < kWide; ++i) w[i] = q[i * step];
    }
  }
  // Rows of at most four elements: none is worth a loop.
  static int64_t GatherShort(const Axis* axes, const float* q, float* w) {
    switch (axes[0].dim) {
      case 1:
        GatherRows<1>(axes, q, w);
        break;
      case 2:
        GatherRows<2>(axes, q, w);
        break;
      case 3:
        GatherRows<3>(axes, q, w);
        break;
      default:
        GatherRows<4>(axes, q, w);
    }
    return axes[0].dim * axes[1].dim;
  }

  void RunTile(float* const* p, int64_t outer, int64_t chunk) const {
    int64_t index[2 * kMaxRank];
    for (size_t i = split_; i-- > 0;) {
      index[i] = outer % dim_[i];
      outer /= dim_[i];
    }
    const int64_t begin = chunk * step_, count = std::min(step_, dim_[split_] - begin);
    auto address = [&](size_t k, const float* base) {
      for (size_t i = 0; i < split_; ++i) base += index[i] * stride_[k][i];
      return base + begin * stride_[k][split_];
    };
    int64_t at = 0;  // in the gapless result
    for (size_t i = 0; i < split_; ++i) at = at * dim_[i] + index[i];
    at = (at * dim_[split_] + begin) * inner_;
    float* y = p[0] + at;
    const int64_t m = count * inner_;
    alignas(64) float room[kTile];
    Source x = Load(0, address(0, p[1]), count, y);
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
        const Source z = Load(k, address(k, p[k + 1]), count, room);
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
  // A tile: `step_` of axis `split_` and all of the axes behind it, which have inner_ elements.
  size_t split_ = 0;
  int64_t inner_ = 1, step_ = 1, total_ = 1;
  bool flat_ = false;
};

}  // namespace

std::unique_ptr<Loop> PointwiseLoop(const Simd& simd, const Layout& result, const Layout& x,
                                    const std::vector<Layout>& operands,
                                    std::vector<PointwiseOp> ops) {
  return std::make_unique<Pointwise>(simd, result, x, operands, std::move(ops));
}

}  // namespace ge_engines::cpu

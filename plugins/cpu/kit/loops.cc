#include "plugins/cpu/kit/loops.h"

#include <algorithm>
#include <cstring>
#include <limits>

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

// ---- pointwise ---------------------------------------------------------------------------------

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

// ---- reductions --------------------------------------------------------------------------------

namespace {

class ReduceAxes final : public Loop {
 public:
  ReduceAxes(const Simd& simd, Reduce op, const Layout& x, const Dims& axes, const Layout& result)
      : simd_(simd), op_(op), padding_(result) {
    const Phys phys(x);
    for (const Phys::Axis& a : phys.axes) {
      if (a.dim == 1) continue;
      const bool reduced = std::find(axes.begin(), axes.end(), a.axis) != axes.end();
      const int64_t out = reduced ? 0 : a.inner ? 1 : result.stride[a.axis];
      if (reduced) count_ *= a.dim;
      total_ *= a.dim;
      if (!all_.empty() && all_.back().reduced == reduced &&
          all_.back().stride == a.stride * a.dim && (reduced || all_.back().out == out * a.dim)) {
        all_.back() = {all_.back().dim * a.dim, a.stride, out, reduced};
      } else {
        all_.push_back({a.dim, a.stride, out, reduced});
      }
    }
    if (all_.empty()) all_.push_back({1, 1, 1, false});
    inner_ = all_.back();
    all_.pop_back();
    for (const Axis& a : all_) (a.reduced ? reduced_ : kept_).push_back(a);
    // The kernel of a kept inner axis walks one reduced axis itself.
    if (!inner_.reduced && !reduced_.empty()) {
      rows_ = reduced_.back();
      reduced_.pop_back();
    }
    for (const Axis& a : kept_) n_kept_ *= a.dim;
    for (const Axis& a : reduced_) n_reduced_ *= a.dim;
  }

  void Run(float* const* p) const override {
    ForRange(total_ > kParallel, n_kept_, [&](int64_t k) {
      int64_t in = 0, out = 0, rest = k;
      for (size_t i = kept_.size(); i-- > 0;) {
        in += rest % kept_[i].dim * kept_[i].stride;
        out += rest % kept_[i].dim * kept_[i].out;
        rest /= kept_[i].dim;
      }
      One(p[1] + in, p[0] + out);
    });
    padding_.Zero(p[0]);
  }

 private:
  struct Axis {
    int64_t dim = 1, stride = 0, out = 0;
    bool reduced = false;
  };

  void One(const float* x, float* y) const {
    const int64_t n = inner_.reduced ? 1 : inner_.dim;
    const float scale = 1.0f / static_cast<float>(count_);
    if (inner_.reduced && reduced_.empty() && inner_.dim > 0) {
      const float v = simd_.reduce(op_, x, inner_.dim);
      *y = op_ == Reduce::kMean ? v * scale : v;
      return;
    }
    const float start = op_ == Reduce::kMax   ? -std::numeric_limits<float>::infinity()
                        : op_ == Reduce::kMin ? std::numeric_limits<float>::infinity()
                                              : 0.0f;
    std::fill(y, y + n, start);
    for (int64_t k = 0; k < n_reduced_; ++k) {
      int64_t in = 0, rest = k;
      for (size_t i = reduced_.size(); i-- > 0;) {
        in += rest % reduced_[i].dim * reduced_[i].stride;
        rest /= reduced_[i].dim;
      }
      if (inner_.reduced) {
        const float v = simd_.reduce(op_, x + in, inner_.dim);
        simd_.reduce_rows(op_, &v, 1, 1, y, 1);
      } else {
        simd_.reduce_rows(op_, x + in, rows_.dim, rows_.stride, y, n);
      }
    }
    if (op_ == Reduce::kMean) simd_.unary(Fn::kLinear, scale, 0.0f, y, y, n);
  }

  const Simd& simd_;
  Reduce op_;
  Padding padding_;
  std::vector<Axis> all_, kept_, reduced_;
  Axis inner_, rows_;
  int64_t n_kept_ = 1, n_reduced_ = 1, count_ = 1, total_ = 1;
};

class SoftmaxRows final : public Loop {
 public:
  SoftmaxRows(const Simd& simd, int64_t outer, int64_t n, int64_t inner)
      : simd_(simd), outer_(outer), n_(n), inner_(inner) {}

  void Run(float* const* p) const override {
    if (inner_ == 1) {
      ForRange(outer_ * n_ > kParallel, outer_,
               [&](int64_t r) { simd_.softmax(p[1] + r * n_, p[0] + r * n_, n_); });
      return;
    }
    const int64_t strips = (inner_ + kSoftmaxColumns - 1) / kSoftmaxColumns;
    ForRange(outer_ * n_ * inner_ > kParallel, outer_ * strips, [&](int64_t t) {
      const int64_t at = t / strips * n_ * inner_ + t % strips * kSoftmaxColumns;
      Strip(p[1] + at, p[0] + at, std::min(kSoftmaxColumns, inner_ - t % strips * kSoftmaxColumns));
    });
  }

 private:
  // m <= kSoftmaxColumns columns at once.
  void Strip(const float* x, float* y, int64_t m) const {
    alignas(64) float top[kSoftmaxColumns], sum[kSoftmaxColumns] = {};
    std::memcpy(top, x, static_cast<size_t>(m) * sizeof(float));
    simd_.reduce_rows(Reduce::kMax, x, n_, inner_, top, m);
    for (int64_t k = 0; k < n_; ++k) {
      simd_.binary(Fn::kSub, x + k * inner_, top, y + k * inner_, m);
      simd_.unary(Fn::kExp, 0, 0, y + k * inner_, y + k * inner_, m);
    }
    simd_.reduce_rows(Reduce::kSum, y, n_, inner_, sum, m);
    simd_.unary(Fn::kReciprocal, 0, 0, sum, sum, m);
    for (int64_t k = 0; k < n_; ++k) {
      simd_.binary(Fn::kMul, y + k * inner_, sum, y + k * inner_, m);
    }
  }

  const Simd& simd_;
  int64_t outer_, n_, inner_;
};

class LayerNormRows final : public Loop {
 public:
  LayerNormRows(const Simd& simd, int64_t rows, int64_t n, bool gamma, bool beta, float eps)
      : simd_(simd), rows_(rows), n_(n), gamma_(gamma), beta_(beta), eps_(eps) {}

  void Run(float* const* p) const override {
    const float* gamma = gamma_ ? p[2] : nullptr;
    const float* beta = beta_ ? p[3] : nullptr;
    ForRange(rows_ * n_ > kParallel, rows_, [&](int64_t r) {
      simd_.layer_norm(p[1] + r * n_, gamma, beta, eps_, p[0] + r * n_, n_);
    });
  }

 private:
  const Simd& simd_;
  int64_t rows_, n_;
  bool gamma_, beta_;
  float eps_;
};

}  // namespace

std::unique_ptr<Loop> ReduceLoop(const Simd& simd, Reduce op, const Layout& x, const Dims& axes,
                                 const Layout& result) {
  return std::make_unique<ReduceAxes>(simd, op, x, axes, result);
}
std::unique_ptr<Loop> SoftmaxLoop(const Simd& simd, int64_t outer, int64_t n, int64_t inner) {
  return std::make_unique<SoftmaxRows>(simd, outer, n, inner);
}
std::unique_ptr<Loop> LayerNormLoop(const Simd& simd, int64_t rows, int64_t n, bool gamma,
                                    bool beta, float eps) {
  return std::make_unique<LayerNormRows>(simd, rows, n, gamma, beta, eps);
}

}  // namespace ge_cpu

#include "plugins/cpu/native/reduce/pool.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/channel_planes.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/reduce/channel_pool.h"
#include "plugins/cpu/native/window_axis.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::native {

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

namespace {

// Per pooled row: what a row costs at all, its rows of x folded by vectors, its windows by vectors
// (five pools, two of them lenet's, AVX-512: 9 to 33 ns a row, within a quarter).
double PoolNs(const Unit& u, const PoolSpec& pool, const Machine& m) {
  const double lanes = ByIsa(m, 16, 8, 4), n = static_cast<double>(u.dims.back());
  const double rows = static_cast<double>(Product(u.dims)) / std::max(1.0, n);
  const double taps = static_cast<double>(pool.kernel.back());
  const double high = static_cast<double>(Product(pool.kernel)) / taps;
  const double wide = std::ceil(static_cast<double>(pool.src.back()) / lanes);
  // Other strides pick their elements one by one.
  const double picks = pool.stride.back() > 2 ? n : std::ceil(n / lanes);
  return rows * (5 + wide * high * 0.6 + picks * taps) / m.compute;
}

class PoolKind final : public KindOf<PoolSpec> {
 public:
  bool Takes(const Unit& u, const Parser&, const Machine&, Why* why) const override {
    // A loop lists the rows of x under each row of the result, and holds a window's in a buffer.
    constexpr double kMostRows = 1 << 22;
    const PoolSpec& pool = SpecOf(u);
    if (pool.kernel.back() > kPoolRoom) {
      return why->Say(GE_WHY_SHAPE, "a window wider than " + std::to_string(kPoolRoom));
    }
    const double planes = static_cast<double>(u.dims[0] * u.dims[1] * u.dims.back());
    const double rows = static_cast<double>(Product(u.dims)) / std::max(1.0, planes) *
                        static_cast<double>(Product(pool.kernel) / pool.kernel.back());
    return rows <= kMostRows || why->Say(GE_WHY_RESOURCE, "its windows have too many rows");
  }
  bool KeepsLayout(const Unit& u) const override { return Product(SpecOf(u).kernel) <= kMostTaps; }
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine, {PoolNs(unit, SpecOf(unit), machine)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const PoolSpec& spec = SpecOf(u);
    Pool pool;
    pool.max = spec.max;
    pool.count_pad = spec.count_pad;
    pool.x = spec.src;
    pool.result = spec.dst;
    pool.window = spec.kernel;
    pool.stride = spec.stride;
    pool.dilation.assign(spec.kernel.size(), 1);
    pool.pad_begin = spec.pad_l;
    for (int64_t r : spec.pad_r) pool.pad_end.push_back(std::max<int64_t>(r, 0));
    const Rep x = b->Main(u.in[0]);
    if (LayoutTag::Of(x.layout).plain() || Product(spec.kernel) > kMostTaps) {
      return b->AddPlain(u, "pool", PoolLoop(b->simd(), pool), {b->GetDense(u.in[0]).place});
    }
    const Layout target = Layout::Like(u.dims, x.layout);
    b->AddTiled(u, 0, target, "channel pool " + b->Sizes(u.dims),
                ChannelPoolLoop(b->simd(), pool, x.layout, target), {x.place});
  }
};

const PoolKind kPoolKind;
}  // namespace

GE_NATIVE_KINDS(pool, &kPoolKind)

}  // namespace ge_engines::cpu::native

#include "plugins/cpu/native/resample/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

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

namespace {

class Weighed final : public Loop {
 public:
  Weighed(const Simd& simd, WeighPlan plan) : simd_(simd), plan_(std::move(plan)) {
    half_ = static_cast<int64_t>(plan_.room_floats() / 2);
  }
  void Run(float* const* p) const override {
    const float* x = p[1];
    for (size_t i = 0; i < plan_.passes.size(); ++i) {
      const bool last = i + 1 == plan_.passes.size();
      float* y = last ? p[0] : p[2] + (i % 2 == 0 ? 0 : half_);
      Pass(plan_.passes[i], x, y);
      x = y;
    }
  }

 private:
  void Pass(const WeighPlan::Pass& s, const float* x, float* y) const {
    const auto n = static_cast<int64_t>(s.axis.from.size());
    if (s.inner == 1) {
      return ForRange(s.outer * n > kParallel, s.outer,
                      [&](int64_t o) { Along(s.axis, x + o * s.dim, y + o * n, n); });
    }
    ForRange(s.outer * n * s.inner > kParallel, s.outer * n, [&](int64_t r) {
      const auto i = static_cast<size_t>(r % n);
      const int32_t first = s.axis.first[i], taps = s.axis.first[i + 1] - first;
      const float* from = x + (r / n * s.dim + s.axis.from[i]) * s.inner;
      simd_.thin_product(s.axis.w.data() + first, taps, from, s.inner, y + r * s.inner, s.inner, 1,
                         s.inner, taps);
    });
  }
  static void Along(const WeighedAxis& a, const float* x, float* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      const float *w = a.w.data() + a.first[k], *from = x + a.from[k];
      const int32_t taps = a.first[k + 1] - a.first[k];
      if (taps == 4) {
        y[i] = (w[0] * from[0] + w[1] * from[1]) + (w[2] * from[2] + w[3] * from[3]);
        continue;
      }
      float sum = 0;
      for (int32_t t = 0; t < taps; ++t) sum += w[t] * from[t];
      y[i] = sum;
    }
  }

  const Simd& simd_;
  const WeighPlan plan_;
  int64_t half_ = 0;
};

}  // namespace

WeighPlan::WeighPlan(const Dims& x, const WeighSpec& spec) {
  Dims d = x;
  for (size_t k = d.size(); k-- > 0;) {
    if (spec.axes[k].from.empty()) continue;
    const Dims front(d.begin(), d.begin() + static_cast<int64_t>(k));
    const Dims back(d.begin() + static_cast<int64_t>(k) + 1, d.end());
    passes.push_back({Product(front), d[k], Product(back), spec.axes[k]});
    d[k] = static_cast<int64_t>(spec.axes[k].from.size());
  }
}

uint64_t WeighPlan::room_floats() const {
  uint64_t most = 0;
  for (size_t i = 0; i + 1 < passes.size(); ++i) {
    const Pass& p = passes[i];
    most = std::max(most, static_cast<uint64_t>(p.outer * p.inner) * p.axis.from.size());
  }
  return 2 * most;
}

std::unique_ptr<Loop> WeighLoop(const Simd& simd, WeighPlan plan) {
  return std::make_unique<Weighed>(simd, std::move(plan));
}

namespace {

double WeighNs(const WeighPlan& plan, const Machine& m) {
  double ns = 0;
  for (const WeighPlan::Pass& pass : plan.passes) {
    const double taps = static_cast<double>(pass.axis.w.size());
    const double outer = static_cast<double>(pass.outer);
    const double rows = outer * static_cast<double>(pass.axis.from.size());
    const double sums = outer * taps * static_cast<double>(pass.inner);
    ns += pass.inner == 1 ? sums * 0.35 : rows * 15 + sums * ByIsa(m, 0.06, 0.08, 0.2);
  }
  return ns;
}

class ResizeKind final : public KindOf<ResizeSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return LoopPrice(unit, parser, machine, 0);
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const ResizeSpec& spec = SpecOf(u);
    Rep x = b->Main(u.in[0]);
    const bool channels = spec.factors.size() > 1 && spec.factors[1] != 1;
    if (channels || !(x.layout == Layout::Like(x.layout.dims(), x.layout)))
      x = b->GetDense(u.in[0]);
    const Layout target = Layout::Like(u.dims, x.layout);
    const Rep y = b->NewResult(u.out[0], target);
    b->AddStep("resize " + b->Sizes(u.dims), RepeatLoop(b->simd(), x.layout, target, spec.factors),
               {y.place, x.place});
    b->AddRep(u.out[0], y);
  }
};

class ResampleKind final : public KindOf<ResampleSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * ByIsa(machine, 0.8, 1, 1.5)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const ResampleSpec& spec = SpecOf(u);
    std::vector<ResizeAxis> axes;
    for (const Taps& t : spec.taps) axes.push_back({t.at, t.next, t.w});
    b->AddPlain(u, "resample", ResizeLoop(b->simd(), b->parser().dims(u.in[0]), std::move(axes)),
                {b->GetDense(u.in[0]).place});
  }
};

class WeighKind final : public KindOf<WeighSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(
        unit, parser, machine,
        {WeighNs(WeighPlan(parser.dims(unit.in[0]), SpecOf(unit)), machine) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const WeighSpec& spec = SpecOf(u);
    WeighPlan plan(b->parser().dims(u.in[0]), spec);
    const BufferRef x = b->GetDense(u.in[0]).place;
    const uint64_t room = plan.room_floats() * sizeof(float);
    const BufferRef between = room == 0 ? x : b->NewInternal(0, room);
    b->AddPlain(u, "weigh", WeighLoop(b->simd(), std::move(plan)), {x, between});
  }
};

const ResizeKind kResizeKind;
const ResampleKind kResampleKind;
const WeighKind kWeighKind;
}  // namespace

GE_NATIVE_KINDS(resize, &kResizeKind, &kResampleKind, &kWeighKind)

}  // namespace ge_engines::cpu::native

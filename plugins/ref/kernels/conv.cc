#include "plugins/ref/kernels/conv.h"

#include "plugins/ref/kernels/gemm.h"

namespace ref {
namespace {

// Puts x[channel, where tap k of window j lies] into row `k` of the panel, for windows
// [first, first + n); zero outside. `tap`: index of k in each dim.
template <class T>
void PackTap(const Window& w, const T* x, const int64_t* tap, int64_t first, int64_t n,
             Product<T>* row) {
  const int last = w.nd - 1;
  int64_t at[kMaxRank];
  int64_t rest = first;
  for (int d = last; d >= 0; --d) {
    at[d] = rest % w.out[d];
    rest /= w.out[d];
  }
  for (int64_t j = 0; j < n;) {  // a run of windows along the last dim
    const int64_t run = std::min(n - j, w.out[last] - at[last]);
    bool inside = true;
    int64_t base = 0;
    for (int d = 0; d < last; ++d) {
      const int64_t p = at[d] * w.stride[d] - w.pad[d] + tap[d] * w.dilation[d];
      inside &= p >= 0 && p < w.in[d];
      base += p * w.in_step[d];
    }
    const int64_t p0 = at[last] * w.stride[last] - w.pad[last] + tap[last] * w.dilation[last];
    const Taps ok = inside ? TapsIn(p0, run, w.stride[last], 0, w.in[last]) : Taps{run, run};
    int64_t i = 0;
    for (; i < ok.first; ++i) row[j + i] = 0;
    for (; i < ok.end; ++i) {
      row[j + i] = static_cast<Product<T>>(Widen(Load(x, base + p0 + i * w.stride[last])));
    }
    for (; i < run; ++i) row[j + i] = 0;
    j += run;
    at[last] = 0;
    for (int d = last - 1; d >= 0 && ++at[d] == w.out[d]; --d) at[d] = 0;
  }
}

template <class T>
void PackWindows(const ConvPlan& p, const T* x, int64_t first, int64_t n, Product<T>* panel) {
  int64_t tap[kMaxRank] = {};
  for (int64_t c = 0; c < p.in_channels; ++c, x += p.w.in_count) {
    for (int64_t k = 0; k < p.w.kernel_count; ++k, panel += kPanel) {
      PackTap(p.w, x, tap, first, n, panel);
      Spend(n);
      for (int d = p.w.nd - 1; d >= 0 && ++tap[d] == p.w.kernel[d]; --d) tap[d] = 0;
    }
  }
}

template <class T>
ge_rc RunConv(const ConvPlan& p, const Call& c) {
  const T *x = c.in(0).as<T>(), *weight = c.in(1).as<T>();
  const T* bias = c.has_in(2) ? c.in(2).as<T>() : nullptr;
  T* y = c.out(0).as<T>();
  Product<T>* panel = static_cast<Product<T>*>(c.workspace());
  const int64_t depth = p.in_channels * p.w.kernel_count;
  for (int64_t b = 0; b < p.batch * p.groups; ++b) {
    const int64_t channel0 = b % p.groups * p.out_channels;
    const T* in = x + b * p.in_channels * p.w.in_count;
    T* out = y + b * p.out_channels * p.w.out_count;
    for (int64_t first = 0; first < p.w.out_count; first += kPanel) {
      const int64_t n = std::min(kPanel, p.w.out_count - first);
      PackWindows(p, in, first, n, panel);
      for (int64_t m = 0; m < p.out_channels; ++m) {
        Sum<T> total[kPanel] = {};
        PanelRow(weight + (channel0 + m) * depth, 1, depth, panel, n, total);
        Spend(depth * n);
        const Sum<T> add = bias == nullptr ? 0 : Widen(Load(bias, channel0 + m));
        T* row = out + m * p.w.out_count + first;
        for (int64_t j = 0; j < n; ++j) row[j] = Narrow<T>(total[j] + add);
      }
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareConv(const NodeView& n, Why* why) {
  ConvPlan p{};
  if (!NeedPorts(n, 2, 3, why) || !NeedSameDType(n.in(0), n.in(1), why) ||
      !NeedSameDType(n.in(0), n.out(0), why) || !PlanConv(n, 0, 1, &p, why)) {
    return nullptr;
  }
  const TensorType x = n.in(0);
  if (n.has_in(2) && (n.in(2).count != n.in(1).dims[0] || n.in(2).dtype != x.dtype)) {
    why->Say(GE_WHY_SHAPE, "B is not one %s a channel", ge::plugin::DTypeName(x.dtype));
    return nullptr;
  }
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunConv<T>(p, c); });
        made->workspace = PanelBytes<T>(p.in_channels * p.w.kernel_count);
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(conv, "Conv", PrepareConv)

#include "plugins/ref/kernels/gemm.h"
#include "plugins/ref/kernels/window.h"

namespace ref {
namespace {

// The windows slide over the output: window i of the input adds its products to the output
// elements under it. w.in is the output's spatial shape, w.out the input's.
struct TransposePlan {
  Window w{};
  int64_t batch, groups, in_channels, out_channels;  // channels of one group
};

// Adds sums[tap][j] of windows [first, first + n) to acc.
template <class S>
void Scatter(const Window& w, int64_t first, int64_t n, int64_t tap_index, const S* sums, S* acc) {
  int64_t tap[kMaxRank], at[kMaxRank];
  int64_t rest = tap_index, where = first;
  for (int d = w.nd - 1; d >= 0; --d) {
    tap[d] = rest % w.kernel[d];
    rest /= w.kernel[d];
    at[d] = where % w.out[d];
    where /= w.out[d];
  }
  for (int64_t j = 0; j < n; ++j) {
    bool inside = true;
    int64_t offset = 0;
    for (int d = 0; d < w.nd; ++d) {
      const int64_t p = at[d] * w.stride[d] - w.pad[d] + tap[d] * w.dilation[d];
      inside &= p >= 0 && p < w.in[d];
      offset += p * w.in_step[d];
    }
    if (inside) acc[offset] += sums[j];
    for (int d = w.nd - 1; d >= 0 && ++at[d] == w.out[d]; --d) at[d] = 0;
  }
}

template <class T>
ge_rc RunConvTranspose(const TransposePlan& p, const Call& c) {
  using S = Sum<T>;
  const T *x = c.in(0).as<T>(), *weight = c.in(1).as<T>();
  const T* bias = c.has_in(2) ? c.in(2).as<T>() : nullptr;
  T* y = c.out(0).as<T>();
  // Scratch: sums of one output channel, then a panel of inputs.
  S* acc = static_cast<S*>(c.workspace());
  Product<T>* panel = reinterpret_cast<Product<T>*>(acc + p.w.in_count);
  const int64_t taps = p.w.kernel_count;
  for (int64_t b = 0; b < p.batch * p.groups; ++b) {
    const int64_t group = b % p.groups;
    const T* in = x + b * p.in_channels * p.w.out_count;
    const T* wg = weight + group * p.in_channels * p.out_channels * taps;
    for (int64_t m = 0; m < p.out_channels; ++m) {
      const S start = bias == nullptr ? 0 : Widen(Load(bias, group * p.out_channels + m));
      std::fill(acc, acc + p.w.in_count, start);
      for (int64_t first = 0; first < p.w.out_count; first += kPanel) {
        const int64_t n = std::min(kPanel, p.w.out_count - first);
        PackPanel(in + first, p.w.out_count, 1, p.in_channels, n, panel);
        for (int64_t k = 0; k < taps; ++k) {
          S total[kPanel] = {};
          PanelRow(wg + m * taps + k, p.out_channels * taps, p.in_channels, panel, n, total);
          Scatter(p.w, first, n, k, total, acc);
          Spend(p.in_channels * n);
        }
      }
      T* out = y + (b * p.out_channels + m) * p.w.in_count;
      for (int64_t i = 0; i < p.w.in_count; ++i) out[i] = Narrow<T>(acc[i]);
    }
  }
  return GE_OK;
}

// pads from output_shape or auto_pad: what is too much is cut, the odd element at the end for
// SAME_UPPER, at the start otherwise.
bool ResolvePads(const NodeView& n, Window* w, Why* why) {
  int64_t extra[kMaxRank];
  if (!ReadList(n, "output_padding", w->nd, 0, 0, extra, why)) return false;
  const std::string_view mode = n.Text("auto_pad");
  const bool stated = !n.List("output_shape").empty();
  for (int d = 0; d < w->nd; ++d) {
    const int64_t full =
        (w->out[d] - 1) * w->stride[d] + extra[d] + (w->kernel[d] - 1) * w->dilation[d] + 1;
    if (!stated && (mode == "NOTSET" || mode == "VALID")) {
      if (mode == "VALID") w->pad[d] = w->pad_end[d] = 0;
      if (w->in[d] != full - w->pad[d] - w->pad_end[d]) {
        return why->Say(GE_WHY_SHAPE, "spatial dim %d of the output is not what the operator gives",
                        d);
      }
      continue;
    }
    if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER") {
      return why->Say(GE_WHY_ATTRIBUTE, "auto_pad is not known");
    }
    const int64_t total = std::max<int64_t>(0, full - w->in[d]);
    w->pad[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return true;
}

bool PlanConvTranspose(const NodeView& n, TransposePlan* p, Why* why) {
  const TensorType x = n.in(0), weight = n.in(1), y = n.out(0);
  if (weight.rank != x.rank || x.rank < 3) {
    return why->Say(GE_WHY_SHAPE, "rank of X is %d, of W %d", x.rank, weight.rank);
  }
  if (!ReadWindow(n, y, x, weight.dims + 2, &p->w, why) || !ResolvePads(n, &p->w, why)) {
    return false;
  }
  p->groups = n.Int("group");
  p->batch = x.dims[0];
  if (p->groups < 1 || x.dims[1] % p->groups != 0 || weight.dims[0] != x.dims[1] ||
      y.dims[0] != x.dims[0] || weight.dims[1] > INT64_MAX / p->groups ||
      y.dims[1] != weight.dims[1] * p->groups) {
    return why->Say(GE_WHY_SHAPE, "channels of X, W, Y and group do not fit");
  }
  p->in_channels = x.dims[1] / p->groups;
  p->out_channels = weight.dims[1];
  if (n.has_in(2) && (n.in(2).count != y.dims[1] || n.in(2).dtype != x.dtype)) {
    return why->Say(GE_WHY_SHAPE, "B is not one %s a channel", ge::plugin::DTypeName(x.dtype));
  }
  return true;
}

std::unique_ptr<Prepared> PrepareConvTranspose(const NodeView& n, Why* why) {
  TransposePlan p{};
  if (!NeedPorts(n, 2, 3, why) || !NeedSameDType(n.in(0), n.in(1), why) ||
      !NeedSameDType(n.in(0), n.out(0), why) || !PlanConvTranspose(n, &p, why)) {
    return nullptr;
  }
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunConvTranspose<T>(p, c); });
        made->workspace =
            PanelBytes<T>(p.in_channels) + static_cast<uint64_t>(p.w.in_count) * sizeof(Sum<T>);
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(conv_transpose, "ConvTranspose", PrepareConvTranspose)

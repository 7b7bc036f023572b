#include "plugins/ref/kernels/window.h"

namespace ref {
namespace {

struct DeformPlan {
  Window w{};
  int64_t batch, groups, in_channels, out_channels;  // channels of one group
  int64_t offset_groups, offset_channels;            // channels of one offset group
  bool bias, mask;
};

// Adds to column[channel * taps] what lies at a place between elements: 2^nd neighbours by their
// shares, zeros outside. `x` is the first of `channels` planes.
template <class T>
void AddSample(const Window& w, const double* place, double factor, const T* x, int64_t channels,
               double* column) {
  for (int64_t corner = 0; corner < int64_t{1} << w.nd; ++corner) {
    int64_t offset = 0;
    double weight = factor;
    bool inside = true;
    for (int d = 0; d < w.nd; ++d) {
      const double low = std::floor(place[d]), share = place[d] - low;
      const bool upper = (corner >> d & 1) != 0;
      const double i = upper ? low + 1 : low;
      inside = inside && i >= 0 && i < static_cast<double>(w.in[d]);  // false for NaN
      if (!inside) break;
      offset += static_cast<int64_t>(i) * w.in_step[d];
      weight *= upper ? share : 1 - share;
    }
    if (!inside || weight == 0) continue;
    for (int64_t ch = 0; ch < channels; ++ch) {
      column[ch * w.kernel_count] += weight * Widen(Load(x, ch * w.in_count + offset));
    }
  }
}

// The moved taps of one window: column[channel][tap], of all channels.
template <class T>
void FillColumn(const DeformPlan& p, const Call& c, int64_t batch, int64_t window,
                const int64_t* at, double* column) {
  const Window& w = p.w;
  const T *x = c.in(0).as<T>(), *shift = c.in(2).as<T>();
  const T* mask = p.mask ? c.in(4).as<T>() : nullptr;
  const int64_t channels = p.offset_groups * p.offset_channels;
  std::fill(column, column + channels * w.kernel_count, 0.0);
  for (int64_t g = 0; g < p.offset_groups; ++g) {
    int64_t tap[kMaxRank] = {};
    for (int64_t k = 0; k < w.kernel_count; ++k) {
      const int64_t which = (batch * p.offset_groups + g) * w.kernel_count + k;
      double place[kMaxRank];
      for (int d = 0; d < w.nd; ++d) {
        const int64_t start = at[d] * w.stride[d] - w.pad[d] + tap[d] * w.dilation[d];
        place[d] = static_cast<double>(start) +
                   Widen(Load(shift, (which * w.nd + d) * w.out_count + window));
      }
      const double factor = mask ? Widen(Load(mask, which * w.out_count + window)) : 1.0;
      const int64_t first = g * p.offset_channels;
      AddSample(w, place, factor, x + (batch * channels + first) * w.in_count, p.offset_channels,
                column + first * w.kernel_count + k);
      Spend(p.offset_channels);
      for (int d = w.nd - 1; d >= 0 && ++tap[d] == w.kernel[d]; --d) tap[d] = 0;
    }
  }
}

template <class T>
ge_rc RunDeformConv(const DeformPlan& p, const Call& c) {
  const T* weights = c.in(1).as<T>();
  const T* bias = p.bias ? c.in(3).as<T>() : nullptr;
  T* y = c.out(0).as<T>();
  double* column = static_cast<double*>(c.workspace());
  const int64_t filter = p.in_channels * p.w.kernel_count;
  const int64_t filters = p.groups * p.out_channels;
  for (int64_t b = 0; b < p.batch; ++b) {
    ForEachWindow(p.w, [&](int64_t i, const int64_t* at, const Taps*) {
      FillColumn<T>(p, c, b, i, at, column);
      for (int64_t f = 0; f < filters; ++f) {
        const double* mine = column + f / p.out_channels * filter;
        double sum = bias ? Widen(Load(bias, f)) : 0.0;
        for (int64_t k = 0; k < filter; ++k) sum += Widen(Load(weights, f * filter + k)) * mine[k];
        Spend(filter);
        y[(b * filters + f) * p.w.out_count + i] = Narrow<T>(sum);
      }
    });
  }
  return GE_OK;
}

// N x (groups * taps * per_tap) x output. By division: a product of the sizes could overflow.
bool NeedPerTap(const DeformPlan& p, const TensorType& t, int64_t per_tap, Why* why) {
  const int64_t taps = p.w.kernel_count * per_tap;
  bool fits = t.rank == p.w.nd + 2 && t.dims[0] == p.batch && taps > 0 && t.dims[1] % taps == 0 &&
              t.dims[1] / taps == p.offset_groups;
  for (int d = 0; fits && d < p.w.nd; ++d) fits = t.dims[d + 2] == p.w.out[d];
  return fits || why->Say(GE_WHY_SHAPE, "offset or mask is not one number a tap and window");
}

bool PlanDeformConv(const NodeView& n, DeformPlan* p, Why* why) {
  if (!NeedPorts(n, 3, 5, why)) return false;
  const TensorType x = n.in(0), w = n.in(1), y = n.out(0);
  if (w.rank != x.rank || w.rank < 3) return why->Say(GE_WHY_SHAPE, "W has another rank than X");
  if (!ReadWindow(n, x, y, w.dims + 2, &p->w, why)) return false;
  p->bias = n.n_in() > 3 && n.has_in(3);
  p->mask = n.n_in() > 4 && n.has_in(4);
  for (uint32_t i = 1; i < n.n_in(); ++i) {
    if (n.has_in(i) && !NeedSameDType(x, n.in(i), why)) return false;
  }
  if (!NeedSameDType(x, y, why)) return false;
  p->batch = x.dims[0];
  p->groups = n.Int("group");
  p->offset_groups = n.Int("offset_group");
  if (p->groups < 1 || p->offset_groups < 1 || w.dims[0] % p->groups != 0 ||
      x.dims[1] % p->groups != 0 || x.dims[1] % p->offset_groups != 0 ||
      x.dims[1] / p->groups != w.dims[1] || y.dims[0] != x.dims[0] || y.dims[1] != w.dims[0]) {
    return why->Say(GE_WHY_SHAPE, "channels, filters and groups do not fit");
  }
  if (p->w.kernel_count > 0 && x.dims[1] > (int64_t{1} << 48) / p->w.kernel_count) {
    return why->Say(GE_WHY_SHAPE, "one window has more than 2^48 elements");
  }
  p->in_channels = w.dims[1];
  p->out_channels = w.dims[0] / p->groups;
  p->offset_channels = x.dims[1] / p->offset_groups;
  if (p->bias && n.in(3).count != w.dims[0]) {
    return why->Say(GE_WHY_SHAPE, "B is not one number a filter");
  }
  return NeedPerTap(*p, n.in(2), p->w.nd, why) && (!p->mask || NeedPerTap(*p, n.in(4), 1, why));
}

std::unique_ptr<Prepared> PrepareDeformConv(const NodeView& n, Why* why) {
  DeformPlan p{};
  if (!PlanDeformConv(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunDeformConv<T>(p, c); });
        made->const_align = 1;
        made->workspace =
            static_cast<uint64_t>(n.in(0).dims[1] * p.w.kernel_count) * sizeof(double);
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(deform_conv, "DeformConv", PrepareDeformConv)

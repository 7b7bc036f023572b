#include "plugins/ref/kernels/window.h"

namespace ref {
namespace {

// Elements that the mean is over when padding counts: those inside [-pad, in + pad_end), so that
// what ceil_mode adds beyond the padding does not count.
int64_t PaddedCount(const Window& w, const int64_t* at) {
  int64_t count = 1;
  for (int d = 0; d < w.nd; ++d) {
    const int64_t start = at[d] * w.stride[d] - w.pad[d];
    const Taps t = TapsIn(start, w.kernel[d], w.dilation[d], -w.pad[d], w.in[d] + w.pad_end[d]);
    count *= t.end - t.first;
  }
  return count;
}

template <class T>
ge_rc RunAveragePool(const Window& w, bool count_pad, const Call& c) {
  const Tensor tx = c.in(0);
  const T* x = tx.as<T>();
  T* y = c.out(0).as<T>();
  const int64_t planes = PartCount(tx.shape(), 0, 2);
  for (int64_t p = 0; p < planes; ++p, x += w.in_count, y += w.out_count) {
    ForEachWindow(w, [&](int64_t i, const int64_t* at, const Taps* taps) {
      double sum = 0;
      int64_t count = 0;
      ForEachRun(w, at, taps, [&](int64_t from, int64_t n, int64_t step) {
        for (int64_t k = 0; k < n; ++k) sum += Widen(Load(x, from + k * step));
        count += n;
      });
      if (count_pad) count = PaddedCount(w, at);
      y[i] = Narrow<T>(count == 0 ? 0.0 : sum / static_cast<double>(count));
    });
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareAveragePool(const NodeView& n, Why* why) {
  Window w{};
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !ReadWindow(n, n.in(0), n.out(0), nullptr, &w, why) || !ResolveAutoPad(n, &w, why)) {
    return nullptr;
  }
  if (!SameDims({n.in(0).dims, 2}, {n.out(0).dims, 2})) {
    return why->Say(GE_WHY_SHAPE, "batch or channels of input and output differ"), nullptr;
  }
  const bool count_pad = n.Int("count_include_pad") != 0;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([=](const Call& c) { return RunAveragePool<T>(w, count_pad, c); });
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(average_pool, "AveragePool", PrepareAveragePool)

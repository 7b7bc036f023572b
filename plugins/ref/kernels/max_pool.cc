#include "plugins/ref/kernels/window.h"

namespace ref {
namespace {

// The least value, for windows that lie wholly in the padding.
template <class T>
Arith<T> Least() {
  using W = Arith<T>;
  if constexpr (kIsFloat<T>) {
    return -std::numeric_limits<W>::infinity();
  } else {
    return std::numeric_limits<W>::lowest();
  }
}

// Row-major index in one plane as ONNX counts it: storage_order 1 is column-major.
int64_t PlaneIndex(const Window& w, int64_t offset, bool column_major) {
  if (!column_major) return offset;
  int64_t index = 0, step = 1;
  for (int d = 0; d < w.nd; ++d) {
    index += offset / w.in_step[d] % w.in[d] * step;
    step *= w.in[d];
  }
  return index;
}

template <class T>
ge_rc RunMaxPool(const Window& w, bool column_major, const Call& c) {
  using W = Arith<T>;
  const Tensor tx = c.in(0);
  const T* x = tx.as<T>();
  T* y = c.out(0).as<T>();
  int64_t* index = c.has_out(1) ? c.out(1).as<int64_t>() : nullptr;
  const int64_t planes = PartCount(tx.shape(), 0, 2);
  for (int64_t p = 0; p < planes; ++p, x += w.in_count, y += w.out_count) {
    ForEachWindow(w, [&](int64_t i, const int64_t* at, const Taps* taps) {
      W best = Least<T>();
      int64_t where = -1;
      ForEachRun(w, at, taps, [&](int64_t from, int64_t n, int64_t step) {
        for (int64_t k = 0; k < n; ++k) {
          const W v = Widen(Load(x, from + k * step));
          if (v > best || where < 0 || (v != v && best == best)) {  // NaN wins
            best = v;
            where = from + k * step;
          }
        }
      });
      y[i] = Narrow<T>(best);
      if (index != nullptr) {
        index[p * w.out_count + i] =
            where < 0 ? -1 : p * w.in_count + PlaneIndex(w, where, column_major);
      }
    });
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareMaxPool(const NodeView& n, Why* why) {
  Window w{};
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !ReadWindow(n, n.in(0), n.out(0), nullptr, &w, why) || !ResolveAutoPad(n, &w, why)) {
    return nullptr;
  }
  if (!SameDims({n.in(0).dims, 2}, {n.out(0).dims, 2}) ||
      (n.has_out(1) && !SameDims(n.out(0).shape(), n.out(1).shape()))) {
    return why->Say(GE_WHY_SHAPE, "batch or channels of input and output differ"), nullptr;
  }
  if (n.has_out(1) && n.out(1).dtype != GE_I64) return NoDType(n.out(1), why), nullptr;
  const bool column_major = n.Int("storage_order") != 0;
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([=](const Call& c) { return RunMaxPool<T>(w, column_major, c); });
    made->const_align = 1;
  };
  const int32_t dtype = n.in(0).dtype;
  if (dtype == GE_I8) {
    make(Tag<int8_t>());
  } else if (dtype == GE_U8) {
    make(Tag<uint8_t>());
  } else if (!VisitFloat(dtype, make)) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(max_pool, "MaxPool", PrepareMaxPool)

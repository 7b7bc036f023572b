#include "plugins/ref/kernels/copy.h"
#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

// Operands: out, condition, X, Y.
using WhereNest = LoopNest<4>;

struct Wide {  // complex128
  uint64_t part[2];
};

template <class T>
ge_rc RunWhere(const WhereNest& nest, const Call& c) {
  const uint8_t* truth = c.in(0).as<uint8_t>();
  const T *x = c.in(1).as<T>(), *y = c.in(2).as<T>();
  T* out = c.out(0).as<T>();
  nest.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    for (int64_t i = 0; i < n; ++i) {
      const T v = truth[o[1] + i * s[1]] != 0 ? Load(x, o[2] + i * s[2]) : Load(y, o[3] + i * s[3]);
      Store(out, o[0] + i * s[0], v);
    }
    return true;
  });
  return GE_OK;
}

template <class T>
std::unique_ptr<Prepared> MakeWhere(const WhereNest& nest) {
  return Make([nest](const Call& c) { return RunWhere<T>(nest, c); });
}

std::unique_ptr<Prepared> PrepareWhere(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 3, 3, why) || !NeedSameDType(n.in(1), n.in(2), why) ||
      !NeedSameDType(n.in(1), n.out(0), why)) {
    return nullptr;
  }
  if (n.in(0).dtype != GE_BOOL) return NoDType(n.in(0), why), nullptr;
  const TensorType out = n.out(0);
  int64_t so[kMaxRank], in[3][kMaxRank];
  DenseStrides(out.shape(), so);
  for (uint32_t i = 0; i < 3; ++i) {
    if (!BroadcastStrides(n.in(i).shape(), out.shape(), in[i])) {
      return why->Say(GE_WHY_SHAPE, "the inputs do not broadcast to the output's shape"), nullptr;
    }
  }
  WhereNest nest;
  for (int d = 0; d < out.rank; ++d) nest.Add(out.dims[d], {so[d], in[0][d], in[1][d], in[2][d]});
  const int64_t size = ElementBytes(out.dtype);
  std::unique_ptr<Prepared> made = size == 1    ? MakeWhere<uint8_t>(nest)
                                   : size == 2  ? MakeWhere<uint16_t>(nest)
                                   : size == 4  ? MakeWhere<uint32_t>(nest)
                                   : size == 8  ? MakeWhere<uint64_t>(nest)
                                   : size == 16 ? MakeWhere<Wide>(nest)
                                                : nullptr;
  if (made == nullptr) return NoDType(out, why), nullptr;
  made->const_align = 1;
  made->in_place = InPlaceBit(n, 0) | InPlaceBit(n, 1) | InPlaceBit(n, 2);
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(where, "Where", PrepareWhere)

#include "plugins/ref/kernels/normalized_rows.h"

namespace ref {
namespace {

struct RmsPlan : NormalizedRows {
  LoopNest<3> nest;  // Y and X together, scale, row
};

// T: of X, V: of scale and Y.
template <class T, class V>
ge_rc RunRms(const RmsPlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  const V* scale = c.in(1).as<V>();
  V* y = c.out(0).as<V>();
  double* inverse = static_cast<double*>(c.workspace());
  for (int64_t r = 0; p.count > 0 && r < p.rows; ++r) {
    double square = 0;
    for (int64_t i = r * p.count; i < (r + 1) * p.count; ++i) {
      const double v = Widen(x[i]);
      square += v * v;
    }
    inverse[r] = 1 / std::sqrt(square / static_cast<double>(p.count) + p.epsilon);
  }
  p.nest.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = o[0] + i * s[0];
      const double v = Widen(x[at]) * inverse[o[2] + i * s[2]];
      y[at] = Narrow<V>(v * Widen(scale[o[1] + i * s[1]]));
    }
    return true;
  });
  return GE_OK;
}

bool PlanRms(const NodeView& n, RmsPlan* p, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(1), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return false;
  }
  const TensorType x = n.in(0);
  if (!p->Read(n, why)) return false;
  int64_t dense[kMaxRank], stride[kMaxRank];
  DenseStrides(x.shape(), dense);
  if (!BroadcastStrides(n.in(1).shape(), x.shape(), stride)) {
    return why->Say(GE_WHY_SHAPE, "scale does not broadcast to X");
  }
  for (int d = 0; d < x.rank; ++d) {
    const int64_t row = p->RowStep(d, dense[d]);
    p->nest.Add(x.dims[d], {dense[d], stride[d], row});
  }
  return true;
}

std::unique_ptr<Prepared> PrepareRmsNormalization(const NodeView& n, Why* why) {
  RmsPlan p{};
  if (!PlanRms(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  VisitFloat(n.in(0).dtype, [&](auto from) {
    VisitFloat(n.in(1).dtype, [&](auto to) {
      using T = typename decltype(from)::type;
      using V = typename decltype(to)::type;
      made = Make([p](const Call& c) { return RunRms<T, V>(p, c); });
    });
  });
  if (made == nullptr) {
    return NoDType(IsFloatDType(n.in(0).dtype) ? n.in(1) : n.in(0), why), nullptr;
  }
  made->in_place = n.in(0).dtype == n.out(0).dtype ? 1 : 0;
  made->workspace = static_cast<uint64_t>(p.rows) * sizeof(double);
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(rms_normalization, "RMSNormalization", PrepareRmsNormalization)

#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// The deviation is enlarged by what ONNX's own function adds to it.
constexpr double kMvnEpsilon = 1e-9;

template <class T>
ge_rc RunMvn(const ReducePlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  T* y = c.out(0).as<T>();
  const auto count = static_cast<double>(p.count);
  p.kept.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t base = o[1] + i * s[1];
      double sum = 0, square = 0;
      p.reduced.Run([&](const int64_t* r, int64_t m, const int64_t* rs) {
        for (int64_t k = 0; k < m; ++k) sum += Widen(x[base + r[0] + k * rs[0]]);
        return true;
      });
      const double mean = sum / count;
      p.reduced.Run([&](const int64_t* r, int64_t m, const int64_t* rs) {
        for (int64_t k = 0; k < m; ++k) {
          const double d = Widen(x[base + r[0] + k * rs[0]]) - mean;
          square += d * d;
        }
        return true;
      });
      const double inverse = 1 / (std::sqrt(square / count) + kMvnEpsilon);
      p.reduced.Run([&](const int64_t* r, int64_t m, const int64_t* rs) {
        for (int64_t k = 0; k < m; ++k) {
          const int64_t at = base + r[0] + k * rs[0];
          y[at] = Narrow<T>((Widen(x[at]) - mean) * inverse);
        }
        return true;
      });
    }
    return true;
  });
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareMvn(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  Tensor x;
  static_cast<TensorType&>(x) = n.in(0);
  const Ints given = n.List("axes");
  int64_t list[kMaxRank];
  Tensor axes;
  axes.dtype = GE_I64;
  axes.count = static_cast<int64_t>(given.size());
  axes.data = list;
  if (axes.count > kMaxRank) return why->Say(GE_WHY_ATTRIBUTE, "too many axes"), nullptr;
  for (size_t i = 0; i < given.size(); ++i) list[i] = given[i];
  ReduceAttrs attrs;
  attrs.noop_if_empty = true;
  ReducePlan p{};
  int64_t bad = 0;
  if (!PlanReduce(x, &axes, attrs, &p, &bad)) {
    why->Say(GE_WHY_ATTRIBUTE, "axis %lld is outside rank %d", static_cast<long long>(bad), x.rank);
    return nullptr;
  }
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunMvn<T>(p, c); });
        made->in_place = 1;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(mean_variance_normalization, "MeanVarianceNormalization", PrepareMvn)

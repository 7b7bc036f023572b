// Reductions over a set of axes, read at run time (input 1). A reduction is a struct over the
// scalar T: Acc start(), void add(Acc*, Arith<T>), T finish(Acc, count).
#pragma once

#include "plugins/ref/checks.h"

namespace ref {

// The base of sums and products: floats are accumulated in double, integers modulo 2^n.
struct Accumulated {
  template <class T>
  using Acc = std::conditional_t<kIsFloat<T>, double, uint64_t>;
  template <class T>
  static T Finish(Acc<T> acc, int64_t) {
    return Narrow<T>(acc);
  }
  template <class F>
  static bool Visit(int32_t dtype, F&& call) {
    return VisitFloat(dtype, call) || VisitWideInt(dtype, call);
  }
};

// The base of the least and the greatest element: kept in the type's own arithmetic.
struct Extreme {
  template <class T>
  static T Finish(Arith<T> acc, int64_t) {
    return Narrow<T>(acc);
  }
  template <class F>
  static bool Visit(int32_t dtype, F&& call) {
    switch (dtype) {
      case GE_BOOL:
        return call(Tag<bool>()), true;
      case GE_I8:
        return call(Tag<int8_t>()), true;
      case GE_U8:
        return call(Tag<uint8_t>()), true;
      default:
        return VisitFloat(dtype, call) || VisitWideInt(dtype, call);
    }
  }
};

// Two nests: over the kept axes (operands out, x) and over the reduced ones (operand x).
struct ReducePlan {
  LoopNest<2> kept;
  LoopNest<1> reduced;
  int64_t count = 1;      // elements that are reduced into one
  int64_t out_count = 1;  // results
};

struct ReduceAttrs {
  bool keep_dims = true, noop_if_empty = false;
};

// False when an axis is out of range; *bad is then the axis.
inline bool PlanReduce(const Tensor& x, const Tensor* axes, const ReduceAttrs& attrs,
                       ReducePlan* plan, int64_t* bad) {
  uint64_t mask = 0;
  const bool none = axes == nullptr || axes->count == 0;
  if (none && !attrs.noop_if_empty) mask = ~uint64_t{0};
  for (int64_t i = 0; !none && i < axes->count; ++i) {
    *bad = IntAt(*axes, i);
    const int64_t a = NormalAxis(*bad, x.rank);
    if (a < 0) return false;
    mask |= uint64_t{1} << a;
  }
  int64_t stride[kMaxRank], out_stride[kMaxRank];
  DenseStrides(x.shape(), stride);
  for (int d = x.rank - 1; d >= 0; --d) {
    out_stride[d] = plan->out_count;
    if ((mask >> d & 1) != 0) {
      plan->count *= x.dims[d];
    } else {
      plan->out_count *= x.dims[d];
    }
  }
  for (int d = 0; d < x.rank; ++d) {
    if ((mask >> d & 1) != 0) {
      plan->reduced.Add(x.dims[d], {stride[d]});
    } else {
      plan->kept.Add(x.dims[d], {out_stride[d], stride[d]});
    }
  }
  return true;
}

template <class R, class T>
ge_rc RunReduce(const ReduceAttrs& attrs, const Call& call) {
  const Tensor tx = call.in(0), ty = call.out(0);
  Tensor axes;
  if (call.has_in(1)) axes = call.in(1);
  ReducePlan p{};
  int64_t bad = 0;
  if (!PlanReduce(tx, call.has_in(1) ? &axes : nullptr, attrs, &p, &bad)) {
    return call.Fail(GE_INVALID_ARGUMENT, "axis %lld is outside rank %d",
                     static_cast<long long>(bad), tx.rank);
  }
  if (p.out_count != ty.count) {
    return call.Fail(GE_INVALID_ARGUMENT, "the axes give %lld elements, the plan holds %lld",
                     static_cast<long long>(p.out_count), static_cast<long long>(ty.count));
  }
  const T* x = tx.as<T>();
  T* y = ty.as<T>();
  p.kept.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    for (int64_t i = 0; i < n; ++i) {
      const T* base = x + o[1] + i * s[1];
      auto acc = R::template Start<T>();
      p.reduced.Run([&](const int64_t* r, int64_t m, const int64_t* rs) {
        for (int64_t k = 0; k < m; ++k) R::template Add<T>(&acc, Widen(base[r[0] + k * rs[0]]));
        return true;
      });
      y[o[0] + i * s[0]] = R::template Finish<T>(acc, p.count);
      Spend(1);
    }
    return true;
  });
  return GE_OK;
}

template <class R>
std::unique_ptr<Prepared> PrepareReduce(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  if (n.has_in(1) && n.in(1).dtype != GE_I64) return NoDType(n.in(1), why), nullptr;
  ReduceAttrs attrs;
  attrs.keep_dims = n.Int("keepdims") != 0;
  attrs.noop_if_empty = n.Int("noop_with_empty_axes") != 0;
  if (attrs.keep_dims && n.in(0).rank != n.out(0).rank) {
    return why->Say(GE_WHY_SHAPE, "keepdims is set, but the ranks differ"), nullptr;
  }
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([attrs](const Call& c) { return RunReduce<R, T>(attrs, c); });
  };
  if (!R::Visit(n.in(0).dtype, make)) NoDType(n.in(0), why);
  return made;
}

}  // namespace ref

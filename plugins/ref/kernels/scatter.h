// How scattered updates meet the data: replace it, or reduce with it. Also index tuples.
#pragma once

#include "plugins/ref/kernels/copy.h"
#include "plugins/ref/kernels/elementwise.h"

namespace ref {

// Puts `n` consecutive elements of an update (maybe unaligned) onto those at `to`.
using PutRun = void (*)(char* to, const char* from, int64_t n);

template <int64_t kSize>
void ReplaceRun(char* to, const char* from, int64_t n) {
  std::memcpy(to, from, static_cast<size_t>(n * kSize));
}

struct PutAdd {
  template <class W>
  static W Of(W left, W right) {
    if constexpr (std::is_same_v<W, bool>) return left || right;
    if constexpr (!std::is_same_v<W, bool>) return static_cast<W>(Wrap(left) + Wrap(right));
  }
};
struct PutMul {
  template <class W>
  static W Of(W left, W right) {
    if constexpr (std::is_same_v<W, bool>) return left && right;
    if constexpr (!std::is_same_v<W, bool>) return static_cast<W>(Wrap(left) * Wrap(right));
  }
};
// NaN wins.
struct PutMax {
  template <class W>
  static W Of(W left, W right) {
    return right > left || right != right ? right : left;
  }
};
struct PutMin {
  template <class W>
  static W Of(W left, W right) {
    return right < left || right != right ? right : left;
  }
};

template <class T, class Op>
void ReduceRun(char* to, const char* from, int64_t n) {
  T* t = reinterpret_cast<T*>(to);
  const T* f = reinterpret_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i) {
    Store(t, i, Narrow<T>(Op::Of(Widen(Load(t, i)), Widen(Load(f, i)))));
  }
}

template <class Op>
PutRun ReduceRunOf(int32_t dtype) {
  PutRun run = nullptr;
  const auto pick = [&](auto tag) { run = ReduceRun<typename decltype(tag)::type, Op>; };
  VisitSet<Set::kNumberAndBool>(dtype, pick);
  return run;
}

// By the attribute 'reduction'; nullptr, with *why filled, when it cannot be.
inline PutRun PickPut(const NodeView& n, int32_t dtype, Why* why) {
  const std::string_view how = n.Text("reduction");
  PutRun run = nullptr;
  if (how == "none") {
    const int64_t size = ElementBytes(dtype);
    run = size == 1    ? ReplaceRun<1>
          : size == 2  ? ReplaceRun<2>
          : size == 4  ? ReplaceRun<4>
          : size == 8  ? ReplaceRun<8>
          : size == 16 ? ReplaceRun<16>
                       : static_cast<PutRun>(nullptr);
  } else if (how == "add") {
    run = ReduceRunOf<PutAdd>(dtype);
  } else if (how == "mul") {
    run = ReduceRunOf<PutMul>(dtype);
  } else if (how == "max") {
    run = ReduceRunOf<PutMax>(dtype);
  } else if (how == "min") {
    run = ReduceRunOf<PutMin>(dtype);
  } else {
    why->Say(GE_WHY_ATTRIBUTE, "reduction is %.*s", static_cast<int>(how.size()), how.data());
    return nullptr;
  }
  if (run == nullptr) {
    why->Say(GE_WHY_DTYPE, "%s is not reduced here", ge::plugin::DTypeName(dtype));
  }
  return run;
}

// An index of [-dim, dim) counted from the front, or -1.
inline int64_t PlaceOfIndex(int64_t index, int64_t dim) {
  return index < -dim || index >= dim ? -1 : index < 0 ? index + dim : index;
}

inline ge_rc WrongIndex(const Call& call, int64_t which, int64_t index, int64_t axis, int64_t dim) {
  return call.Fail(GE_INVALID_ARGUMENT,
                   "indices[%lld] is %lld, axis %lld takes [%lld, %lld); give indices inside it",
                   static_cast<long long>(which), static_cast<long long>(index),
                   static_cast<long long>(axis), static_cast<long long>(-dim),
                   static_cast<long long>(dim));
}

// The indices of GatherElements and ScatterElements have the data's rank and are, but for the
// axis, no larger.
inline bool NeedElementIndices(const TensorType& x, const TensorType& index, int64_t axis,
                               Why* why) {
  if (!IsIndexDType(index.dtype)) return NoDType(index, why);
  if (axis < 0) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  bool fits = x.rank == index.rank;
  for (int d = 0; fits && d < x.rank; ++d) fits = d == axis || index.dims[d] <= x.dims[d];
  return fits || why->Say(GE_WHY_SHAPE, "the indices do not fit the data");
}

// For each index in row-major order: f(number of the index, element of the data). Nothing is
// visited beyond a wrong index.
template <class F>
ge_rc ForEachIndexed(const Call& call, int64_t axis, F&& f) {
  const Tensor x = call.in(0), index = call.in(1);
  int64_t stride[kMaxRank], index_stride[kMaxRank];
  DenseStrides(x.shape(), stride);
  DenseStrides(index.shape(), index_stride);
  const int64_t dim = x.dims[axis], step = stride[axis];
  LoopNest<2> nest;
  for (int d = 0; d < index.rank; ++d) {
    nest.Add(index.dims[d], {index_stride[d], d == axis ? 0 : stride[d]});
  }
  ge_rc rc = GE_OK;
  nest.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = o[0] + k * s[0], place = PlaceOfIndex(IntAt(index, i), dim);
      if (place < 0) {
        rc = WrongIndex(call, i, IntAt(index, i), axis, dim);
        return false;
      }
      f(i, o[1] + k * s[1] + place * step);
    }
    return true;
  });
  return rc;
}

// Index tuples of `length` stand in the last axis of an i64 tensor and name a slice of the dims
// [first, first + length) of the data.
struct TuplePlan {
  int64_t first = 0, length = 0;
  int64_t tuples = 1;  // how many
  int64_t slice = 1;   // elements of the data under one tuple
};

// The slice of tuple `t`, in slices from the start of its batch; -1 with the failure said.
inline int64_t SliceOfTuple(const Call& call, const TuplePlan& plan, int64_t t, ge_rc* rc) {
  const Tensor x = call.in(0), index = call.in(1);
  int64_t at = 0;
  for (int64_t k = 0; k < plan.length; ++k) {
    const int64_t i = t * plan.length + k, dim = x.dims[plan.first + k];
    const int64_t place = PlaceOfIndex(IntAt(index, i), dim);
    if (place < 0) {
      *rc = WrongIndex(call, i, IntAt(index, i), plan.first + k, dim);
      return -1;
    }
    at = at * dim + place;
  }
  return at;
}

// `parts`: the slices read or updated by the tuples. Its dims are the indices' dims without the
// last, then the data's dims from first + length on.
inline bool ReadTuples(const TensorType& x, const TensorType& index, const TensorType& parts,
                       int64_t first, TuplePlan* plan, Why* why) {
  if (index.dtype != GE_I64) return NoDType(index, why);
  if (index.rank == 0 || first < 0 || first >= index.rank || first >= x.rank) {
    return why->Say(GE_WHY_SHAPE, "batch_dims or the rank of the indices is out of range");
  }
  plan->first = first;
  plan->length = index.dims[index.rank - 1];
  if (plan->length > x.rank - first) {
    return why->Say(GE_WHY_SHAPE, "index tuples of %lld entries for rank %d",
                    static_cast<long long>(plan->length), x.rank);
  }
  const auto tail = static_cast<size_t>(first + plan->length);
  const size_t lead = static_cast<size_t>(index.rank) - 1,
               rest = static_cast<size_t>(x.rank) - tail;
  bool fits = static_cast<size_t>(parts.rank) == lead + rest;
  for (size_t d = 0; fits && d < lead; ++d) fits = parts.dims[d] == index.dims[d];
  for (size_t d = 0; fits && d < rest; ++d) fits = parts.dims[lead + d] == x.dims[tail + d];
  for (int64_t d = 0; fits && d < first; ++d) fits = x.dims[d] == index.dims[d];
  plan->tuples = PartCount(index.shape(), 0, lead);
  plan->slice = PartCount(x.shape(), tail, static_cast<size_t>(x.rank));
  return fits || why->Say(GE_WHY_SHAPE, "data, indices and slices do not fit each other");
}

}  // namespace ref

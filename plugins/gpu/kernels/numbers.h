// Casts and comparisons of numbers of any dtype.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/units/functions.h"

namespace ge_engines::gpu {

// Places: result, x.
struct CastArgs : Args<2> {};

GE_GPU_BODY void CastThread(const CastArgs& a, int64_t i) {
  const void* x = a.at[1].data;
  void* y = a.at[0].data;
  const Number from = a.of[1], to = a.of[0];
  if (IsReal(from)) {
    const double v = RealAt(x, from, i);
    if (IsReal(to)) return StoreReal(y, to, i, v);
    if (to == Number::kBool) static_cast<uint8_t*>(y)[i] = v != 0;
    if (to != Number::kBool) StoreWhole(y, to, i, WholeOf(v));
    return;
  }
  const int64_t v = WholeAt(x, from, i);
  if (to == Number::kBool) {
    static_cast<uint8_t*>(y)[i] = v != 0;
  } else if (to == Number::kF64) {
    static_cast<double*>(y)[i] = from == Number::kU64
                                     ? static_cast<double>(static_cast<uint64_t>(v))
                                     : static_cast<double>(v);
  } else if (IsReal(to)) {  // to float32 first, which is one rounding, or as others do it
    StoreFloat(y, to, i,
               from == Number::kU64 ? static_cast<float>(static_cast<uint64_t>(v))
                                    : static_cast<float>(v));
  } else {
    StoreWhole(y, to, i, v);
  }
}

template <class T>
GE_GPU_BODY bool Tested(Relation test, T x, T y) {
  switch (test) {
    case Relation::kEqual:
      return x == y;
    case Relation::kLess:
      return x < y;
    case Relation::kGreater:
      return x > y;
    case Relation::kLessOrEqual:
      return x <= y;
    case Relation::kGreaterOrEqual:
      return x >= y;
    case Relation::kAnd:
      return x != 0 && y != 0;
    case Relation::kOr:
      return x != 0 || y != 0;
    case Relation::kXor:
      return (x != 0) != (y != 0);
    default:
      return x == 0;
  }
}

// Places: result, x, z.
struct RelationArgs : Args<3> {
  Axes axes;
  Strides strides[3];
  Relation test = Relation::kEqual;
  bool floats = false;  // 1 and 0 as float32, else as bool
};

GE_GPU_BODY void RelationThread(const RelationArgs& a, int64_t i) {
  const int z = a.test == Relation::kNot ? 1 : 2;
  const int64_t left = PlaceOf(a.axes, a.strides[1], i), right = PlaceOf(a.axes, a.strides[z], i);
  const Number of = a.of[1];
  bool yes = false;
  if (IsReal(of)) {
    yes = Tested(a.test, RealAt(a.at[1].data, of, left), RealAt(a.at[z].data, of, right));
  } else {
    const int64_t v = WholeAt(a.at[1].data, of, left), w = WholeAt(a.at[z].data, of, right);
    yes = of == Number::kU64 ? Tested(a.test, static_cast<uint64_t>(v), static_cast<uint64_t>(w))
                             : Tested(a.test, v, w);
  }
  if (a.floats) {
    a.out<float>(0)[i] = yes ? 1.0f : 0.0f;
  } else {
    a.out<uint8_t>(0)[i] = yes;
  }
}

}  // namespace ge_engines::gpu

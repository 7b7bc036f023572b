// Elementwise loops: one input, and two with broadcasting. An operation is a struct with a
// templated operator(); templates hold for any scalar that has the arithmetic (dual numbers too).
// kSets: which dtypes an operation takes.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>

#include "plugins/ref/checks.h"

namespace ref {

enum class Set { kFloat, kSigned, kInt, kUnsigned, kNumber, kNumberAndBool, kBool };

template <Set kSet, class F>
bool VisitSet(int32_t dtype, F&& call) {
  if constexpr (kSet == Set::kFloat) {
    return VisitFloat(dtype, call);
  } else if constexpr (kSet == Set::kSigned) {
    return VisitFloat(dtype, call) || VisitSignedInt(dtype, call);
  } else if constexpr (kSet == Set::kInt) {
    return VisitInt(dtype, call);
  } else if constexpr (kSet == Set::kUnsigned) {
    return VisitUnsignedInt(dtype, call);
  } else if constexpr (kSet == Set::kBool) {
    // As bytes: a caller's true may be any number but 0, and a C++ bool may not.
    return dtype == GE_BOOL && (call(Tag<uint8_t>()), true);
  } else if constexpr (kSet == Set::kNumber) {
    return VisitNumber(dtype, call);
  } else {
    return dtype == GE_BOOL ? (call(Tag<bool>()), true) : VisitNumber(dtype, call);
  }
}

// y = op(x). Op::kExact: in double for floats, else in Arith<T>.
template <class Op, class T>
ge_rc UnaryLoop(const Op& op, const Call& call) {
  using W = std::conditional_t<Op::kExact, Exact<T>, Arith<T>>;
  const Tensor x = call.in(0), y = call.out(0);
  const T* in = x.as<T>();
  T* out = y.as<T>();
  constexpr int64_t kBlock = 1 << 16;
  for (int64_t at = 0; at < y.count; at += kBlock) {
    const int64_t end = std::min(y.count, at + kBlock);
    for (int64_t i = at; i < end; ++i) out[i] = Narrow<T>(op(static_cast<W>(Widen(in[i]))));
    Spend(end - at);
  }
  return GE_OK;
}

template <Set kSet, class Op>
std::unique_ptr<Prepared> PrepareUnary(const NodeView& n, Why* why, const Op& op = {}) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  std::unique_ptr<Prepared> made;
  if (!VisitSet<kSet>(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([op](const Call& c) { return UnaryLoop<Op, T>(op, c); });
        made->in_place = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

// out[i] = op(left[i], right[i]) over a broadcasting nest (operands out, left, right). The nest
// is the same at every launch. With Op::kMayFail, op(left, right, &ok) may clear ok; the loop
// then stops.
template <class Op, class T, class R>
bool BinaryRun(const T* left, const T* right, R* out, int64_t n, int64_t sa, int64_t sb) {
  using W = Arith<T>;
  bool ok = true;
  const auto one = [&](W x, W y) {
    if constexpr (Op::kMayFail) {
      return Narrow<R>(Op()(x, y, &ok));
    } else {
      return Narrow<R>(Op()(x, y));
    }
  };
  if (sa == 1 && sb == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = one(Widen(left[i]), Widen(right[i]));
  } else if (sb == 0) {
    const W y = Widen(right[0]);
    for (int64_t i = 0; i < n; ++i) out[i] = one(Widen(left[i * sa]), y);
  } else if (sa == 0) {
    const W x = Widen(left[0]);
    for (int64_t i = 0; i < n; ++i) out[i] = one(x, Widen(right[i * sb]));
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = one(Widen(left[i * sa]), Widen(right[i * sb]));
  }
  return ok;
}

inline bool BroadcastNest(const TensorType& out, const TensorType& left, const TensorType& right,
                          LoopNest<3>* nest, Why* why) {
  int64_t so[kMaxRank], sa[kMaxRank], sb[kMaxRank];
  DenseStrides(out.shape(), so);
  if (!BroadcastStrides(left.shape(), out.shape(), sa) ||
      !BroadcastStrides(right.shape(), out.shape(), sb)) {
    return why->Say(GE_WHY_SHAPE, "the inputs do not broadcast to the output's shape");
  }
  for (int d = 0; d < out.rank; ++d) nest->Add(out.dims[d], {so[d], sa[d], sb[d]});
  return true;
}

// Bits of in_place: the input has the output's very shape and type.
inline uint64_t InPlaceBit(const NodeView& n, uint32_t i) {
  const bool same =
      n.has_in(i) && n.in(i).dtype == n.out(0).dtype && SameDims(n.in(i).shape(), n.out(0).shape());
  return same && i < 64 ? uint64_t{1} << i : 0;
}

template <Set kSet, class Op>
std::unique_ptr<Prepared> PrepareBinary(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.in(1), why)) return nullptr;
  LoopNest<3> nest;
  if (!BroadcastNest(n.out(0), n.in(0), n.in(1), &nest, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = std::conditional_t<Op::kPredicate, bool, T>;
    made = Make([nest](const Call& c) {
      const T *a = c.in(0).as<T>(), *b = c.in(1).as<T>();
      R* out = c.out(0).as<R>();
      const bool ok = nest.Run([&](const int64_t* o, int64_t m, const int64_t* s) {
        return BinaryRun<Op, T, R>(a + o[1], b + o[2], out + o[0], m, s[1], s[2]);
      });
      return ok ? GE_OK : c.Fail(GE_INVALID_ARGUMENT, "%s", Op::kFailure);
    });
  };
  const int32_t out_dtype = Op::kPredicate ? static_cast<int32_t>(GE_BOOL) : n.in(0).dtype;
  if (n.out(0).dtype != out_dtype || !VisitSet<kSet>(n.in(0).dtype, make)) {
    NoDType(n.in(0), why);
    return nullptr;
  }
  made->in_place = InPlaceBit(n, 0) | InPlaceBit(n, 1);
  return made;
}

// Integer arithmetic modulo 2^n, floats as they are.
template <class W>
auto Wrap(W value) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<uint64_t>(value);
  } else {
    return value;
  }
}

}  // namespace ref

#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

// Exponents are of any numeric type; each base type reads them through one of these.
struct Exponent {
  int64_t (*as_int)(const void* p, int64_t i);
  double (*as_double)(const void* p, int64_t i);
  bool is_float, is_unsigned;
};

template <class E>
Exponent ExponentOf() {
  return {[](const void* p, int64_t i) {
            return static_cast<int64_t>(Narrow<int64_t>(Widen(Load(static_cast<const E*>(p), i))));
          },
          [](const void* p, int64_t i) {
            return static_cast<double>(Widen(Load(static_cast<const E*>(p), i)));
          },
          kIsFloat<E>, std::is_same_v<E, uint64_t>};
}

// Integer power modulo 2^64. A negative exponent gives what truncation of the quotient gives.
int64_t IntPow(int64_t base, int64_t exponent, bool is_unsigned) {
  uint64_t e = static_cast<uint64_t>(exponent);
  if (exponent < 0 && !is_unsigned) {
    if (base == 1) return 1;
    return base == -1 ? ((e & 1) != 0 ? -1 : 1) : 0;
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (; e != 0; e >>= 1, square *= square) {
    if ((e & 1) != 0) result *= square;
  }
  return static_cast<int64_t>(result);
}

template <class T>
T PowOf(T base, const Exponent& e, const void* p, int64_t i) {
  if constexpr (std::is_integral_v<T>) {
    if (!e.is_float) return static_cast<T>(IntPow(base, e.as_int(p, i), e.is_unsigned));
  }
  return Narrow<T>(std::pow(static_cast<double>(Widen(base)), e.as_double(p, i)));
}

std::unique_ptr<Prepared> PreparePow(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  LoopNest<3> nest;
  if (!BroadcastNest(n.out(0), n.in(0), n.in(1), &nest, why)) return nullptr;
  Exponent e{};
  if (!VisitNumber(n.in(1).dtype,
                   [&](auto tag) { e = ExponentOf<typename decltype(tag)::type>(); })) {
    NoDType(n.in(1), why);
    return nullptr;
  }
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([nest, e](const Call& c) {
      const T* a = c.in(0).as<T>();
      const void* b = c.in(1).data;
      T* out = c.out(0).as<T>();
      nest.Run([&](const int64_t* o, int64_t m, const int64_t* s) {
        for (int64_t i = 0; i < m; ++i) {
          out[o[0] + i] = PowOf<T>(a[o[1] + i * s[1]], e, b, o[2] + i * s[2]);
        }
        return true;
      });
      return static_cast<ge_rc>(GE_OK);
    });
  };
  const int32_t dtype = n.in(0).dtype;
  if (!VisitFloat(dtype, make) && (!IsIndexDType(dtype) || !VisitWideInt(dtype, make))) {
    NoDType(n.in(0), why);
    return nullptr;
  }
  made->in_place = InPlaceBit(n, 0) | InPlaceBit(n, 1);
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(pow, "Pow", PreparePow)

// Shared by random cases of elementwise operators and reductions. Ranges are such that integers
// never overflow 32 bits, so that runs in i32 and i64 agree to the bit.
#pragma once

#include <algorithm>

#include "tools/ge_test/random_case.h"

namespace ge::test {

// Unsigned differences and 8-bit products wrap alike in every width.
inline double Least(const CaseMaker& maker) { return IsFloat(maker.dtype()) ? -3 : -20; }

inline double Greatest(const CaseMaker& maker) { return IsFloat(maker.dtype()) ? 3 : 20; }

// Two shapes that broadcast to a third; equal half the time.
inline std::pair<Dims, Dims> BroadcastPair(CaseMaker& maker) {
  const Dims to = maker.Shape(0, 4);
  if (maker.r.Chance(0.4)) return {to, to};
  Dims a = to, b = maker.Narrowed(to);
  if (maker.r.Chance(0.5)) std::swap(a, b);
  // Each may be 1 if the other is not.
  Dims& whole = a.size() >= b.size() ? a : b;
  const Dims& other = a.size() >= b.size() ? b : a;
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& d = whole[whole.size() - 1 - i];
    if (other[other.size() - 1 - i] == d && maker.r.Chance(0.15)) d = 1;
  }
  return {a, b};
}

// Numbers without zero and its neighbours.
inline std::shared_ptr<HostTensor> AwayFromZero(CaseMaker& maker, const Dims& dims, bool negative) {
  auto t = maker.Numbers(maker.dtype(), dims, IsFloat(maker.dtype()) ? 0.25 : 1,
                         IsFloat(maker.dtype()) ? 3 : 9);
  const bool is_signed = IsFloat(maker.dtype()) || (Bit(maker.dtype()) & kSignedInts) != 0;
  for (int64_t i = 0, n = t->count(); negative && is_signed && i < n; ++i) {
    if (maker.r.Chance(0.5)) SetElement(t.get(), i, -ElementAsDouble(*t, i));
  }
  return t;
}

inline void BinaryCase(CaseMaker& maker) {
  const auto [a, b] = BroadcastPair(maker);
  maker.Add(maker.Numbers(maker.dtype(), a, Least(maker), Greatest(maker)));
  maker.Add(maker.Numbers(maker.dtype(), b, Least(maker), Greatest(maker)));
}

inline void UnaryCase(CaseMaker& maker) {
  maker.Add(maker.Numbers(maker.dtype(), maker.Shape(0, 4), Least(maker), Greatest(maker)));
}

inline void AwayFromZeroCase(CaseMaker& maker) {
  const bool negative = std::string_view(maker.c.op->name) != "Sqrt";
  maker.Add(AwayFromZero(maker, maker.Shape(0, 4), negative));
}

}  // namespace ge::test

// What random cases of Cast, CastLike and BitCast share: pairs of dtypes, wide and narrow, and a
// plain conversion of one element.
#pragma once

#include "tools/ge_test/plain.h"
#include "tools/ge_test/random_elementwise.h"

namespace ge::test {

inline const std::vector<DType>& NarrowTypes() {
  static const std::vector<DType> kNarrow = {DType::kFloat8e4m3fn, DType::kFloat8e4m3fnuz,
                                             DType::kFloat8e5m2,   DType::kFloat8e5m2fnuz,
                                             DType::kFloat8e8m0,   DType::kFloat4e2m1,
                                             DType::kUint4,        DType::kInt4,
                                             DType::kUint2,        DType::kInt2};
  return kNarrow;
}

// Adds the input of a conversion and answers the dtype that it goes to.
inline DType AddCastInput(CaseMaker& m) {
  static const std::vector<DType> kWide = {
      DType::kFloat,  DType::kDouble, DType::kFloat16, DType::kBfloat16, DType::kInt8,
      DType::kInt16,  DType::kInt32,  DType::kInt64,   DType::kUint8,    DType::kUint16,
      DType::kUint32, DType::kUint64, DType::kBool};
  // Engines that know one type alone take what stays as it is.
  const bool same = m.r.Chance(0.1), narrow_from = !same && m.r.Chance(0.3);
  const DType from = narrow_from ? m.r.Pick(NarrowTypes()) : m.dtype();
  const DType to = same ? from : m.r.Pick(m.r.Chance(0.5) ? kWide : NarrowTypes());
  // A negative float has no unsigned value and no exponent alone.
  const bool negative = (Bit(to) & (kUnsignedInts | Bit(DType::kUint4) | Bit(DType::kUint2) |
                                    Bit(DType::kFloat8e8m0))) == 0;
  m.Add(m.Numbers(from, m.Shape(0, 4), negative ? Least(m) * 5 : 0, Greatest(m) * 5));
  m.c.typed = !narrow_from && !IsFloat(to);
  return to;
}

// The least power of two that is not less; 0 is the least code.
inline int64_t ExponentCode(double v) {
  int64_t code = 0;
  while (code < 254 && std::ldexp(1.0, static_cast<int>(code) - 127) < std::fabs(v)) ++code;
  return code;
}

inline bool PlainCastTo(const HostTensor& x, HostTensor* out) {
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    const double v = ElementAsDouble(x, i);
    if (out->dtype == DType::kBool) {
      SetIntElement(out, i, v != 0);
    } else if (out->dtype == DType::kFloat8e8m0) {
      SetIntElement(out, i, ExponentCode(v));
    } else if (IsFloat(out->dtype)) {
      SetElement(out, i, v);
    } else {
      SetIntElement(out, i, IsFloat(x.dtype) ? static_cast<int64_t>(v) : ElementAsInt(x, i));
    }
  }
  return true;
}

}  // namespace ge::test

// Shared by random cases of Cast, CastLike and BitCast: pairs of dtypes, wide and narrow, and a
// plain conversion of one element.
#pragma once

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {

inline const std::vector<DType>& NarrowTypes() {
  static const std::vector<DType> kNarrow = {DType::kFloat8e4m3fn, DType::kFloat8e4m3fnuz,
                                             DType::kFloat8e5m2,   DType::kFloat8e5m2fnuz,
                                             DType::kFloat8e8m0,   DType::kFloat4e2m1,
                                             DType::kUint4,        DType::kInt4,
                                             DType::kUint2,        DType::kInt2};
  return kNarrow;
}

inline bool IsFloat8(DType dtype) { return (Bit(dtype) & (kFloat8s)) != 0; }

// Sets attributes of float8; returns whether numbers beyond its ends are wanted.
inline bool SetCastWays(CaseMaker& maker, DType to) {
  if (to == DType::kFloat8e8m0 && maker.r.Chance(0.6)) {
    maker.Set("round_mode", maker.r.Pick(std::vector<std::string>{"up", "down", "nearest"}));
  }
  if (!IsFloat8(to) || maker.r.Chance(0.4)) return false;
  if (maker.r.Chance(0.6)) maker.Set("saturate", int64_t{0});
  return true;
}

// Adds the input of a conversion and returns the target dtype.
inline DType AddCastInput(CaseMaker& maker, const std::vector<DType>& narrow = NarrowTypes()) {
  static const std::vector<DType> kWide = {
      DType::kFloat,  DType::kDouble, DType::kFloat16, DType::kBfloat16, DType::kInt8,
      DType::kInt16,  DType::kInt32,  DType::kInt64,   DType::kUint8,    DType::kUint16,
      DType::kUint32, DType::kUint64, DType::kBool};
  // Equal types now and then: engines for one type take these.
  const bool same = maker.r.Chance(0.1), narrow_from = !same && maker.r.Chance(0.3);
  const DType from = narrow_from ? maker.r.Pick(narrow) : maker.dtype();
  const DType to = same ? from : maker.r.Pick(maker.r.Chance(0.5) ? kWide : narrow);
  // A negative float has no unsigned value and no exponent alone.
  const bool negative = (Bit(to) & (kUnsignedInts | Bit(DType::kUint4) | Bit(DType::kUint2) |
                                    Bit(DType::kFloat8e8m0))) == 0;
  // Beyond the ends of a float8, where `saturate` decides.
  const double most =
      SetCastWays(maker, to) ? (from == DType::kFloat16 ? 65000 : 90000) : Greatest(maker) * 5;
  const bool small = to == DType::kFloat8e4m3fn || to == DType::kFloat8e4m3fnuz;
  const double end = most > 60000 && small ? 900 : most;
  maker.Add(maker.Numbers(from, maker.Shape(0, 4),
                          negative ? (end > 800 ? -end : Least(maker) * 5) : 0, end));
  maker.c.typed = !narrow_from && !IsFloat(to);
  return to;
}

// Exponent bits of the least power of two not below `value`; 0 has the least bits.
inline int64_t ExponentCode(double value) {
  int64_t code = 0;
  while (code < 254 && std::ldexp(1.0, static_cast<int>(code) - 127) < std::fabs(value)) ++code;
  return code;
}

// The same by round_mode; a number half way goes up.
inline int64_t ExponentCode(const std::string& mode, double value) {
  const int64_t up = ExponentCode(value);
  const double power = std::ldexp(1.0, static_cast<int>(up) - 127);
  if (mode == "up" || up == 0 || value == power) return up;
  return mode == "down" || value < 0.75 * power ? up - 1 : up;
}

// Half a step beyond its greatest number; from there on a float8 has no number.
inline double Float8End(DType dtype) {
  if (dtype == DType::kFloat8e4m3fn) return 464;
  return dtype == DType::kFloat8e4m3fnuz ? 248 : 61440;
}

// Sets an element with `saturate` 0: beyond the ends it is an infinity or, without one, NaN.
inline void SetUnsaturated(HostTensor* out, int64_t i, double value) {
  if (IsFloat8(out->dtype) && std::fabs(value) >= Float8End(out->dtype)) {
    if (out->dtype == DType::kFloat8e5m2) return SetIntElement(out, i, value < 0 ? 0xfc : 0x7c);
    value = std::numeric_limits<double>::quiet_NaN();
  }
  SetElement(out, i, value);
}

inline bool PlainCastTo(const RandomCase& sample, HostTensor* out) {
  const HostTensor& x = *sample.inputs[0].tensor;
  const Attr* mode = FindAttr(sample, "round_mode");
  const bool saturates = IntOr(sample, "saturate", 1) != 0;
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    const double v = ElementAsDouble(x, i);
    if (out->dtype == DType::kBool) {
      SetIntElement(out, i, v != 0);
    } else if (out->dtype == DType::kFloat8e8m0) {
      SetIntElement(out, i,
                    ExponentCode(mode != nullptr ? std::get<std::string>(mode->value) : "up", v));
    } else if (IsFloat(out->dtype)) {
      saturates ? SetElement(out, i, v) : SetUnsaturated(out, i, v);
    } else {
      SetIntElement(out, i, IsFloat(x.dtype) ? static_cast<int64_t>(v) : ElementAsInt(x, i));
    }
  }
  return true;
}

}  // namespace ge::test

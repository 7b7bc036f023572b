// Conversions between float32 and the two 16-bit floats. Where the set has no instruction they use
// integer arithmetic: nothing here depends on the thread's float mode.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

template <class D>
using CodesOf = hn::Rebind<uint16_t, D>;

template <class D>
GE_INLINE hn::Vec<IntsOf<D>> LoadCodes(D, const uint16_t* p) {
  return hn::PromoteTo(IntsOf<D>(), hn::LoadU(CodesOf<D>(), p));
}
// Bits below 2^16.
template <class D>
GE_INLINE void StoreCodes(D, hn::Vec<IntsOf<D>> codes, uint16_t* p) {
  hn::StoreU(hn::DemoteTo(CodesOf<D>(), codes), CodesOf<D>(), p);
}

template <class D>
GE_INLINE hn::Vec<D> FromHalf(D d, const uint16_t* p) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kLanesOf<D> == 16) {
    return hn::Vec<D>{_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
#endif
  const IntsOf<D> di;
  const auto code = LoadCodes(d, p);
  const auto sign = hn::ShiftLeft<16>(hn::And(code, hn::Set(di, 0x8000)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(code, hn::Set(di, 0x7fff)));
  // Infinity and NaN: the greatest exponent there becomes the greatest here.
  const auto top = hn::Gt(magnitude, hn::Set(di, (0x7c00 << 13) - 1));
  const auto rebias = hn::IfThenElse(top, hn::Set(di, 224 << 23), hn::Set(di, 112 << 23));
  // Below the least normal: read as 2^-14 (1 + m), from which 2^-14 is taken. All are normal here.
  const auto shifted = hn::BitCast(d, hn::Add(magnitude, hn::Set(di, 113 << 23)));
  const auto small = hn::BitCast(di, hn::Sub(shifted, hn::Set(d, 0x1p-14f)));
  const auto low = hn::Lt(magnitude, hn::Set(di, 0x0400 << 13));
  return hn::BitCast(d, hn::Or(sign, hn::IfThenElse(low, small, hn::Add(magnitude, rebias))));
}

template <class D>
GE_INLINE void ToHalf(D d, hn::Vec<D> v, uint16_t* p) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kLanesOf<D> == 16) {
    const auto codes = _mm512_cvtps_ph(v.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), codes);
    return;
  }
#endif
  const IntsOf<D> di;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(di, v);
  const auto sign = hn::BitCast(di, hn::ShiftRight<31>(hn::BitCast(du, bits)));
  const auto magnitude = hn::And(bits, hn::Set(di, 0x7fffffff));
  // To even: half a unit less one, and one where the last bit that stays is set.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
  const auto rounded = hn::Add(magnitude, hn::Add(odd, hn::Set(di, 0xfff - (112 << 23))));
  const auto normal = hn::Min(hn::ShiftRight<13>(rounded), hn::Set(di, 0x7c00));
  // A unit of 0.5 is the unit of these: the sum rounds.
  const auto half = hn::Set(d, 0.5f);
  const auto sum = hn::Add(hn::BitCast(d, magnitude), half);
  const auto small = hn::Sub(hn::BitCast(di, sum), hn::BitCast(di, half));
  const auto low = hn::Lt(magnitude, hn::Set(di, 113 << 23));
  const auto nan = hn::Gt(magnitude, hn::Set(di, 0x7f800000));
  const auto code = hn::IfThenElse(nan, hn::Set(di, 0x7e00), hn::IfThenElse(low, small, normal));
  StoreCodes(d, hn::Or(hn::ShiftLeft<15>(sign), code), p);
}

template <class D>
GE_INLINE hn::Vec<D> FromBrain(D d, const uint16_t* p) {
  return hn::BitCast(d, hn::ShiftLeft<16>(LoadCodes(d, p)));
}

template <class D>
GE_INLINE void ToBrain(D d, hn::Vec<D> v, uint16_t* p) {
  const IntsOf<D> di;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto high = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(high, hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu))));
  const auto magnitude = hn::BitCast(di, hn::And(bits, hn::Set(du, 0x7fffffffu)));
  const auto nan = hn::Gt(magnitude, hn::Set(di, 0x7f800000));
  const auto quiet = hn::BitCast(di, hn::Or(high, hn::Set(du, 0x40u)));
  StoreCodes(d, hn::IfThenElse(nan, quiet, hn::BitCast(di, rounded)), p);
}

}  // namespace

void WidenHalfRow(const uint16_t* x, float* y, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA { hn::StoreU(FromHalf(d, x + i), d, y + i); });
}

void NarrowHalfRow(const float* x, uint16_t* y, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA { ToHalf(d, hn::LoadU(d, x + i), y + i); });
}

void WidenBrainRow(const uint16_t* x, float* y, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA { hn::StoreU(FromBrain(d, x + i), d, y + i); });
}

void NarrowBrainRow(const float* x, uint16_t* y, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA { ToBrain(d, hn::LoadU(d, x + i), y + i); });
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();

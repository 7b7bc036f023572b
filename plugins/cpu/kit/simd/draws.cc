// Random numbers of plugins/units/philox.h, blocks side by side.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

using DrawDoubles = hn::Simd<double, HWY_LANES(double), 0>;
using DrawVec = hn::Vec<DrawDoubles>;
using DrawBlocks =
    hn::RebindToUnsigned<DrawDoubles>;  // a word of a block in the low half of each lane
using BlockWords = hn::Vec<DrawBlocks>;
constexpr int64_t kBlocks = HWY_LANES(double);

GE_INLINE BlockWords TimesWord(BlockWords words, uint32_t factor) {
  const hn::Repartition<uint32_t, DrawBlocks> d;
  return hn::MulEven(hn::BitCast(d, words), hn::Set(d, factor));  // high halves do not count
}

// [0, 1) by the 53 highest bits of two words.
GE_INLINE DrawVec Uniform(BlockWords low, BlockWords high) {
  const DrawBlocks d;
  const BlockWords all =
      hn::Or(hn::ShiftLeft<32>(high), hn::And(low, hn::Set(d, uint64_t{0xffffffff})));
  const hn::RebindToSigned<DrawDoubles> di;
  return hn::Mul(hn::ConvertTo(DrawDoubles(), hn::BitCast(di, hn::ShiftRight<11>(all))),
                 hn::Set(DrawDoubles(), 0x1p-53));
}

// log(x) of x in (0, 1], within a few units of the last place: e ln 2 + log(m), m in
// [sqrt(1/2), sqrt 2), by the series of s = (m - 1) / (m + 1).
GE_INLINE DrawVec LogOfShare(DrawVec x) {
  const DrawDoubles d;
  const hn::RebindToSigned<DrawDoubles> di;
  const auto bits = hn::BitCast(di, x);
  const auto e = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(di, int64_t{0x3fe6a09e667f3bcd})));
  const DrawVec f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(e))), hn::Set(d, 1.0));
  const DrawVec s = hn::Div(f, hn::Add(f, hn::Set(d, 2.0)));
  const DrawVec z = hn::Mul(s, s);
  DrawVec p = hn::Set(d, 2.0 / 21);
  for (int k = 19; k >= 3; k -= 2) p = hn::MulAdd(p, z, hn::Set(d, 2.0 / k));
  const DrawVec turns = hn::ConvertTo(d, e);
  DrawVec y = hn::MulAdd(hn::Mul(p, z), s, hn::Mul(turns, hn::Set(d, 7.440617110012397e-11)));
  y = hn::Add(y, hn::Add(s, s));
  return hn::MulAdd(turns, hn::Set(d, 0.6931471804855391), y);  // ln 2 in two parts
}

// Cosine and sine of t in [0, 2 pi].
GE_INLINE void Circle(DrawVec t, DrawVec* cosine, DrawVec* sine) {
  const DrawDoubles d;
  const hn::RebindToSigned<DrawDoubles> di;
  const DrawVec quarter = hn::Round(hn::Mul(t, hn::Set(d, 0.63661977236758138)));
  // pi / 2 in three parts, of which the products with 0 to 4 are exact.
  DrawVec r = hn::NegMulAdd(quarter, hn::Set(d, 0x1.921fb544p+0), t);
  r = hn::NegMulAdd(quarter, hn::Set(d, 0x1.0b4611a6p-34), r);
  r = hn::NegMulAdd(quarter, hn::Set(d, 0x1.3198a2e037073p-69), r);
  const DrawVec z = hn::Mul(r, r), one = hn::Set(d, 1.0);
  constexpr double kSine[] = {-1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
                              -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  constexpr double kCosine[] = {
      -1.0 / 2,       1.0 / 24,        -1.0 / 720,         1.0 / 40320,
      -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
  DrawVec a = hn::Set(d, kSine[6]), b = hn::Set(d, kCosine[7]);
  for (int k = 5; k >= 0; --k) a = hn::MulAdd(a, z, hn::Set(d, kSine[k]));
  for (int k = 6; k >= 0; --k) b = hn::MulAdd(b, z, hn::Set(d, kCosine[k]));
  a = hn::MulAdd(hn::Mul(a, z), r, r);
  b = hn::MulAdd(b, z, one);
  const auto k = hn::ConvertTo(di, quarter);
  const auto odd = hn::RebindMask(d, hn::Ne(hn::And(k, hn::Set(di, int64_t{1})), hn::Zero(di)));
  // Quarters 1 and 2 have a negative cosine, 2 and 3 a negative sine.
  const auto turn = [&](auto from) GE_LAMBDA {
    return hn::BitCast(d, hn::ShiftLeft<62>(hn::And(from, hn::Set(di, int64_t{2}))));
  };
  *cosine = hn::Xor(hn::IfThenElse(odd, a, b), turn(hn::Add(k, hn::Set(di, int64_t{1}))));
  *sine = hn::Xor(hn::IfThenElse(odd, b, a), turn(k));
}

}  // namespace

void PhiloxPairs(uint32_t low, uint32_t high, uint64_t block, double* y, int64_t blocks) {
  const DrawBlocks d;
  for (int64_t i = 0; i < blocks; i += kBlocks) {
    const BlockWords place = hn::Iota(d, block + static_cast<uint64_t>(i));
    BlockWords w0 = place, w1 = hn::ShiftRight<32>(place), w2 = hn::Zero(d), w3 = hn::Zero(d);
    uint32_t k0 = low, k1 = high;
    for (int round = 0; round < 10; ++round) {
      const BlockWords a = TimesWord(w0, 0xD2511F53), b = TimesWord(w2, 0xCD9E8D57);
      w0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(b), w1), hn::Set(d, uint64_t{k0}));
      w2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(a), w3), hn::Set(d, uint64_t{k1}));
      w1 = b;
      w3 = a;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    hn::StoreInterleaved2(Uniform(w0, w1), Uniform(w2, w3), DrawDoubles(), y + 2 * i);
  }
}

void NormalPairs(double* y, int64_t pairs) {
  const DrawDoubles d;
  for (int64_t i = 0; i < pairs; i += kBlocks) {
    DrawVec p, q, cosine, sine;
    hn::LoadInterleaved2(d, y + 2 * i, p, q);
    const DrawVec minus = hn::Mul(hn::Set(d, -2.0), LogOfShare(hn::Sub(hn::Set(d, 1.0), p)));
    const DrawVec r = hn::Sqrt(minus);
    Circle(hn::Mul(hn::Set(d, 6.28318530717958648), q), &cosine, &sine);
    hn::StoreInterleaved2(hn::Mul(r, cosine), hn::Mul(r, sine), d, y + 2 * i);
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();

// Rows of an optimizer's step.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_cpu {
namespace GE_SIMD_ISA {

void AdamRow(const StepFactors& f, const float* const* in, float* const* out, int64_t n) {
  const float *const p = in[0], *const m = in[1], *const s = in[2], *const g = in[3];
  float *const to_p = out[0], *const to_m = out[1], *const to_s = out[2];
  const StepFactors k = f;
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    const auto of = [&](float v) GE_LAMBDA { return hn::Set(d, v); };
    const auto weight = hn::LoadU(d, p + i);
    const auto slope = hn::MulAdd(weight, of(k.decay), hn::LoadU(d, g + i));
    const auto mean = hn::MulAdd(hn::LoadU(d, m + i), of(k.keep1), hn::Mul(slope, of(k.add1)));
    const auto square =
        hn::MulAdd(hn::LoadU(d, s + i), of(k.keep2), hn::Mul(hn::Mul(slope, of(k.add2)), slope));
    const auto below = hn::MulAdd(hn::Sqrt(square), of(k.second), of(k.eps));
    const auto step = hn::Div(hn::Mul(mean, of(k.rate)), below);
    hn::StoreU(mean, d, to_m + i);
    hn::StoreU(square, d, to_s + i);
    hn::StoreU(hn::MulSub(weight, of(k.keep), step), d, to_p + i);
  });
}

void MomentumRow(const StepFactors& f, const float* const* in, float* const* out, int64_t n) {
  const float *const p = in[0], *const v = in[1], *const g = in[2];
  float *const to_p = out[0], *const to_v = out[1];
  const StepFactors k = f;
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    const auto of = [&](float x) GE_LAMBDA { return hn::Set(d, x); };
    const auto weight = hn::LoadU(d, p + i);
    const auto slope = hn::MulAdd(weight, of(k.decay), hn::LoadU(d, g + i));
    const auto speed = hn::MulAdd(hn::LoadU(d, v + i), of(k.keep1), slope);
    const auto step = hn::MulAdd(speed, of(k.slot), hn::Mul(slope, of(k.slope)));
    hn::StoreU(speed, d, to_v + i);
    hn::StoreU(hn::NegMulAdd(step, of(k.rate), weight), d, to_p + i);
  });
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_cpu
HWY_AFTER_NAMESPACE();

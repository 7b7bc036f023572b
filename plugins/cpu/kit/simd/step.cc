// Rows of an optimizer's step.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {

void AdamRow(const StepFactors& factors, const float* const* in, float* const* out, int64_t n) {
  const float *const p = in[0], *const m = in[1], *const s = in[2], *const g = in[3];
  float *const to_p = out[0], *const to_m = out[1], *const to_s = out[2];
  const StepFactors k = factors;
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

void MomentumRow(const StepFactors& factors, const float* const* in, float* const* out, int64_t n) {
  const float *const p = in[0], *const v = in[1], *const g = in[2];
  float *const to_p = out[0], *const to_v = out[1];
  const StepFactors k = factors;
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    const auto of = [&](float x) GE_LAMBDA { return hn::Set(d, x); };
    const auto weight = hn::LoadU(d, p + i);
    const auto slope = hn::Mul(hn::MulAdd(weight, of(k.decay), hn::LoadU(d, g + i)), of(k.gain));
    const auto speed = hn::MulAdd(hn::LoadU(d, v + i), of(k.keep1), slope);
    const auto step = hn::MulAdd(speed, of(k.slot), hn::Mul(slope, of(k.slope)));
    hn::StoreU(speed, d, to_v + i);
    hn::StoreU(hn::NegMulAdd(step, of(k.rate), weight), d, to_p + i);
  });
}

void SquareRow(const StepFactors& factors, const float* const* in, float* const* out, int64_t n) {
  const float *const p = in[0], *const s = in[1], *const g = in[2];
  float *const to_p = out[0], *const to_s = out[1];
  const StepFactors k = factors;
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    const auto of = [&](float v) GE_LAMBDA { return hn::Set(d, v); };
    const auto weight = hn::LoadU(d, p + i);
    const auto slope = hn::MulAdd(weight, of(k.decay), hn::LoadU(d, g + i));
    const auto square =
        hn::MulAdd(hn::LoadU(d, s + i), of(k.keep2), hn::Mul(hn::Mul(slope, of(k.add2)), slope));
    const auto step = hn::Div(hn::Mul(slope, of(k.rate)), hn::Add(hn::Sqrt(square), of(k.eps)));
    hn::StoreU(square, d, to_s + i);
    hn::StoreU(hn::Sub(weight, step), d, to_p + i);
  });
}

void LionRow(const StepFactors& factors, const float* const* in, float* const* out, int64_t n) {
  const float *const p = in[0], *const m = in[1], *const g = in[2];
  float *const to_p = out[0], *const to_m = out[1];
  const StepFactors k = factors;
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    const auto of = [&](float v) GE_LAMBDA { return hn::Set(d, v); };
    const auto weight = hn::LoadU(d, p + i), slope = hn::LoadU(d, g + i);
    const auto mean = hn::LoadU(d, m + i);
    const auto way = hn::MulAdd(mean, of(k.keep1), hn::Mul(slope, of(k.add1)));
    // Of zero there is no sign, and of NaN it is NaN.
    const auto moved = hn::IfThenElseZero(hn::Ne(way, hn::Zero(d)), hn::CopySign(of(k.rate), way));
    const auto step = hn::IfThenElse(hn::IsNaN(way), way, moved);
    hn::StoreU(hn::MulAdd(mean, of(k.keep2), hn::Mul(slope, of(k.add2))), d, to_m + i);
    hn::StoreU(hn::MulSub(weight, of(k.keep), step), d, to_p + i);
  });
}

namespace {

template <class D>
struct Squares {
  hn::Vec<D> weight, step;
};

template <class D>
GE_INLINE Squares<D> SquaresAt(D d, const StepFactors& k, const float* const* in, int64_t i) {
  const auto of = [&](float v) GE_LAMBDA { return hn::Set(d, v); };
  const auto weight = hn::LoadU(d, in[0] + i), slope = hn::LoadU(d, in[3] + i);
  const auto mean = hn::MulAdd(hn::LoadU(d, in[1] + i), of(k.keep1), hn::Mul(slope, of(k.add1)));
  const auto square =
      hn::MulAdd(hn::LoadU(d, in[2] + i), of(k.keep2), hn::Mul(hn::Mul(slope, of(k.add2)), slope));
  const auto below = hn::MulAdd(hn::Sqrt(square), of(k.second), of(k.eps));
  const auto step = hn::MulAdd(weight, of(k.slot), hn::Div(hn::Mul(mean, of(k.rate)), below));
  return {hn::Mul(weight, weight), hn::Mul(step, step)};
}

}  // namespace

void AdamSquares(const StepFactors& factors, const float* const* in, int64_t n, float* weight,
                 float* step) {
  const Full d;
  auto weights = hn::Zero(d), steps = hn::Zero(d);
  int64_t i = 0;
  for (; i + kMaxLanes <= n; i += kMaxLanes) {
    const Squares<Full> s = SquaresAt(d, factors, in, i);
    weights = hn::Add(weights, s.weight);
    steps = hn::Add(steps, s.step);
  }
  float w = 0, t = 0;
  Rest<kMaxLanes / 2>(i, n, [&](auto p, int64_t at) GE_LAMBDA {
    const auto s = SquaresAt(p, factors, in, at);
    w += hn::GetLane(hn::SumOfLanes(p, s.weight)), t += hn::GetLane(hn::SumOfLanes(p, s.step));
  });
  *weight += hn::GetLane(hn::SumOfLanes(d, weights)) + w;
  *step += hn::GetLane(hn::SumOfLanes(d, steps)) + t;
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();

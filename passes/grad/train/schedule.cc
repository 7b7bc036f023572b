#include "passes/grad/train/schedule.h"

#include <numbers>

namespace ge::grad {
namespace {

Val Least(Val a, Val b) { return a.fn->Op("Min", {a, b}); }
Val Most(Val a, double b) { return a.fn->Op("Max", {a, a.fn->Scalar(GE_F64, b)}); }

// From `begin` at part 0 to `end` at part 1 on half a wave.
Val HalfWave(double begin, double end, Val part) {
  return end + (begin - end) / 2 * (1 + Cos(part * std::numbers::pi));
}

// Up for three tenths of the way and down below where it began: torch's OneCycleLR as it is made
// without further options.
Val OneCycle(double lr, double steps, Val t) {
  const double begin = lr / 25, end = begin / 1e4, top = 0.3 * steps - 1, last = steps - 1;
  const Val rise = HalfWave(begin, lr, t / top), fall = HalfWave(lr, end, (t - top) / (last - top));
  return Where(Compare("LessOrEqual", t, top), rise, fall);
}

Val Shape(const TrainSettings& s, Val t) {
  Fn& fn = *t.fn;
  const double steps = static_cast<double>(s.steps - s.warmup);
  if (s.schedule == "step") {
    const Val times = Unary("Floor", t / static_cast<double>(s.every));
    return s.lr * fn.Op("Pow", {fn.Scalar(GE_F64, s.decay), times});
  }
  const Val held = Least(t, fn.Scalar(GE_F64, s.schedule == "one-cycle" ? steps - 1 : steps));
  if (s.schedule == "cosine") return HalfWave(s.lr, s.lr_min, held / steps);
  if (s.schedule == "poly") {
    return s.lr_min + (s.lr - s.lr_min) * Pow(1 - held / steps, s.power);
  }
  if (s.schedule == "one-cycle") return OneCycle(s.lr, steps, held);
  return fn.Scalar(GE_F64, s.lr);
}

}  // namespace

Val RateAt(const TrainSettings& settings, Val done) {
  if (settings.warmup == 0) return Shape(settings, done);
  const double warmup = static_cast<double>(settings.warmup);
  const Val rising = (done + 1) * (settings.lr / warmup);
  return Where(Compare("Less", done, warmup), rising, Shape(settings, Most(done - warmup, 0)));
}

}  // namespace ge::grad

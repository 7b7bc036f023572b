// Arithmetic of integers and of float64, questions about floats, PRelu.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/units/functions.h"

namespace ge_engines::gpu {

GE_GPU_BODY int BitsOf(Number n) {
  switch (n) {
    case Number::kI8:
    case Number::kU8:
    case Number::kBool:
      return 8;
    case Number::kI16:
    case Number::kU16:
      return 16;
    case Number::kI32:
    case Number::kU32:
      return 32;
    default:
      return 64;
  }
}
GE_GPU_BODY bool IsSigned(Number n) {
  return n == Number::kI8 || n == Number::kI16 || n == Number::kI32 || n == Number::kI64;
}

GE_GPU_BODY int64_t Shifted(Number n, bool left, int64_t x, int64_t by) {
  const bool beyond = by < 0 || by >= BitsOf(n);
  if (left) return beyond ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << by);
  if (IsSigned(n)) return beyond ? (x < 0 ? -1 : 0) : x >> by;
  return beyond ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) >> by);
}

// Quotient, or what is left of it, rounded to zero; `down`: the rest has the divisor's sign.
GE_GPU_BODY int64_t Divided(Number n, Fn fn, int64_t x, int64_t z) {
  if (z == 0) {
    Refuse();
    return 0;
  }
  if (!IsSigned(n)) {
    const auto left = static_cast<uint64_t>(x), right = static_cast<uint64_t>(z);
    return static_cast<int64_t>(fn == Fn::kDiv ? left / right : left % right);
  }
  if (z == -1) return fn == Fn::kDiv ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : 0;
  if (fn == Fn::kDiv) return x / z;
  const int64_t rest = x % z;
  return fn == Fn::kMod && rest != 0 && (rest < 0) != (z < 0) ? rest + z : rest;
}

GE_GPU_BODY int64_t WholeFn(Number n, Fn fn, int64_t x, int64_t z) {
  const auto left = static_cast<uint64_t>(x), right = static_cast<uint64_t>(z);
  const bool less = IsSigned(n) ? x < z : left < right;
  switch (fn) {
    case Fn::kAdd:
      return static_cast<int64_t>(left + right);
    case Fn::kSub:
      return static_cast<int64_t>(left - right);
    case Fn::kRSub:
      return static_cast<int64_t>(right - left);
    case Fn::kMul:
      return static_cast<int64_t>(left * right);
    case Fn::kMax:
      return less ? z : x;
    case Fn::kMin:
      return less ? x : z;
    case Fn::kAnd:
      return x & z;
    case Fn::kOr:
      return x | z;
    case Fn::kXor:
      return x ^ z;
    case Fn::kShiftLeft:
    case Fn::kShiftRight:
      return Shifted(n, fn == Fn::kShiftLeft, x, z);
    case Fn::kAbs:
      return x < 0 ? static_cast<int64_t>(0 - left) : x;
    case Fn::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    default:
      return Divided(n, fn, x, z);
  }
}

GE_GPU_BODY double DoubleFn(Fn fn, double x, double z) {
  switch (fn) {
    case Fn::kAdd:
      return x + z;
    case Fn::kSub:
      return x - z;
    case Fn::kMul:
      return x * z;
    case Fn::kDiv:
      return x / z;
    case Fn::kMax:
      return x != x || x > z ? x : z;
    default:
      return x != x || x < z ? x : z;
  }
}

// Places: result, x, z; without z it is `number`.
struct ArithmeticArgs : Args<3> {
  Axes axes;
  Strides strides[3];
  Fn fn = Fn::kAdd;
  bool has_z = true;
  int64_t number = 0;
};

GE_GPU_BODY void ArithmeticThread(const ArithmeticArgs& a, int64_t i) {
  const Number n = a.of[0];
  const int64_t x = PlaceOf(a.axes, a.strides[1], i);
  const int64_t z = a.has_z ? PlaceOf(a.axes, a.strides[2], i) : 0;
  if (n == Number::kF64) {
    a.out<double>(0)[i] = DoubleFn(a.fn, a.in<double>(1)[x], a.in<double>(2)[z]);
    return;
  }
  const int64_t right = a.has_z ? WholeAt(a.at[2].data, n, z) : a.number;
  StoreWhole(a.at[0].data, n, i, WholeFn(n, a.fn, WholeAt(a.at[1].data, n, x), right));
}

// Places: result, x, exponents. Functions of float64.
struct DoubleArgs : Args<3> {
  Axes axes;  // of Pow alone
  Strides strides[3];
  Fn fn = Fn::kLinear;
  double a = 0, b = 0;
};

GE_GPU_BODY double DoubleOf(Fn fn, double a, double b, double x) {
  switch (fn) {
    case Fn::kLinear:
      return a * x + b;
    case Fn::kRelu:
      return x < 0 ? (a == 0 ? 0 : a * x) : x;
    case Fn::kClip: {
      const double least = x != x || x > a ? x : a;
      return least != least || least < b ? least : b;
    }
    case Fn::kSigmoid:
      return 1 / (1 + exp(-x));
    case Fn::kTanh:
      return tanh(x);
    case Fn::kErf:
      return erf(x);
    case Fn::kExp:
      return exp(x);
    case Fn::kSqrt:
      return sqrt(x);
    case Fn::kAbs:
      return fabs(x);
    case Fn::kReciprocal:
      return 1 / x;
    case Fn::kSquare:
      return x * x;
    case Fn::kCube:
      return x * x * x;
    case Fn::kLog:
      return log(x);
    case Fn::kFloor:
      return floor(x);
    case Fn::kCeil:
      return ceil(x);
    case Fn::kRound:
      return rint(x);
    case Fn::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case Fn::kElu:
      return x < 0 ? a * expm1(x) : x;
    case Fn::kSoftplus:
      return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
    default: {  // kHardSigmoid
      const double v = a * x + b;
      return v != v ? v : v < 0 ? 0 : v > 1 ? 1 : v;
    }
  }
}

GE_GPU_BODY void DoubleThread(const DoubleArgs& a, int64_t i) {
  if (a.fn != Fn::kPow) {
    a.out<double>(0)[i] = DoubleOf(a.fn, a.a, a.b, a.in<double>(1)[i]);
    return;
  }
  const int64_t x = PlaceOf(a.axes, a.strides[1], i), e = PlaceOf(a.axes, a.strides[2], i);
  a.out<double>(0)[i] = pow(a.in<double>(1)[x], a.in<double>(2)[e]);
}

// Places: result (bool), x.
struct IsInfArgs : Args<2> {
  bool nan = false, negative = true, positive = true;
};
GE_GPU_BODY void IsInfThread(const IsInfArgs& a, int64_t i) {
  const double v = RealAt(a.at[1].data, a.of[1], i);
  const bool infinite = (v > 0 && a.positive) || (v < 0 && a.negative);
  a.out<uint8_t>(0)[i] = a.nan ? v != v : v == v && v - v != 0 && infinite;
}

// Places: result, x, slope.
struct PReluArgs : Args<3> {
  Axes axes;
  Strides slope;
};
GE_GPU_BODY void PReluThread(const PReluArgs& a, int64_t i) {
  const float x = a.Float(1, i);
  a.Store(0, i, x < 0 ? x * a.Float(2, PlaceOf(a.axes, a.slope, i)) : x);
}

}  // namespace ge_engines::gpu

// Tensors made of little: one element repeated, steps, triangles, unit matrices, random numbers.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/gpu/kernels/trigonometry.h"

namespace ge_engines::gpu {

// Places: result.
struct FillArgs : Args<1> {
  uint64_t element = 0;  // its bytes first
  int32_t bytes = 4;
};
GE_GPU_BODY void FillThread(const FillArgs& a, int64_t i) {
  MoveElement(a.at[0].data, i, &a.element, 0, a.bytes);
}

// Places: result, start, delta.
struct RangeArgs : Args<3> {};
GE_GPU_BODY void RangeThread(const RangeArgs& a, int64_t i) {
  const Number n = a.of[0];
  if (IsReal(n)) {
    const double start = RealAt(a.at[1].data, n, 0), delta = RealAt(a.at[2].data, n, 0);
    return StoreReal(a.at[0].data, n, i, start + static_cast<double>(i) * delta);
  }
  const auto start = static_cast<uint64_t>(WholeAt(a.at[1].data, n, 0));
  const auto delta = static_cast<uint64_t>(WholeAt(a.at[2].data, n, 0));
  StoreWhole(a.at[0].data, n, i, static_cast<int64_t>(start + static_cast<uint64_t>(i) * delta));
}

// Places: result.
struct EyeArgs : Args<1> {
  Divider columns;
  int64_t diagonal = 0;
};
GE_GPU_BODY void EyeThread(const EyeArgs& a, int64_t i) {
  const auto row = static_cast<int64_t>(a.columns.Quotient(static_cast<uint64_t>(i)));
  const int64_t column = i - row * static_cast<int64_t>(a.columns.divisor);
  const bool one = column - row == a.diagonal;
  if (IsReal(a.of[0])) {
    StoreReal(a.at[0].data, a.of[0], i, one ? 1 : 0);
  } else {
    StoreWhole(a.at[0].data, a.of[0], i, one ? 1 : 0);
  }
}

// Places: result, x.
struct TriangleArgs : Args<2> {
  Divider columns, rows;
  int64_t diagonal = 0;
  bool upper = true;
  int32_t bytes = 4;
};
GE_GPU_BODY void TriangleThread(const TriangleArgs& a, int64_t i) {
  const uint64_t line = a.columns.Quotient(static_cast<uint64_t>(i));
  const int64_t column = i - static_cast<int64_t>(line * a.columns.divisor);
  const auto row = static_cast<int64_t>(line - a.rows.Quotient(line) * a.rows.divisor);
  const int64_t over = column - row;
  if (a.upper ? over >= a.diagonal : over <= a.diagonal) {
    return MoveElement(a.at[0].data, i, a.at[1].data, i, a.bytes);
  }
  const uint64_t zero = 0;
  MoveElement(a.at[0].data, i, &zero, 0, a.bytes);
}

// Places: result; of Bernoulli's also probabilities. As plugins/units/philox.h says.
enum class Draw : int32_t { kUniform, kNormal, kBernoulli };
struct RandomArgs : Args<2> {
  Draw draw = Draw::kUniform;
  uint32_t low = 0, high = 0;  // the key
  double from = 0, width = 1;  // results are from + width * draw
  int64_t n = 0;
};

struct Pair {
  double left, right;
};

// Two numbers of [0, 1), of block j.
GE_GPU_BODY Pair UniformDraws(uint32_t low, uint32_t high, uint64_t j) {
  uint32_t a = static_cast<uint32_t>(j), b = static_cast<uint32_t>(j >> 32), c = 0, d = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * a, second = uint64_t{0xCD9E8D57} * c;
    a = static_cast<uint32_t>(second >> 32) ^ b ^ low;
    b = static_cast<uint32_t>(second);
    c = static_cast<uint32_t>(first >> 32) ^ d ^ high;
    d = static_cast<uint32_t>(first);
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return {static_cast<double>((uint64_t{b} << 32 | a) >> 11) * 0x1p-53,
          static_cast<double>((uint64_t{d} << 32 | c) >> 11) * 0x1p-53};
}

// Box and Muller's. The series are longer than those of trigonometry.h, for results of 16 digits.
GE_GPU_BODY Pair NormalDraws(const Pair& u) {
  const double r = sqrt(-2 * log(1 - u.left));
  const double turns = rint(4 * u.right);  // quarters; the rest is exact
  const double t = (4 * u.right - turns) * 1.5707963267948966, s = t * t;
  double sine = 1, cosine = 1;
  for (int k = 20; k >= 2; k -= 2) {
    sine = 1 - sine * s / static_cast<double>(k * (k + 1));
    cosine = 1 - cosine * s / static_cast<double>(k * (k - 1));
  }
  sine *= t;
  const auto quarter = static_cast<int32_t>(turns) & 3;
  const double x = quarter == 0 ? cosine : quarter == 1 ? -sine : quarter == 2 ? -cosine : sine;
  const double y = quarter == 0 ? sine : quarter == 1 ? cosine : quarter == 2 ? -sine : -cosine;
  return {r * x, r * y};
}

GE_GPU_BODY void StoreDraw(const RandomArgs& a, int64_t i, double v) {
  void* y = a.at[0].data;
  if (a.draw != Draw::kBernoulli) return StoreReal(y, a.of[0], i, a.from + a.width * v);
  const double share = RealAt(a.at[1].data, a.of[1], i);
  if (!(share >= 0 && share <= 1)) return Refuse();
  if (IsReal(a.of[0])) {
    StoreReal(y, a.of[0], i, v < share ? 1 : 0);
  } else {
    StoreWhole(y, a.of[0], i, v < share ? 1 : 0);
  }
}

// One thread a block of two.
GE_GPU_BODY void RandomThread(const RandomArgs& a, int64_t j) {
  Pair pair = UniformDraws(a.low, a.high, static_cast<uint64_t>(j));
  if (a.draw == Draw::kNormal) pair = NormalDraws(pair);
  StoreDraw(a, 2 * j, pair.left);
  if (2 * j + 1 < a.n) StoreDraw(a, 2 * j + 1, pair.right);
}

}  // namespace ge_engines::gpu

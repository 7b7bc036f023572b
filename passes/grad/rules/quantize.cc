// Quantization, straight through: a rounded number's slope is that of the number, 0 where it was
// cut off. Scales learn with it; whole numbers between the two carry the cotangent of what they
// stand for.
#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

// One number an element of x, of those by axis, by block or of the whole.
struct Spread {
  Val by, matrix;  // matrix: of blocks
  int64_t axis = 0;
  Val Over(Back& b, Val v) const {
    if (!v || b.rank(v) == 0) return v;
    if (by) return Gather(v, by, axis);
    return b.rank(v) == 1 && b.type(v).dims[0].value != 1 ? AlongAxis(v, axis, b.x(0)) : v;
  }
  Val Gathered(Val ct) const { return matrix ? Along(ct, matrix, axis) : ct; }
};

Spread SpreadOf(Back& b) {
  Spread s;
  s.axis = b.Axis(b.Int("axis", 1), b.x(0));
  const int64_t block = b.Int("block_size");
  if (block == 0 || s.axis < 0) return s;
  s.by = Iota(SizeOf(b.x(0), s.axis)) / static_cast<double>(block);
  const Val blocks = Iota(SizeOf(b.x(1), s.axis));
  s.matrix =
      Ones(Compare("Equal", Unsqueeze(s.by, {1}), Unsqueeze(blocks, {0})), b.type(b.ct()).dtype);
  return s;
}

// To the scale's shape: over all axes but its own.
void GiveScale(Back& b, const Spread& s, Val v) {
  if (!b.wants(1)) return;
  const int32_t rank = b.rank(b.x(1));
  if (rank == 1 && b.type(b.x(1)).dims[0].value != 1) {
    std::vector<int64_t> others;
    for (int64_t i = 0; i < b.rank(b.x(0)); ++i) {
      if (i != s.axis) others.push_back(i);
    }
    return b.Give(1, ReduceSum(v, others, false));
  }
  b.Give(1, rank == 1 ? ReshapeLike(b.fn().Op("ReduceSum", {v}), b.x(1)) : s.Gathered(v));
}

// The least and the greatest number of the results' type.
bool RangeOf(int32_t dtype, double* low, double* high) {
  struct Known {
    int32_t dtype;
    double low, high;
  };
  static constexpr Known kKnown[] = {{GE_I8, -128, 127}, {GE_U8, 0, 255}, {GE_I16, -32768, 32767},
                                     {GE_U16, 0, 65535}, {GE_I4, -8, 7},  {GE_U4, 0, 15}};
  for (const Known& k : kKnown) {
    if (k.dtype == dtype) return *low = k.low, *high = k.high, true;
  }
  return false;
}

void QuantizeBack(Back& b) {
  Fn& fn = b.fn();
  const Spread s = SpreadOf(b);
  const int32_t dtype = b.type(b.ct()).dtype;
  const Val x = fn.Cast(b.x(0), dtype), scale = fn.Cast(s.Over(b, b.x(1)), dtype);
  Val ct = b.ct() / scale;
  double low = 0, high = 0;
  if (RangeOf(b.type(b.y()).dtype, &low, &high)) {
    Val at = Unary("Round", x / scale);
    if (b.x(2)) at = at + fn.Cast(s.Over(b, b.x(2)), dtype);
    const Val inside =
        fn.Op("And", {Compare("GreaterOrEqual", at, low), Compare("LessOrEqual", at, high)});
    ct = Where(inside, ct, 0.0);
  }
  b.Give(0, ct);
  GiveScale(b, s, -(ct * x / scale));
}

void DequantizeBack(Back& b) {
  Fn& fn = b.fn();
  const Spread s = SpreadOf(b);
  const int32_t dtype = b.type(b.ct()).dtype;
  b.Give(0, b.ct() * fn.Cast(s.Over(b, b.x(1)), dtype));
  Val off = fn.Cast(b.x(0), dtype);
  if (b.x(2)) off = off - fn.Cast(s.Over(b, b.x(2)), dtype);
  GiveScale(b, s, b.ct() * off);
}

// scale = (max(x, 0) - min(x, 0)) / 255, and a zero point at which 0 is exact.
std::vector<Val> DynamicParts(Back& b) {
  Fn& fn = b.fn();
  const Val x = b.x();
  const Attrs whole = Attrs().Int("keepdims", 0);
  const Val zero = fn.Scalar(b.type(x).dtype, 0);
  const Val low = fn.Op("Min", {fn.Op("ReduceMin", {x}, whole), zero});
  const Val high = fn.Op("Max", {fn.Op("ReduceMax", {x}, whole), zero});
  const Val scale = (high - low) / 255;
  // All of x may be zero.
  const Val safe = Where(Compare("Equal", scale, 0), fn.Scalar(b.type(x).dtype, 1), scale);
  const Val point =
      fn.Cast(Unary("Round", fn.Op("Min", {-low / safe, fn.Scalar(b.type(x).dtype, 255)})), GE_U8);
  return {fn.Op("QuantizeLinear", {x, safe, point}), scale, point};
}

// A product of whole numbers that stand for floats, each less its zero point.
void IntegerProductBack(Back& b) {
  Fn& fn = b.fn();
  const int32_t dtype = b.type(b.ct()).dtype;
  Val a = fn.Cast(b.x(0), dtype), w = fn.Cast(b.x(1), dtype);
  if (b.rank(a) < 2 || b.rank(w) < 2) return b.Fail("an operand's rank is not known, or below 2");
  const Val rows = b.x(2) && b.rank(b.x(2)) == 1 ? Unsqueeze(b.x(2), {1}) : b.x(2);
  if (rows) a = a - fn.Cast(rows, dtype);
  if (b.x(3)) w = w - fn.Cast(b.x(3), dtype);
  if (b.wants(0)) b.Give(0, MatMul(b.ct(), SwapLast(w)));
  if (b.wants(1)) b.Give(1, MatMul(SwapLast(a), b.ct()));
}

}  // namespace

GE_GRAD(quantize) {
  const NoGradient point = {2, "a whole number"};
  return {{"", "QuantizeLinear", QuantizeBack, {point}},
          {"", "DequantizeLinear", DequantizeBack, {point}},
          {"", "DynamicQuantizeLinear", nullptr, {}, DynamicParts},
          {"", "MatMulInteger", IntegerProductBack, {point, {3, "a whole number"}}}};
}

}  // namespace ge::grad

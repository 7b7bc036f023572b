#include "passes/grad/rule.h"

namespace ge::grad {
namespace {

// The cotangent with the reduced axes put back, to broadcast over x.
Val Widen(Back& b, Val v) {
  const Val x = b.x();
  const bool all = !b.x(1);
  if (b.Int("keepdims", 1) != 0 || (all && b.Int("noop_with_empty_axes") != 0)) return v;
  std::vector<int64_t> axes;
  if (all || b.Known(b.x(1), &axes)) {
    const int32_t rank = b.rank(x);
    if (rank < 0) b.Fail("an input's rank is not known");
    if (axes.empty() && b.Int("noop_with_empty_axes") != 0) return v;
    for (int64_t i = 0; axes.empty() && i < rank; ++i) axes.push_back(i);
    return axes.empty() ? v : Unsqueeze(v, axes);
  }
  return b.fn().Op("Unsqueeze", {v, b.x(1)});
}

// How many elements one result is of.
Val Count(Back& b) {
  const Val x = b.x(), y = b.y();
  const Type tx = b.type(x), ty = b.type(y);
  if (tx.known() && ty.known() && ty.elements() > 0) {
    return b.fn().Scalar(tx.dtype, static_cast<double>(tx.elements() / ty.elements()));
  }
  const Val nx = b.fn().Cast(Unary("Size", x), tx.dtype),
            ny = b.fn().Cast(Unary("Size", y), tx.dtype);
  return nx / ny;
}

void SumBack(Back& b) { b.Give(0, b.fn().ExpandTo(Widen(b, b.ct()), b.x())); }
void MeanBack(Back& b) { b.Give(0, b.fn().ExpandTo(Widen(b, b.ct() / Count(b)), b.x())); }
void SumSquareBack(Back& b) { b.Give(0, Widen(b, b.ct()) * b.x() * 2); }
// |x|, at 0: 0.
void L1Back(Back& b) { b.Give(0, Widen(b, b.ct()) * Sign(b.x())); }
// x / |x|, at 0: 0.
void L2Back(Back& b) {
  // Nothing is divided by 0, whose not-a-number a second derivative would meet again.
  const Val y = b.y(), one = b.fn().Scalar(b.type(y).dtype, 1),
            safe = Where(Compare("Equal", y, 0), one, y);
  b.Give(0, Widen(b, b.ct() / safe) * b.x());
}
void LogSumBack(Back& b) { b.Give(0, b.fn().ExpandTo(Widen(b, b.ct() / Exp(b.y())), b.x())); }
void LogSumExpBack(Back& b) { b.Give(0, Widen(b, b.ct()) * Exp(b.x() - Widen(b, b.y()))); }
// Elements that are the greatest (least) one share equally.
void ExtremeBack(Back& b) {
  const Val at = b.fn().Cast(Compare("Equal", b.x(), Widen(b, b.y())), b.type(b.x()).dtype);
  Val n = b.x(1) ? b.fn().Op("ReduceSum", {at, b.x(1)}, Attrs().Int("keepdims", 1))
                 : b.fn().Op("ReduceSum", {at}, Attrs().Int("keepdims", 1));
  b.Give(0, at * (Widen(b, b.ct()) / n));
}

}  // namespace

GE_GRAD(reduce) {
  const std::vector<NoGradient> axes = {{1, "axes"}};
  return {{"", "ReduceSum", SumBack, axes},
          {"", "ReduceMean", MeanBack, axes},
          {"", "ReduceSumSquare", SumSquareBack, axes},
          {"", "ReduceL1", L1Back, axes},
          {"", "ReduceL2", L2Back, axes},
          {"", "ReduceLogSum", LogSumBack, axes},
          {"", "ReduceLogSumExp", LogSumExpBack, axes},
          {"", "ReduceMax", ExtremeBack, axes},
          {"", "ReduceMin", ExtremeBack, axes}};
}

}  // namespace ge::grad

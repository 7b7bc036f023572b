// Poolings. The greatest of a window is where Indices say (the first of several); means and norms
// go back by matrices that say, for each axis, which windows read an element.
#include "passes/grad/window.h"

namespace ge::grad {
namespace {

// Row by row; of a pool that counts its Indices by columns, too.
Attrs PoolAttrs(const Back& b) {
  Attrs attrs;
  for (uint32_t i = 0; i < b.node().n_attr; ++i) {
    if (!ge_is(b.node().attr[i].name, "storage_order")) attrs.Add(b.node().attr[i]);
  }
  return attrs.Int("storage_order", 0);
}

void MaxPoolBack(Back& b) {
  b.Give(0, b.fn().Node("ge", "MaxPoolGrad", {b.ct(), b.x()}, PoolAttrs(b), 1)[0]);
}

// Of dY alone: what was picked by the greatest of a window.
void MaxPoolGradBack(Back& b) {
  Fn& fn = b.fn();
  const Val at = fn.Ops("MaxPool", {b.x(1)}, PoolAttrs(b), 2)[1];
  const Val row = fn.Ints({-1});
  const Val picked = Gather(fn.Op("Reshape", {b.ct(), row}), fn.Op("Reshape", {at, row}), 0);
  b.Give(0, ReshapeLike(picked, b.x(0)));
}

// How many elements each window along an axis has that count: those in the input, or in its
// padding too.
Val WindowSize(Back& b, const Windows& w, size_t i, Val reach) {
  if (b.Int("count_include_pad") == 0) return ReduceSum(reach, {1}, false);
  Fn& fn = b.fn();
  const auto axis = static_cast<int64_t>(2 + i);
  const Val start = Iota(SizeOf(b.y(), axis)) * static_cast<double>(w.strides[i]) - w.before[i];
  Val taps = Iota(fn.Ints({w.kernel[i]}));
  if (w.dilations[i] != 1) taps = taps * static_cast<double>(w.dilations[i]);
  const Val inside = Compare("Less", Unsqueeze(start, {1}) + Unsqueeze(taps, {0}),
                             SizeOf(b.x(), axis) + w.behind[i]);
  return ReduceSum(Ones(inside, fn.TypeOf(reach).dtype), {1}, false);
}

void AveragePoolBack(Back& b) {
  Fn& fn = b.fn();
  const int32_t dtype = b.type(b.x()).dtype;
  Windows w;
  if (!ReadWindows(b, b.x(), b.y(), Val{}, &w)) return;
  const std::vector<Val> reaches = Reaches(b, b.x(), b.y(), w, dtype);
  Val share = b.ct();
  // No window of these ends behind the padding, so that each is whole.
  const std::string mode = b.Text("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  const bool whole = b.Int("count_include_pad") != 0 && (same || b.Int("ceil_mode") == 0);
  for (size_t i = 0; i < reaches.size(); ++i) {
    if (whole) {
      share = share / static_cast<double>(w.kernel[i]);
      continue;
    }
    const Val count = fn.Op("Max", {WindowSize(b, w, i, reaches[i]), fn.Scalar(dtype, 1)});
    share = share / AlongAxis(count, static_cast<int64_t>(2 + i), b.x());
  }
  b.Give(0, SpreadOver(share, reaches));
}

// d (sum |x|^p)^(1/p) = sign(x) |x|^(p-1) y^(1-p), 0 where y is. From p = 3 on the other factor is
// 0 there, and so is its slope.
Val NormShare(Back& b, int64_t p) {
  if (p == 1) return b.ct();
  const Val y = b.y(), zero = Compare("Equal", y, 0);
  const Val safe = Where(zero, b.fn().Scalar(b.type(y).dtype, 1), y);
  if (p > 2) return b.ct() / Pow(safe, static_cast<double>(p - 1));
  return Where(zero, b.fn().Zeros(b.ct()), b.ct() / safe);
}

Val NormSlope(Val x, int64_t p) {
  if (p == 1) return Sign(x);
  if (p == 2) return x;
  // An odd power has the sign already.
  const Val power = Pow(x, static_cast<double>(p - 1));
  return p % 2 == 0 ? power : Sign(x) * power;
}

void LpPoolBack(Back& b) {
  const int64_t p = b.Int("p", 2);
  const Val share = NormShare(b, p);
  Windows w;
  if (!ReadWindows(b, b.x(), b.y(), Val{}, &w)) return;
  const std::vector<Val> reaches = Reaches(b, b.x(), b.y(), w, b.type(b.x()).dtype);
  b.Give(0, SpreadOver(share, reaches) * NormSlope(b.x(), p));
}

void GlobalLpPoolBack(Back& b) {
  const int64_t p = b.Int("p", 2);
  const Val share = NormShare(b, p);
  b.Give(0, share * NormSlope(b.x(), p));
}

void GlobalAveragePoolBack(Back& b) {
  if (b.rank(b.x()) < 0) return b.Fail("an input's rank is not known");
  const Val n = b.fn().Cast(CountOf(b.x(), AxesFrom(2, b.rank(b.x()))), b.type(b.x()).dtype);
  b.Give(0, b.fn().ExpandTo(b.ct() / n, b.x()));
}

// Elements that are the greatest together share equally.
void GlobalMaxPoolBack(Back& b) {
  if (b.rank(b.x()) < 0) return b.Fail("an input's rank is not known");
  const Val at = Ones(Compare("Equal", b.x(), b.y()), b.type(b.x()).dtype);
  b.Give(0, at * (b.ct() / ReduceSum(at, AxesFrom(2, b.rank(b.x())), true)));
}

}  // namespace

GE_GRAD(pool) {
  return {{"", "MaxPool", MaxPoolBack},
          {"ge", "MaxPoolGrad", MaxPoolGradBack, {{1, "it is constant around almost every point"}}},
          {"", "AveragePool", AveragePoolBack},
          {"", "LpPool", LpPoolBack},
          {"", "GlobalLpPool", GlobalLpPoolBack},
          {"", "GlobalAveragePool", GlobalAveragePoolBack},
          {"", "GlobalMaxPool", GlobalMaxPoolBack}};
}

}  // namespace ge::grad

// Linear transforms whose matrix the operator itself says: what it makes of the unit vectors.
#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

// The same rotation the other way.
void RotaryBack(Back& b) {
  if (b.wants(1) || b.wants(2)) {
    return b.Fail("the gradient of its caches is not built; write the rotation with Mul and Add");
  }
  b.Give(0, Again(b, {b.ct(), b.x(1), -b.x(2), b.x(3)}, 1)[0]);
}

// grid = places theta^T: places (x, y, 1) are those of the identity.
void AffineGridBack(Back& b) {
  Fn& fn = b.fn();
  const int32_t dtype = b.type(b.ct()).dtype;
  const int64_t rank = b.rank(b.ct()), axes = rank - 2;
  if (rank < 0) return b.Fail("the grid's rank is not known");
  const Val whole = Eye(fn.Ints({axes + 1}), dtype);
  const Val one = Unsqueeze(Slice(whole, {0}, {axes}, {0}), {0});
  const Val size = Joined({fn.Ints({1}), Slice(b.x(1), {1}, {rank}, {0})});
  const Val grid = Reshape(Again(b, {one, size}, 1)[0], {-1, axes});
  const Val ones = fn.Op("Expand", {fn.Scalar(dtype, 1), Joined({SizeOf(grid, 0), fn.Ints({1})})});
  const Val places = Concat({grid, ones}, 1);
  const Val cts = ReshapeTo(b.ct(), {SizeOf(b.ct(), 0), SizeOf(places, 0), fn.Ints({axes})});
  b.Give(0, MatMul(SwapLast(cts), places));
}

// A convolution of every channel, by one kernel for each place in a block, that is one there.
void Col2ImBack(Back& b) {
  Fn& fn = b.fn();
  std::vector<int64_t> block;
  const ge_dim channels = b.rank(b.y()) > 1 ? b.type(b.y()).dims[1] : ge_dim{};
  if (!b.Known(b.x(2), &block) || channels.value <= 0) {
    return b.Fail("its block or the number of channels is not known");
  }
  int64_t places = 1;
  std::vector<int64_t> shape = {0, 1};
  for (const int64_t n : block) {
    places *= n;
    shape.push_back(n);
  }
  shape[0] = places;
  const Val one = Reshape(Eye(fn.Ints({places}), b.type(b.ct()).dtype), shape);
  Attrs attrs = Attrs().Int("group", channels.value);
  for (const char* name : {"dilations", "pads", "strides"}) {
    if (b.Has(name)) attrs.Ints(name, b.Ints(name));
  }
  const std::vector<Val> all(static_cast<size_t>(channels.value), one);
  b.Give(0, ReshapeLike(fn.Op("Conv", {b.ct(), Concat(all, 0)}, attrs), b.x(0)));
}

// Real and imaginary parts stand in the last axis, and each has a matrix for each of the results.
void DftBack(Back& b) {
  Fn& fn = b.fn();
  std::vector<int64_t> given = {-2};
  const Val x = b.x(0), ct = b.ct();
  if (b.x(2) && !b.Known(b.x(2), &given)) return b.Fail("its axis is no constant");
  const int64_t axis = b.Axis(given[0], x);
  const Type tx = b.type(x), ty = b.type(b.y());
  if (axis < 0 || tx.dims.back().value < 1 || ty.dims.back().value < 1) {
    return b.Fail("whether it is complex is not known");
  }
  const int64_t parts = tx.dims.back().value, results = ty.dims.back().value;
  const Val eye = Unsqueeze(Eye(SizeOf(x, axis), tx.dtype), {2});
  std::vector<Val> backs;
  for (int64_t q = 0; q < parts; ++q) {
    std::vector<Val> unit(static_cast<size_t>(parts), fn.Zeros(eye));
    unit[static_cast<size_t>(q)] = eye;
    const Val rows = Again(b, {Concat(unit, 2), b.x(1), fn.Scalar(GE_I64, 1)}, 1)[0];
    Val sum;
    for (int64_t p = 0; p < results; ++p) {
      const Val which = fn.Scalar(GE_I64, static_cast<double>(p));
      const Val part =
          Along(Gather(ct, which, tx.rank - 1), SwapLast(Gather(rows, which, 2)), axis);
      sum = sum ? sum + part : part;
    }
    backs.push_back(Unsqueeze(sum, {-1}));
  }
  b.Give(0, Concat(backs, tx.rank - 1));
}

// Frames of the signal, each by the window, transformed.
std::vector<Val> StftParts(Back& b) {
  Fn& fn = b.fn();
  const Val signal = b.x(0), window = b.x(2);
  const auto vector = [&](Val v) { return Reshape(fn.Cast(v, GE_I64), {1}); };
  const Val step = vector(b.x(1));
  if (!window && !b.x(3)) return {};
  const Val length = b.x(3) ? vector(b.x(3)) : SizeOf(window, 0);
  const Val frames = (SizeOf(signal, 1) - length) / step + 1;
  const Val at = Unsqueeze(Iota(frames) * step, {1}) + Unsqueeze(Iota(length), {0});
  const Val rank3 = b.rank(signal) == 2 ? Unsqueeze(signal, {2}) : signal;
  Val cut = Gather(rank3, at, 1);
  if (window) cut = cut * Unsqueeze(window, {1});
  return {fn.Op("DFT", {cut, Val{}, fn.Scalar(GE_I64, 2)},
                Attrs().Int("onesided", b.Int("onesided", 1)))};
}

void CopyBack(Back& b) { b.Give(0, b.ct()); }

void FeatureBack(Back& b) {
  b.Give(0, PutAt(b.ct(), Gather(Places(b.x(0)), Reshape(b.x(1), {-1}), -1), b.x(0)));
}

// What was replaced is a constant.
void ImputerBack(Back& b) {
  const double gone = b.Float("replaced_value_float");
  const Val at = gone != gone ? Unary("IsNaN", b.x()) : Compare("Equal", b.x(), gone);
  b.Give(0, Where(at, b.fn().Zeros(b.ct()), b.ct()));
}

}  // namespace

GE_GRAD(transform) {
  const NoGradient at = {1, "sizes, steps or places"};
  return {{"", "RotaryEmbedding", RotaryBack, {{3, "positions"}}},
          {"", "AffineGrid", AffineGridBack, {at}},
          {"", "Col2Im", Col2ImBack, {at, {2, "sizes"}}},
          {"", "DFT", DftBack, {at, {2, "an axis"}}},
          {"", "STFT", nullptr, {at, {3, "a length"}}, StftParts},
          {"ge", "Copy", CopyBack},
          {"ai.onnx.ml", "ArrayFeatureExtractor", FeatureBack, {at}},
          {"ai.onnx.ml", "Imputer", ImputerBack}};
}

}  // namespace ge::grad

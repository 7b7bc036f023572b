// Operators that put pieces together, cut them, and lay elements out anew.
#include <algorithm>

#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

void ConcatBack(Back& b) {
  const int64_t axis = b.Axis(b.Int("axis"), b.x());
  if (axis < 0) return;
  std::vector<Val> sizes;
  for (uint32_t i = 0; i < b.inputs(); ++i) sizes.push_back(SizeOf(b.x(i), axis));
  const std::vector<Val> cts =
      b.fn().Ops("Split", {b.ct(), Joined(sizes)}, Attrs().Int("axis", axis), b.inputs());
  for (uint32_t i = 0; i < b.inputs(); ++i) b.Give(i, cts[i]);
}

void SplitBack(Back& b) {
  std::vector<Val> pieces;
  for (uint32_t k = 0; k < b.outputs(); ++k) {
    pieces.push_back(b.ct(k) ? b.ct(k) : b.fn().Zeros(b.y(k)));
  }
  b.Give(0, Concat(pieces, b.Int("axis")));
}

// What was cut off, as a Pad: for steps of one whose ends are known.
bool PadOfSlice(Back& b, std::vector<int64_t>* pads) {
  std::vector<int64_t> starts, axes, steps;
  const Type tx = b.type(b.x()), ty = b.type(b.y());
  if (!b.Known(b.x(1), &starts) || tx.rank < 0) return false;
  if (b.x(3) ? !b.Known(b.x(3), &axes) : false) return false;
  if (!b.x(3)) axes = AxesFrom(0, static_cast<int64_t>(starts.size()));
  if (b.x(4) && !b.Known(b.x(4), &steps)) return false;
  for (const int64_t step : steps) {
    if (step != 1) return false;
  }
  pads->assign(2 * static_cast<size_t>(tx.rank), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto a = static_cast<size_t>(axes[i] < 0 ? axes[i] + tx.rank : axes[i]);
    const int64_t from = tx.dims[a].value, to = ty.dims[a].value;
    if (from < 0 || to < 0) return false;
    const int64_t start = starts[i] < 0 ? starts[i] + from : starts[i];
    const int64_t front = std::min(std::max<int64_t>(start, 0), from - to);
    (*pads)[a] = front;
    (*pads)[a + static_cast<size_t>(tx.rank)] = from - to - front;
  }
  return true;
}

void SliceBack(Back& b) {
  std::vector<int64_t> pads;
  if (PadOfSlice(b, &pads)) return b.Give(0, b.fn().Op("Pad", {b.ct(), b.fn().Ints(pads)}));
  std::vector<Val> in = {Places(b.x())};
  for (uint32_t i = 1; i < b.inputs(); ++i) in.push_back(b.x(i));
  b.Give(0, PutAt(b.ct(), Again(b, in, 1)[0], b.x()));
}

// What Pad put there comes from the constant, or once more from an element.
void PadBack(Back& b) {
  const std::string mode = b.Text("mode", "constant");
  if (mode != "constant") {
    return b.Give(0, PutAt(b.ct(), Again(b, {Places(b.x()), b.x(1), Val{}, b.x(3)}, 1)[0], b.x()));
  }
  // Where the numbers are known, so is the result's shape.
  std::vector<int64_t> pads;
  const bool known = b.Known(b.x(1), &pads);
  for (int64_t& n : pads) n = -n;
  const Val cut = known ? b.fn().Ints(pads) : -b.x(1);
  const Val back = b.fn().Op("Pad", {b.ct(), cut, Val{}, b.x(3)});
  b.Give(0, back);
  const Attrs whole = Attrs().Int("keepdims", 0);
  if (b.wants(2))
    b.Give(2, b.fn().Op("ReduceSum", {b.ct()}, whole) - b.fn().Op("ReduceSum", {back}, whole));
}

// Every axis becomes two, times and size; the sum is over the first.
void TileBack(Back& b) {
  const int32_t rank = b.rank(b.x());
  if (rank < 0) return b.Fail("an input's rank is not known");
  if (rank == 0) return b.Give(0, b.ct());
  std::vector<Val> sizes;
  std::vector<int64_t> times;
  for (int64_t i = 0; i < rank; ++i) {
    sizes.push_back(Slice(b.x(1), {i}, {i + 1}, {0}));
    sizes.push_back(SizeOf(b.x(), i));
    times.push_back(2 * i);
  }
  b.Give(0, ReduceSum(ReshapeTo(b.ct(), sizes), times, false));
}

void TriluBack(Back& b) { b.Give(0, Again(b, {b.ct(), b.x(1)}, 1)[0]); }
void ReverseSequenceBack(Back& b) { b.Give(0, Again(b, {b.ct(), b.x(1)}, 1)[0]); }

// Each is the other's inverse.
void SpaceToDepthBack(Back& b) {
  const Attrs same =
      Attrs().Int("blocksize", b.Int("blocksize")).Text("mode", b.Text("mode", "DCR"));
  b.Give(0, b.fn().Op("DepthToSpace", {b.ct()}, same));
}
void DepthToSpaceBack(Back& b) {
  const Attrs same =
      Attrs().Int("blocksize", b.Int("blocksize")).Text("mode", b.Text("mode", "DCR"));
  b.Give(0, b.fn().Op("SpaceToDepth", {b.ct()}, same));
}

// Places count from 1, so that what was put in has none.
void CenterCropPadBack(Back& b) {
  const Val at = Again(b, {Places(b.x()) + 1, b.x(1)}, 1)[0];
  const Val there = Compare("Greater", at, 0);
  const Val place = b.fn().Op("Max", {at - 1, b.fn().Scalar(GE_I64, 0)});
  b.Give(0, PutAt(Where(there, b.ct(), 0.0), place, b.x()));
}

void CompressBack(Back& b) {
  b.Give(0, PutAt(b.ct(), Again(b, {Places(b.x()), b.x(1)}, 1)[0], b.x()));
}

void CumSumBack(Back& b) {
  const Attrs attrs =
      Attrs().Int("exclusive", b.Int("exclusive")).Int("reverse", b.Int("reverse") == 0);
  b.Give(0, b.fn().Op("CumSum", {b.ct(), b.x(1)}, attrs));
}

void CastLikeBack(Back& b) { b.Give(0, b.ct()); }

// start + i delta.
void RangeBack(Back& b) {
  if (b.wants(0)) b.Give(0, ReduceSum(b.ct(), {0}, false));
  if (!b.wants(2)) return;
  const Val i = b.fn().Cast(Iota(SizeOf(b.y(), 0)), b.type(b.ct()).dtype);
  b.Give(2, ReduceSum(b.ct() * i, {0}, false));
}

}  // namespace

GE_GRAD(join) {
  const NoGradient sizes = {1, "sizes, positions or axes"};
  return {{"", "Concat", ConcatBack},
          {"", "Split", SplitBack, {sizes}},
          {"", "Slice", SliceBack, {sizes, {2, "ends"}, {3, "axes"}, {4, "steps"}}},
          {"", "Pad", PadBack, {sizes, {3, "axes"}}},
          {"", "Tile", TileBack, {sizes}},
          {"", "Trilu", TriluBack, {sizes}},
          {"", "ReverseSequence", ReverseSequenceBack, {sizes}},
          {"", "SpaceToDepth", SpaceToDepthBack},
          {"", "DepthToSpace", DepthToSpaceBack},
          {"", "CenterCropPad", CenterCropPadBack, {sizes}},
          {"", "Compress", CompressBack, {{1, "a condition"}}},
          {"", "CumSum", CumSumBack, {sizes}},
          {"", "CastLike", CastLikeBack, {{1, "only its dtype is read"}}},
          {"", "Range", RangeBack, {{1, "the end decides a count alone"}}},
          {"com.microsoft", "Range", RangeBack, {{1, "the end decides a count alone"}}}};
}

}  // namespace ge::grad

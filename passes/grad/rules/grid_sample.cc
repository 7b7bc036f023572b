// GridSample, taken apart: what it reads are elements at whole places around a point, weighed by
// polynomials of how far away they are, which the grid's gradient comes from.
#include "passes/grad/positions.h"

namespace ge::grad {
namespace {

// One axis of the picture: where points lie in it.
struct SampleAxis {
  Val size;  // scalar of the grid's dtype
  Val low, high;
  Val at;  // [N, P]
};

struct Sampling {
  bool corners;
  std::string mode, padding;
};

// Folded at low and high until it is between them.
Val Folded(const SampleAxis& a, Val x) {
  Fn& fn = *x.fn;
  const Val range = a.high - a.low;
  const Val safe = Where(Compare("Greater", range, 0), range, fn.Scalar(fn.TypeOf(x).dtype, 1));
  const Val off = fn.Op("Mod", {Unary("Abs", x - a.low), safe * 2}, Attrs().Int("fmod", 1));
  return a.low + fn.Op("Min", {off, safe * 2 - off});
}

Val Clamped(const SampleAxis& a, Val x) {
  Fn& fn = *x.fn;
  return fn.Op("Clip", {x, fn.Scalar(fn.TypeOf(x).dtype, 0), a.size - 1});
}

SampleAxis AxisOf(const Sampling& s, Val grid, Val size) {
  SampleAxis a{size, {}, {}, {}};
  Fn& fn = *grid.fn;
  const int32_t dtype = fn.TypeOf(grid).dtype;
  a.low = fn.Scalar(dtype, s.corners ? 0 : -0.5);
  a.high = s.corners ? size - 1 : size - 0.5;
  a.at = s.corners ? (grid + 1) / 2 * (size - 1) : ((grid + 1) * size - 1) / 2;
  if (s.mode == "nearest") a.at = Unary("Round", a.at);
  // A point within the outermost elements' edges is where it is, whatever lies beyond.
  if (s.padding != "zeros") {
    const Val inside = fn.Op(
        "And", {Compare("GreaterOrEqual", a.at, a.low), Compare("LessOrEqual", a.at, a.high)});
    a.at = Where(inside, a.at, s.padding == "border" ? Clamped(a, a.at) : Folded(a, a.at));
  }
  return a;
}

// The elements along one axis that a point is made of.
struct AxisTaps {
  std::vector<Val> place, weight, there;  // there: absent = always
};

// The cubic kernel at distance d: within 1, or from 1 to 2.
Val CubicNear(Val d) { return (d * 1.25 - 2.25) * d * d + 1; }
Val CubicFar(Val d) { return ((d * -0.75 + 3.75) * d - 6) * d + 3; }

AxisTaps TapsOf(const Sampling& s, const SampleAxis& a) {
  AxisTaps taps;
  Fn& fn = *a.at.fn;
  const Val base = s.mode == "nearest" ? a.at : Unary("Floor", a.at), f = a.at - base;
  int first = 0;
  if (s.mode == "nearest") taps.weight = {f + 1};
  if (s.mode == "linear") taps.weight = {1 - f, f};
  if (s.mode == "cubic") {
    first = -1;
    taps.weight = {CubicFar(f + 1), CubicNear(f), CubicNear(1 - f), CubicFar(2 - f)};
  }
  for (size_t t = 0; t < taps.weight.size(); ++t) {
    Val place = base + (first + static_cast<double>(t));
    Val there;
    if (s.padding == "zeros") {
      there = fn.Op("And", {Compare("GreaterOrEqual", place, 0), Compare("Less", place, a.size)});
    }
    if (s.padding == "reflection") place = Folded(a, place);
    taps.place.push_back(fn.Cast(Clamped(a, place), GE_I64));
    taps.there.push_back(there);
  }
  return taps;
}

// The sum over all combinations of the axes' taps from `axis` on.
Val Sampled(Val rows, const std::vector<AxisTaps>& taps, const std::vector<Val>& sizes,
            const Val& place, Val weight, size_t axis) {
  Fn& fn = *rows.fn;
  if (axis == taps.size()) {
    const Val channels = Joined({SizeOf(rows, 0), SizeOf(rows, 1), SizeOf(place, 1)});
    const Val at = fn.Op("Expand", {Unsqueeze(place, {1}), channels});
    const Val read = fn.Op("GatherElements", {rows, at}, Attrs().Int("axis", 2));
    return read * Unsqueeze(fn.Cast(weight, fn.TypeOf(rows).dtype), {1});
  }
  std::vector<Val> terms;
  for (size_t t = 0; t < taps[axis].place.size(); ++t) {
    const AxisTaps& a = taps[axis];
    Val w = a.there[t] ? Where(a.there[t], a.weight[t], 0.0) : a.weight[t];
    if (weight) w = weight * w;
    const Val at = place ? place * sizes[axis] + a.place[t] : a.place[t];
    terms.push_back(Sampled(rows, taps, sizes, at, w, axis + 1));
  }
  return fn.Sum(terms);
}

std::vector<Val> GridSampleParts(Back& b) {
  Fn& fn = b.fn();
  const Val x = b.x(0), grid = b.x(1);
  const int64_t rank = b.rank(x), axes = rank - 2;
  if (rank < 3) return b.Fail("an input's rank is not known"), std::vector<Val>{};
  const Sampling s{b.Int("align_corners") != 0, b.Text("mode", "linear"),
                   b.Text("padding_mode", "zeros")};
  const Val points =
      ReshapeTo(grid, {SizeOf(grid, 0), CountOf(grid, AxesFrom(1, rank - 1)), fn.Ints({axes})});
  std::vector<AxisTaps> taps;
  std::vector<Val> sizes;
  for (int64_t i = 0; i < axes; ++i) {
    // A point's numbers are those of the last axis first.
    const Val place = Gather(points, fn.Scalar(GE_I64, static_cast<double>(axes - 1 - i)), 2);
    sizes.push_back(First(SizeOf(x, 2 + i)));
    taps.push_back(TapsOf(s, AxisOf(s, place, fn.Cast(sizes.back(), b.type(grid).dtype))));
  }
  const Val rows = ReshapeTo(x, {SizeOf(x, 0), SizeOf(x, 1), CountOf(x, AxesFrom(2, rank))});
  const Val sum = Sampled(rows, taps, sizes, Val{}, Val{}, 0);
  std::vector<Val> shape = {SizeOf(x, 0), SizeOf(x, 1)};
  for (int64_t i = 1; i < rank - 1; ++i) shape.push_back(SizeOf(grid, i));
  return {ReshapeTo(sum, shape)};
}

}  // namespace

GE_GRAD(grid_sample) { return {{"", "GridSample", nullptr, {}, GridSampleParts}}; }

}  // namespace ge::grad

// GridSample, taken apart: what it reads are elements at whole places around a point, weighed by
// polynomials of how far away they are, which the grid's gradient comes from. All axes and all
// places around a point go together, and points are what varies fastest: [batch, axes, places,
// points].
#include <algorithm>

#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

struct Sampling {
  bool corners;
  std::string mode, padding;
};

// Whole places, folded at the outermost elements (their edges, without corners) until they are
// inside; to be cut to integers. `size` is that of each axis.
Val Folded(const Sampling& s, Val size, Val x) {
  Fn& fn = *x.fn;
  // Of one element all are that one.
  const Val one = fn.Scalar(fn.TypeOf(x).dtype, 1);
  const Val period = s.corners ? fn.Op("Max", {(size - 1) * 2, one}) : size * 2;
  const Val away = Unary("Abs", s.corners ? x : x + 0.5);
  const Val off = fn.Op("Mod", {away, period}, Attrs().Int("fmod", 1));
  return fn.Op("Min", {off, period - off});
}

Val Clamped(Val size, Val x) {
  Fn& fn = *x.fn;
  return fn.Op("Min", {fn.Op("Max", {x, fn.Scalar(fn.TypeOf(x).dtype, 0)}), size - 1});
}

// Where points of -1 .. 1 lie, in elements.
Val PlacesOf(const Sampling& s, Val size, Val points) {
  Fn& fn = *points.fn;
  const Val at = s.corners ? (points + 1) / 2 * (size - 1) : ((points + 1) * size - 1) / 2;
  if (s.mode == "nearest") return Unary("Round", at);
  // Beyond the edges a cubic is not drawn on, as it is between the last element and its edge. What
  // is linear does not bend there, and what is folded is the same on both sides.
  if (s.mode != "cubic" || s.padding != "border") return at;
  const double edge = s.corners ? 0 : 0.5;
  const Val low = fn.Scalar(fn.TypeOf(at).dtype, -edge), high = size + (edge - 1);
  const Val inside =
      fn.Op("And", {Compare("GreaterOrEqual", at, low), Compare("LessOrEqual", at, high)});
  return Where(inside, at, Clamped(size, at));
}

// The weight of each element around a point as a polynomial of how far the point lies behind the
// element before it: coefficients of the highest power first, by element. Cubic: Keys' kernel with
// a = -0.75, expanded at each of the four distances.
std::vector<std::vector<double>> PolynomialsOf(const std::string& mode) {
  if (mode == "nearest") return {};
  if (mode == "linear") return {{-1, 1}, {1, 0}};
  return {{-0.75, 1.25, -1.25, 0.75}, {1.5, -2.25, 1.5, -0.75}, {-0.75, 0, 0.75, 0}, {0, 1, 0, 0}};
}

// What a point is made of: along one axis, or along several together. weight: absent = 1.
struct Taps {
  Val place, weight;
};

// at: [batch, axes, points], size: [axes, 1]
Taps TapsOf(const Sampling& s, Val size, Val at) {
  Fn& fn = *at.fn;
  const int32_t dtype = fn.TypeOf(at).dtype;
  const Val wide = Unsqueeze(size, {1});
  const auto polynomials = PolynomialsOf(s.mode);
  const auto by_place = [&](const std::vector<double>& v) {
    return Unsqueeze(fn.Vector(dtype, v), {1});
  };
  Taps taps;
  if (polynomials.empty()) {
    taps.place = Unsqueeze(at, {2});
  } else {
    const Val base = Unary("Floor", at), off = Unsqueeze(at - base, {2});
    const std::vector<double> around =
        s.mode == "linear" ? std::vector<double>{0, 1} : std::vector<double>{-1, 0, 1, 2};
    taps.place = Unsqueeze(base, {2}) + by_place(around);
    for (const std::vector<double>& c : polynomials) {
      const Val next = by_place(c);
      taps.weight = taps.weight ? taps.weight * off + next : next;
    }
  }
  if (s.padding == "zeros") {
    const Val there =
        fn.Op("And", {Compare("GreaterOrEqual", taps.place, 0), Compare("Less", taps.place, wide)});
    taps.weight = taps.weight ? Where(there, taps.weight, 0.0) : Ones(there, dtype);
  }
  taps.place = s.padding == "reflection" ? Folded(s, wide, taps.place) : Clamped(wide, taps.place);
  taps.place = fn.Cast(taps.place, GE_I64);
  return taps;
}

// The axes of one, in their order: [batch, 1, places, points] each. A point's numbers are those of
// the last axis first.
std::vector<Val> ByAxis(Val v, size_t axes) {
  if (!v) return std::vector<Val>(axes);
  if (axes == 1) return {v};
  const auto n = static_cast<uint32_t>(axes);
  std::vector<Val> parts = v.fn->Ops("Split", {v}, Attrs().Int("axis", 1).Int("num_outputs", n), n);
  std::reverse(parts.begin(), parts.end());
  return parts;
}

// All combinations of what lies along each axis: [batch, places, points].
Taps Combined(const Taps& taps, const std::vector<Val>& sizes, Val batch, Val points) {
  Fn& fn = *taps.place.fn;
  const int64_t each = fn.TypeOf(taps.place).dims[2].value;
  const std::vector<Val> places = ByAxis(taps.place, sizes.size()),
                         weights = ByAxis(taps.weight, sizes.size());
  Taps all{places[0], weights[0]};
  int64_t count = each;
  for (size_t i = 1; i < sizes.size(); ++i) {
    const std::vector<Val> apart = {batch, fn.Ints({count}), fn.Ints({1}), points};
    all.place = ReshapeTo(all.place, apart) * sizes[i] + places[i];
    if (all.weight) all.weight = ReshapeTo(all.weight, apart) * weights[i];
    count *= each;
  }
  const std::vector<Val> together = {batch, fn.Ints({count}), points};
  return {ReshapeTo(all.place, together), all.weight ? ReshapeTo(all.weight, together) : Val{}};
}

std::vector<Val> GridSampleParts(Back& b) {
  Fn& fn = b.fn();
  const Val x = b.x(0), grid = b.x(1);
  const int64_t rank = b.rank(x), axes = rank - 2;
  if (rank < 3) return b.Fail("an input's rank is not known"), std::vector<Val>{};
  const Sampling s{b.Int("align_corners") != 0, b.Text("mode", "linear"),
                   b.Text("padding_mode", "zeros")};
  std::vector<Val> sizes, last_first;
  for (int64_t i = 0; i < axes; ++i) sizes.push_back(SizeOf(x, 2 + i));
  last_first.assign(sizes.rbegin(), sizes.rend());
  const Val size = Unsqueeze(fn.Cast(Joined(last_first), b.type(grid).dtype), {1});
  const Val count = CountOf(grid, AxesFrom(1, rank - 1)), batch = SizeOf(x, 0),
            channels = SizeOf(x, 1);
  const Val points = SwapLast(ReshapeTo(grid, {batch, count, fn.Ints({axes})}));
  const Taps taps = Combined(TapsOf(s, size, PlacesOf(s, size, points)), sizes, batch, count);
  const Val rows = ReshapeTo(x, {batch, channels, CountOf(x, AxesFrom(2, rank))});
  const Val each = SizeOf(taps.place, 1), all = CountOf(taps.place, {1, 2});
  const Val at = ReshapeTo(taps.place, {batch, fn.Ints({1}), all});
  const Val wide = fn.Op("Expand", {at, Joined({batch, channels, all})});
  Val read = fn.Op("GatherElements", {rows, wide}, Attrs().Int("axis", 2));
  if (taps.weight) {
    const Val weight = Unsqueeze(fn.Cast(taps.weight, b.type(x).dtype), {1});
    read = ReduceSum(ReshapeTo(read, {batch, channels, each, count}) * weight, {2}, false);
  }
  std::vector<Val> shape = {batch, channels};
  for (int64_t i = 1; i < rank - 1; ++i) shape.push_back(SizeOf(grid, i));
  return {ReshapeTo(read, shape)};
}

}  // namespace

GE_GRAD(grid_sample) { return {{"", "GridSample", nullptr, {}, GridSampleParts}}; }

}  // namespace ge::grad

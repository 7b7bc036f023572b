#include "plugins/units/resample/resize.h"

#include <algorithm>
#include <cmath>

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

enum class Where { kHalfPixel, kSymmetric, kPytorch, kCorners, kAsymmetric };

// Where element i of an axis of `in` elements that become `out` lies in the input (ONNX, Resize:
// coordinate_transformation_mode). scale 0 is out / in; x / scale is rounded once then, so that a
// tie of nearest neighbours stays one.
double SourceOf(Where where, double scale, int64_t in, int64_t out, int64_t i) {
  const double x = static_cast<double>(i), n = static_cast<double>(in);
  const double to = static_cast<double>(out), width = scale == 0 ? to : scale * n;
  auto unscaled = [&](double at) { return scale == 0 ? at * n / to : at / scale; };
  switch (where) {
    case Where::kCorners:
      return width == 1 ? 0 : x * (n - 1) / (width - 1);
    case Where::kAsymmetric:
      return unscaled(x);
    case Where::kPytorch:
      return out == 1 ? 0 : unscaled(x + 0.5) - 0.5;
    case Where::kSymmetric:
      // n / 2 * (1 - to / width) + (x + 0.5) / scale - 0.5, with one division
      return scale == 0 ? unscaled(x + 0.5) - 0.5 : (n - 1) / 2 + (x + 0.5 - to / 2) / scale;
    case Where::kHalfPixel:
      break;
  }
  return unscaled(x + 0.5) - 0.5;
}

enum class Round { kNone, kPreferFloor, kPreferCeil, kFloor, kCeil };  // kNone: linear or cubic

Taps TapsOf(Where where, Round round, double scale, int64_t in, int64_t out) {
  Taps t;
  const double last = static_cast<double>(in - 1);
  auto clamp = [&](double i) { return static_cast<int32_t>(std::clamp(i, 0.0, last)); };
  for (int64_t i = 0; i < out; ++i) {
    // The distance from base lies in (0, 1].
    const double x = SourceOf(where, scale, in, out, i), base = std::ceil(x) - 1, w = x - base;
    if (round == Round::kNone) {
      // One pixel alone is the mean of itself: an infinity beside it has no weight at all.
      const int32_t next = clamp(base + 1), at = w == 1 ? next : clamp(base);
      t.at.push_back(at);
      t.next.push_back(next);
      t.w.push_back(at == next ? 0.5f : static_cast<float>(w));
      continue;
    }
    const bool right = round == Round::kCeil || w == 1 ||
                       (round == Round::kPreferFloor && w > 0.5) ||
                       (round == Round::kPreferCeil && w >= 0.5);
    t.at.push_back(clamp(base + (right ? 1 : 0)));
  }
  return t;
}

// How far elements weigh, of mode cubic or where aliases are kept out.
struct Kernel {
  bool cubic = false, antialias = false, exclude = false;
  double a = -0.75;
  double At(double d) const {
    if (!cubic) return std::max(0.0, 1 - d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
  }
};

// Elements beyond the ends count for those at the ends. False beyond a limit of taps.
bool WeighedOf(const Kernel& kernel, Where where, double scale, int64_t in, int64_t out,
               WeighedAxis* axis) {
  constexpr double kMostTaps = 4096;
  const double ratio = scale == 0 ? static_cast<double>(out) / static_cast<double>(in) : scale;
  const double shrink = kernel.antialias ? std::min(ratio, 1.0) : 1.0;
  const double half = std::ceil((kernel.cubic ? 2 : 1) / shrink);
  if (!(2 * half * static_cast<double>(out) < 0x1p26) || 2 * half > kMostTaps) return false;
  const double last = static_cast<double>(in - 1);
  axis->first.push_back(0);
  for (int64_t i = 0; i < out; ++i) {
    const double x = SourceOf(where, scale, in, out, i), base = std::ceil(x) - 1;
    const auto low = static_cast<int64_t>(std::clamp(base - half + 1, 0.0, last));
    const auto high = static_cast<int64_t>(std::clamp(base + half, 0.0, last));
    std::vector<double> w(static_cast<size_t>(high - low + 1), 0.0);
    double sum = 0;
    for (double at = base - half + 1; at <= base + half; ++at) {
      if (kernel.exclude && (at < 0 || at > last)) continue;
      const double share = kernel.At(std::fabs(x - at) * shrink);
      w[static_cast<size_t>(static_cast<int64_t>(std::clamp(at, 0.0, last)) - low)] += share;
      sum += share;
    }
    size_t begin = 0, end = w.size();
    while (begin + 1 < end && w[begin] == 0) ++begin;
    while (end > begin + 1 && w[end - 1] == 0) --end;
    const double whole = (kernel.antialias || kernel.exclude) && sum != 0 ? sum : 1;
    for (size_t k = begin; k < end; ++k) axis->w.push_back(static_cast<float>(w[k] / whole));
    axis->from.push_back(static_cast<int32_t>(low + static_cast<int64_t>(begin)));
    axis->first.push_back(static_cast<int32_t>(axis->w.size()));
  }
  return true;
}

bool ParseResample(const Parser& g, uint32_t i, Unit* u, Why* why) {
  static constexpr std::string_view kWhere[] = {
      "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"};
  static constexpr std::string_view kRound[] = {"", "round_prefer_floor", "round_prefer_ceil",
                                                "floor", "ceil"};
  const ge_node& n = g.node(i);
  const std::string_view mode = gp::AttrString(n, "mode");
  const std::string_view spot = gp::AttrString(n, "coordinate_transformation_mode");
  const std::string_view near = gp::AttrString(n, "nearest_mode");
  Where where = Where::kHalfPixel;
  Round round = Round::kNone;
  if (!Named(spot, kWhere, &where) || (mode == "nearest" && !Named(near, kRound, &round))) {
    return why->Say(GE_WHY_ATTRIBUTE, std::string(mode) + " with " + std::string(spot));
  }
  if (gp::AttrInts(n, "axes").size() != 0 ||
      gp::AttrString(n, "keep_aspect_ratio_policy") != "stretch") {
    return why->Say(GE_WHY_ATTRIBUTE, "axes or an aspect policy");
  }
  Kernel kernel;
  kernel.cubic = mode == "cubic";
  kernel.a = gp::AttrFloat(n, "cubic_coeff_a");
  kernel.antialias = gp::AttrInt(n, "antialias") != 0;
  kernel.exclude = gp::AttrInt(n, "exclude_outside") != 0;
  const bool weighed = mode != "nearest" && (kernel.cubic || kernel.antialias || kernel.exclude);
  const Dims x = g.dims(n.in[0]);
  if (u->dims.size() != x.size()) return why->Say(GE_WHY_SHAPE, "another rank");
  std::vector<float> scales;
  if (n.n_in > 2 && n.in[2] != 0 && Product(g.dims(n.in[2])) > 0) {
    if (!g.constant(n.in[2])) return why->Say(GE_WHY_DYNAMIC, "scales are not constant");
    scales = g.Floats(n.in[2]);
    if (scales.size() != x.size()) return why->Say(GE_WHY_SHAPE, "not one scale for each axis");
  }
  int linear = 0;
  std::vector<Taps> taps(x.size());
  std::vector<WeighedAxis> axes(x.size());
  for (size_t k = 0; k < x.size(); ++k) {
    const double scale = scales.empty() ? 0 : scales[k];
    if (!scales.empty() && !(scale > 0)) {
      return why->Say(GE_WHY_ATTRIBUTE, "a scale is not positive");
    }
    if (u->dims[k] == x[k] && (scale == 0 || scale == 1)) continue;
    if (weighed) {
      if (!WeighedOf(kernel, where, scale, x[k], u->dims[k], &axes[k])) {
        return why->Say(GE_WHY_SHAPE, "an element is made of too many others");
      }
      continue;
    }
    taps[k] = TapsOf(where, round, scale, x[k], u->dims[k]);
    linear += round == Round::kNone ? 1 : 0;
  }
  const auto stays = [](const WeighedAxis& a) { return a.from.empty(); };
  if (weighed && !std::all_of(axes.begin(), axes.end(), stays)) {
    u->spec = WeighSpec{std::move(axes)};
    return true;
  }
  if (linear > 4) return why->Say(GE_WHY_SHAPE, "more than 4 axes change");
  u->spec = ResampleSpec{std::move(taps)};
  return true;
}

bool ParseResize(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const std::string_view mode = gp::AttrString(n, "mode");
  const std::string_view where = gp::AttrString(n, "coordinate_transformation_mode");
  const std::string_view round = gp::AttrString(n, "nearest_mode");
  // With whole factors both of these read element floor(x / factor).
  const bool floor = where == "asymmetric" && round == "floor";
  const bool half =
      where == "half_pixel" && (round == "round_prefer_floor" || round == "round_prefer_ceil");
  bool whole = mode == "nearest" && (floor || half) && gp::AttrInts(n, "axes").size() == 0;
  const Dims x = g.dims(n.in[0]);
  Dims factors;
  for (size_t k = 0; k < x.size() && whole; ++k) {
    whole = u->dims[k] % x[k] == 0;
    factors.push_back(u->dims[k] / x[k]);
  }
  // A fractional scale can give the same dims as a whole one but other coordinates.
  if (whole && n.n_in > 2 && n.in[2] != 0 && Product(g.dims(n.in[2])) > 0) {
    if (!g.constant(n.in[2])) return why->Say(GE_WHY_DYNAMIC, "scales are not constant");
    const std::vector<float> s = g.Floats(n.in[2]);
    for (size_t k = 0; k < s.size() && k < x.size(); ++k) {
      whole = whole && s[k] == static_cast<float>(factors[k]);
    }
  }
  if (!whole) return ParseResample(g, i, u, why);
  u->spec = ResizeSpec{std::move(factors)};
  return true;
}

constexpr Operator kResizeOperators[] = {
    {.op = "Resize", .parse = ParseResize, .empty_constants = true},
};
}  // namespace

const UnitKind ResizeSpec::kKind = {
    .name = "resize", .operators = kResizeOperators, .follows = true};

const UnitKind ResampleSpec::kKind = {.name = "resample"};

const UnitKind WeighSpec::kKind = {.name = "weigh"};

}  // namespace ge_engines

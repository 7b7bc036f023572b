#include <optional>

#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

// What only floats are resized with.
void SetResizedWays(CaseMaker& m, const std::string& mode) {
  const bool by_size = m.c.inputs.size() > 3;
  const Dims& dims = m.c.inputs[0].tensor->dims;
  if (by_size && m.r.Chance(0.25)) {  // a window of the axes behind the first two
    std::vector<double> roi(2 * dims.size(), 0);
    for (size_t d = 0; d < dims.size(); ++d) {
      roi[d] = d < 2 ? 0 : m.r.Between(-0.4, 0.4);
      roi[dims.size() + d] = d < 2 ? 1 : m.r.Between(0.6, 1.4);
    }
    const auto count = static_cast<int64_t>(roi.size());
    m.c.inputs[1] = {m.Floats(DType::kFloat, {count}, roi), true, true};
    std::erase_if(m.c.attrs,
                  [](const Attr& a) { return a.name == "coordinate_transformation_mode"; });
    m.Set("coordinate_transformation_mode", std::string("tf_crop_and_resize"));
    if (m.r.Chance(0.6)) m.Set("extrapolation_value", IsFloat(m.dtype()) ? 3.5 : 3.0);
    return;
  }
  if (by_size && mode != "nearest" && m.r.Chance(0.3)) {
    m.Set("keep_aspect_ratio_policy", std::string(m.r.Chance(0.5) ? "not_larger" : "not_smaller"));
  }
  if (mode != "nearest" && m.r.Chance(0.3)) m.Set("antialias", int64_t{1});
  if (mode == "cubic" && m.r.Chance(0.4)) m.Set("exclude_outside", int64_t{1});
}

// Scales, sizes and windows of all axes, or of those behind the first two; the last one first.
void SetResizedAxes(CaseMaker& m) {
  const auto rank = static_cast<int64_t>(m.c.inputs[0].tensor->dims.size());
  const int64_t first = m.r.Chance(0.4) ? 0 : 2;
  Dims axes;
  for (int64_t d = rank - 1; d >= first; --d) axes.push_back(m.Axis(d, rank));
  for (size_t i = 1; i < m.c.inputs.size(); ++i) {
    const auto& all = m.c.inputs[i].tensor;
    if (all == nullptr) continue;
    std::vector<double> some;
    for (int64_t part = 0; part < all->count(); part += rank) {
      for (int64_t d = rank - 1; d >= first; --d) some.push_back(ElementAsDouble(*all, part + d));
    }
    m.c.inputs[i].tensor = m.Floats(all->dtype, {static_cast<int64_t>(some.size())}, some);
  }
  m.Set("axes", axes);
}

void ResizeCase(CaseMaker& m) {
  if (m.r.Chance(0.25)) return RepeatCase(m);
  Dims dims = Cat({m.r.Int(1, 2), m.Size(2, 24)}, m.Shape(1, 2, false));
  for (size_t i = 2; m.large && i < dims.size(); ++i)
    dims[i] = m.Size(0, dims.size() == 4 ? 50 : 400);
  std::string mode = m.r.Pick(std::vector<std::string>{"nearest", "linear", "cubic"});
  if (m.dtype() == DType::kBool) mode = "nearest";  // there is nothing between true and false
  // Whole numbers between which an integer is taken: shares of few bits make a tie one for
  // everybody.
  const bool exact = !IsFloat(m.dtype()) && mode != "nearest";
  const std::vector<double> halves = {0.5, 1, 2, 4}, more = {0.5, 1, 1.5, 2, 2.5, 4};
  m.Add(Signal(m, dims));
  m.AddAbsent();
  std::vector<double> scales(dims.size(), 1);
  std::vector<int64_t> sizes = dims;
  for (size_t i = 2; i < dims.size(); ++i) {
    // Sums of powers of two: positions come out the same however they are computed.
    scales[i] = m.r.Pick(exact ? halves : more);
    while (static_cast<double>(dims[i]) * scales[i] < 1) scales[i] *= 2;
    sizes[i] = m.Size(9, dims.size() == 4 ? 70 : 500);
  }
  const auto rank = static_cast<int64_t>(dims.size());
  if (exact || m.r.Chance(0.6)) {
    m.AddConstant(m.Floats(DType::kFloat, {rank}, scales));
  } else {
    m.AddAbsent();
    m.AddConstant(m.Ints(DType::kInt64, {rank}, sizes));
  }
  m.Set("mode", mode);
  // Cubic weights overshoot, and narrow integers then saturate: their widths differ rightly.
  m.c.typed = IsFloat(m.dtype()) || mode != "cubic";
  m.Set("coordinate_transformation_mode",
        m.r.Pick(exact ? std::vector<std::string>{"half_pixel", "pytorch_half_pixel", "asymmetric"}
                       : std::vector<std::string>{"half_pixel", "half_pixel_symmetric",
                                                  "pytorch_half_pixel", "align_corners",
                                                  "asymmetric"}));
  if (mode == "nearest" && m.r.Chance(0.7)) {
    m.Set("nearest_mode", m.r.Pick(std::vector<std::string>{"round_prefer_floor",
                                                            "round_prefer_ceil", "floor", "ceil"}));
  }
  if (mode == "cubic" && m.r.Chance(0.4)) m.Set("cubic_coeff_a", -0.5);
  if (!exact) SetResizedWays(m, mode);
  if (m.r.Chance(0.3)) SetResizedAxes(m);
}

// Where axis d stands among those that are resized; nothing where it is not.
std::optional<int64_t> PlaceOfAxis(const RandomCase& c, size_t d) {
  const auto rank = static_cast<int64_t>(c.inputs[0].tensor->dims.size());
  const Attr* a = FindAttr(c, "axes");
  if (a == nullptr) return static_cast<int64_t>(d);
  const auto& axes = std::get<std::vector<int64_t>>(a->value);
  for (size_t k = 0; k < axes.size(); ++k) {
    if ((axes[k] + rank) % rank == static_cast<int64_t>(d)) return static_cast<int64_t>(k);
  }
  return std::nullopt;
}

// One axis: its size, that of the result, and result / input as `scales` has it.
struct ResizedAxis {
  int64_t in, out;
  double scale;
};

// Where element i of the result lies among those of the input. Sizes are whole: their quotients
// are taken last, so that a place between two neighbours is exact.
double PlainSource(const std::string& mode, const ResizedAxis& a, bool by_size, int64_t i) {
  const auto x = static_cast<double>(i), in = static_cast<double>(a.in),
             out = static_cast<double>(a.out);
  const double whole = by_size ? out : a.scale * in;  // may be a fraction
  const auto back = [&](double v) { return by_size ? v * in / out : v / a.scale; };
  if (mode == "asymmetric") return back(x);
  if (mode == "align_corners") return whole == 1 ? 0 : x * (in - 1) / (whole - 1);
  if (mode == "pytorch_half_pixel") return a.out > 1 ? back(x + 0.5) - 0.5 : 0;
  const double centre = in / 2 - out / whole * in / 2;  // how far the middle moved
  return (mode == "half_pixel_symmetric" ? centre : 0) + back(x + 0.5) - 0.5;
}

double CubicWeight(double d, double a) {
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

// The elements of an axis that make one of the result, and their shares.
using Shares = std::vector<std::pair<int64_t, double>>;

Shares PlainNearest(const RandomCase& c, const ResizedAxis& a, double at) {
  const std::string mode = TextOr(c, "nearest_mode", "round_prefer_floor");
  const double v = mode == "floor"               ? std::floor(at)
                   : mode == "ceil"              ? std::ceil(at)
                   : mode == "round_prefer_ceil" ? std::floor(at + 0.5)
                                                 : std::ceil(at - 0.5);
  return {{std::clamp<int64_t>(static_cast<int64_t>(v), 0, a.in - 1), 1.0}};
}

Shares PlainInterpolated(const RandomCase& c, const ResizedAxis& a, double at) {
  const bool cubic = TextOr(c, "mode", "nearest") == "cubic", wide = IntOr(c, "antialias", 0) != 0;
  const double shrink = wide ? std::min(a.scale, 1.0) : 1;
  const auto reach = static_cast<int64_t>(std::ceil((cubic ? 2 : 1) / shrink)) + 1;
  const auto base = static_cast<int64_t>(std::floor(at));
  Shares shares;
  double sum = 0;
  for (int64_t i = base - reach; i <= base + reach; ++i) {
    const double away = std::fabs(at - static_cast<double>(i)) * shrink;
    double share =
        cubic ? CubicWeight(away, FloatOr(c, "cubic_coeff_a", -0.75)) : std::max(0.0, 1 - away);
    if (IntOr(c, "exclude_outside", 0) != 0 && (i < 0 || i >= a.in)) share = 0;
    shares.emplace_back(std::clamp<int64_t>(i, 0, a.in - 1), share);
    sum += share;
  }
  const bool whole = wide || IntOr(c, "exclude_outside", 0) != 0;
  for (auto& [place, share] : shares) share /= whole && sum != 0 ? sum : 1;
  return shares;
}

// One scale for all axes: the least or the greatest.
double KeptScale(const RandomCase& c) {
  const HostTensor &x = *c.inputs[0].tensor, &sizes = *Maybe(c, 3);
  const bool larger = TextOr(c, "keep_aspect_ratio_policy", "") == "not_smaller";
  double scale = larger ? 0 : 1e9;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    const auto place = PlaceOfAxis(c, d);
    if (!place) continue;
    const double one = ElementAsDouble(sizes, *place) / static_cast<double>(x.dims[d]);
    scale = larger ? std::max(scale, one) : std::min(scale, one);
  }
  return scale;
}

// From the window's first place to its last.
double CroppedSource(const HostTensor& roi, int64_t place, const ResizedAxis& a, int64_t i) {
  const double begin = ElementAsDouble(roi, place),
               end = ElementAsDouble(roi, roi.count() / 2 + place),
               last = static_cast<double>(a.in - 1);
  if (a.out == 1) return 0.5 * (begin + end) * last;
  return begin * last +
         static_cast<double>(i) * (end - begin) * last / static_cast<double>(a.out - 1);
}

std::vector<std::vector<Shares>> PlainShares(const RandomCase& c, const Dims& out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const HostTensor *scales = Maybe(c, 2), *sizes = Maybe(c, 3);
  const std::string mode = TextOr(c, "coordinate_transformation_mode", "half_pixel");
  std::vector<std::vector<Shares>> axes(x.dims.size());
  for (size_t d = 0; d < axes.size(); ++d) {
    ResizedAxis a{x.dims[d], out[d], 1};
    const auto place = PlaceOfAxis(c, d);
    const bool by_size = sizes != nullptr && !FindAttr(c, "keep_aspect_ratio_policy");
    if (place) {
      a.scale = by_size            ? static_cast<double>(a.out) / static_cast<double>(a.in)
                : sizes != nullptr ? KeptScale(c)
                                   : ElementAsDouble(*scales, *place);
    }
    const bool crops = place && d >= 2 && mode == "tf_crop_and_resize";
    for (int64_t i = 0; i < a.out; ++i) {
      const double at =
          crops ? CroppedSource(*Maybe(c, 1), *place, a, i) : PlainSource(mode, a, by_size, i);
      if (crops && (at < 0 || at > static_cast<double>(a.in - 1))) {
        axes[d].push_back({{-1, 1.0}});
      } else if (a.scale == 1 && !crops) {
        axes[d].push_back({{i, 1.0}});
      } else if (TextOr(c, "mode", "nearest") == "nearest") {
        axes[d].push_back(PlainNearest(c, a, at));
      } else {
        axes[d].push_back(PlainInterpolated(c, a, at));
      }
    }
  }
  return axes;
}

void SetResized(HostTensor* out, int64_t i, double v) {
  if (IsFloat(out->dtype)) return SetElement(out, i, v);
  const bool is_signed = (Bit(out->dtype) & kSignedInts) != 0;
  const int bits = DTypeBits(out->dtype);
  const double most = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  SetIntElement(
      out, i, static_cast<int64_t>(std::clamp(std::nearbyint(v), is_signed ? -most - 1 : 0, most)));
}

bool PlainResize(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const HostTensor *scales = Maybe(c, 2), *sizes = Maybe(c, 3);
  for (size_t d = 0; d < x.dims.size(); ++d) {
    const auto place = PlaceOfAxis(c, d);
    const auto in = static_cast<double>(x.dims[d]);
    const double given = !place             ? in
                         : sizes == nullptr ? std::floor(in * ElementAsDouble(*scales, *place))
                         : FindAttr(c, "keep_aspect_ratio_policy") != nullptr
                             ? std::floor(in * KeptScale(c) + 0.5)
                             : ElementAsDouble(*sizes, *place);
    if (static_cast<double>(out->dims[d]) != given) return false;
  }
  const auto axes = PlainShares(c, out->dims);
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    std::vector<std::pair<int64_t, double>> from = {{0, 1.0}};
    bool outside = false;  // of the window's axis
    for (size_t d = 0; d < axes.size(); ++d) {
      std::vector<std::pair<int64_t, double>> next;
      for (const auto& [place, share] : from) {
        for (const auto& [k, more] : axes[d][static_cast<size_t>(at.at[d])]) {
          outside |= k < 0;
          if (more != 0) next.emplace_back(place * x.dims[d] + k, share * more);
        }
      }
      from = std::move(next);
    }
    if (outside) {
      SetElement(out, i, FloatOr(c, "extrapolation_value", 0));
      continue;
    }
    if (from.size() == 1 && from[0].second == 1) {
      Copy(x, from[0].first, out, i);
      continue;
    }
    double sum = 0;
    for (const auto& [place, share] : from) sum += ElementAsDouble(x, place) * share;
    // Between whole numbers the nearest is taken, and the type's ends beyond them.
    SetResized(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(resize) = {"Resize", ResizeCase, 4e-6, Error::kOfTerms, PlainResize};

}  // namespace ge::test

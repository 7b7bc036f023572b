#include "tools/ge_test/random/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {
namespace {

constexpr double kUnit32 = 0x1p-24;
// Draws of signs by which inputs are moved, where not all combinations are tried.
constexpr int kDraws = 6;
// Of the root mean square of what those draws change: a rounding error has no more than three
// times its deviation in 997 of 1,000 elements, and the mean over the output covers the others.
constexpr double kDeviations = 3;
// Roundings of the input that an elementwise function may amplify: its own argument, once scaled
// and once reduced.
constexpr double kArgumentRoundings = 2;

bool IsApproximateType(DType t) { return UnitOf(t) > 0; }

// What counts as zero or is rounded as much: below the least normal number, since denormal ones
// are flushed; halves keep theirs.
double TinyOf(DType t) {
  switch (t) {
    case DType::kDouble:
    case DType::kComplex128:
      return 0x1p-1022;
    case DType::kFloat16:
      return 0x1p-24;
    default:
      return 0x1p-126;
  }
}

double RoundedTo(DType dtype, double value) {
  auto one = MakeTensor(dtype, {1});
  if (!one.ok()) return value;
  SetElement(&*one, 0, value);
  return ElementAsDouble(*one, 0);
}

int64_t Numbers(const HostTensor& t) {
  const bool pairs = t.dtype == DType::kComplex64 || t.dtype == DType::kComplex128;
  return t.count() * (pairs ? 2 : 1);
}

// The case with every number of its float inputs, and every float attribute, without its sign.
RandomCase WithoutSigns(const RandomCase& c) {
  RandomCase out = c;
  for (auto& in : out.inputs) {
    if (!in.tensor || !IsApproximateType(in.tensor->dtype)) continue;
    auto t = Convert(*in.tensor, in.tensor->dtype);
    for (int64_t i = 0, n = Numbers(*t); i < n; ++i) {
      SetElement(t.get(), i, std::fabs(ElementAsDouble(*t, i)));
    }
    in.tensor = std::move(t);
  }
  for (Attr& a : out.attrs) {
    if (auto* v = std::get_if<double>(&a.value)) *v = std::fabs(*v);
  }
  return out;
}

// Whether native may compute it by Winograd's transforms.
bool MayTransform(const RandomCase& c) {
  if (std::string_view(c.op->name) != "Conv" || c.inputs[0].tensor->dtype != DType::kFloat) {
    return false;
  }
  const Dims& w = c.inputs[1].tensor->dims;
  return w.size() == 4 && w[2] == 3 && w[3] == 3 && IntOr(c, "group", 1) == 1 &&
         IntsOr(c, "strides", {1, 1}) == Dims{1, 1} && IntsOr(c, "dilations", {1, 1}) == Dims{1, 1};
}

// Every element of [image][channel][y][x] becomes the greatest of its tile.
void SpreadOverTiles(const Dims& dims, std::vector<double>* sizes) {
  constexpr int64_t kTile = 4;  // pixels a side of the largest tiles, in which smaller ones lie
  const int64_t rows = dims[2], columns = dims[3], across = (columns + kTile - 1) / kTile;
  std::vector<double> tops(static_cast<size_t>(across));
  for (size_t line = 0; line < sizes->size(); line += static_cast<size_t>(columns)) {
    const auto y = static_cast<int64_t>(line) / columns % rows;
    if (y % kTile != 0) continue;
    const int64_t end = std::min(kTile, rows - y) * columns;
    std::fill(tops.begin(), tops.end(), 0.0);
    for (int64_t i = 0; i < end; ++i) {
      double& top = tops[static_cast<size_t>(i % columns / kTile)];
      top = std::max(top, (*sizes)[line + static_cast<size_t>(i)]);
    }
    for (int64_t i = 0; i < end; ++i) {
      (*sizes)[line + static_cast<size_t>(i)] = tops[static_cast<size_t>(i % columns / kTile)];
    }
  }
}

bool MayMove(const RandomCase::Input& in) {
  return in.tensor && !in.decides_shape && IsApproximateType(in.tensor->dtype);
}

}  // namespace

double GreatestFinite(const HostTensor& tensor) {
  double most = 0;
  for (int64_t i = 0, n = Numbers(tensor); i < n; ++i) {
    const double v = std::fabs(ElementAsDouble(tensor, i));
    if (std::isfinite(v)) most = std::max(most, v);
  }
  return most;
}

double UnitOf(DType dtype) {
  switch (dtype) {
    case DType::kDouble:
    case DType::kComplex128:
      return 0x1p-53;
    case DType::kFloat:
    case DType::kComplex64:
      return kUnit32;
    case DType::kFloat16:
      return 0x1p-11;
    case DType::kBfloat16:
      return 0x1p-8;
    default:
      return 0;
  }
}

DType WiderDType(const RandomCase& sample, DType dtype) {
  if (!sample.typed || sample.op->inputs.empty()) return DType::kUndefined;
  const double unit = UnitOf(dtype);
  for (const DType t : {DType::kDouble, DType::kFloat}) {
    if (UnitOf(t) < unit && (sample.op->inputs[0].dtypes & Bit(t)) != 0) return t;
  }
  return DType::kUndefined;
}

// Of the result itself: once, and twice where the wanted one was rounded to the same type.
double Bounds::Rounding(const HostTensor& found, const HostTensor& wanted) const {
  const double f = UnitOf(found.dtype), w = UnitOf(wanted.dtype);
  return f == w ? 2 * f : f + w;
}

// Halves are computed with in f32, so their own units count only where several nodes run.
double Bounds::Arithmetic(const HostTensor& found, const HostTensor& wanted) const {
  const double unit = std::max(UnitOf(found.dtype), UnitOf(wanted.dtype));
  const double in_f32 = op_.bound * std::sqrt(static_cast<double>(std::max<int64_t>(1, c_.terms)));
  const double arithmetic = unit < kUnit32 ? in_f32 * unit / kUnit32 : in_f32;
  return arithmetic + (unit > kUnit32 ? op_.steps * unit : 0);
}

// Of the two factors of each product, where the run may round them to bfloat16: 2^-8 each.
double Bounds::RoundedInputs() const {
  static const std::set<std::string_view> kProducts = {"MatMul", "Gemm", "Conv"};
  const bool may = TheSettings().precision == Precision::kBf16 && dtype_ == DType::kFloat &&
                   kProducts.count(c_.op->name) > 0;
  return may ? 0x1p-7 + 0x1p-16 : 0;
}

double Bounds::Own(const HostTensor& found, const HostTensor& wanted, double w) const {
  const double arithmetic = op_.error == Error::kOfElement || op_.error == Error::kOfInputs
                                ? Arithmetic(found, wanted)
                                : 0;
  return (Rounding(found, wanted) + arithmetic) * std::fabs(w) + TinyOf(found.dtype);
}

double Bounds::Whole(size_t output, const HostTensor& found, const HostTensor& wanted, int64_t i) {
  const double own = Own(found, wanted, ElementAsDouble(wanted, i));
  const auto& size = size_[output];
  const bool in_double = std::max(UnitOf(found.dtype), UnitOf(wanted.dtype)) < kUnit32;
  const double share = op_.error == Error::kOfElement
                           ? kArgumentRoundings * (in_double ? 0x1p-53 : kUnit32)
                           : Arithmetic(found, wanted) + RoundedInputs();
  return size.empty() ? own : own + share * size[static_cast<size_t>(i)];
}

bool Bounds::IsNear(double f, double w, double allowed, DType narrow) const {
  if (std::isnan(w) || std::isnan(f)) return std::isnan(w) && std::isnan(f);
  if (f == w) return true;
  if (std::isinf(w)) return false;
  // A number that is too large for the narrower type became infinite there.
  if (std::isinf(f)) return RoundedTo(narrow, w + std::copysign(allowed, f)) == f;
  return std::fabs(f - w) <= allowed;
}

std::string Bounds::CodesDiffer(size_t output, const HostTensor& found,
                                const HostTensor& wanted) const {
  auto out = Convert(found, wanted.dtype);
  if (output > 0 || op_.before == nullptr) return ge::test::Differs(*out, wanted, Tolerance());
  Index at(wanted.dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const double f = ElementAsDouble(*out, i), w = ElementAsDouble(wanted, i);
    if (std::fabs(f - w) != 1) continue;
    const BeforeCode before = op_.before(c_, at.at);
    if (std::fabs(before.value - (f + w) / 2) <= before.error) SetElement(out.get(), i, w);
  }
  return ge::test::Differs(*out, wanted, Tolerance());
}

std::string Bounds::Differs(size_t output, const HostTensor& found, const HostTensor& wanted) {
  if (found.dims != wanted.dims ||
      (found.dtype != wanted.dtype && IsFloat(found.dtype) != IsFloat(wanted.dtype))) {
    return fmt::format("found {}, wanted {}", TypeText(found), TypeText(wanted));
  }
  if (op_.bound == 0 || !IsApproximateType(found.dtype)) {
    return CodesDiffer(output, found, wanted);
  }
  for (int64_t i = 0, n = Numbers(found); i < n; ++i) {
    const double f = ElementAsDouble(found, i), w = ElementAsDouble(wanted, i);
    if (IsNear(f, w, Own(found, wanted, w), found.dtype)) continue;
    Measure(output, wanted);
    const double allowed = Whole(output, found, wanted, i);
    if (IsNear(f, w, allowed, found.dtype)) continue;
    return fmt::format("element {} is {}, wanted {}, may be off by {:.3g}{}",
                       IndexText(i * found.count() / n, wanted.dims), f, w, allowed, why_not_);
  }
  return "";
}

double Bounds::Share(size_t output, const HostTensor& found, const HostTensor& wanted) {
  const double greatest = GreatestFinite(wanted);
  if (op_.bound == 0 || !IsApproximateType(found.dtype) || greatest == 0) return 0;
  Measure(output, wanted);
  double most = 0;
  for (int64_t i = 0, n = Numbers(found); i < n; ++i) {
    if (!std::isfinite(ElementAsDouble(wanted, i))) continue;
    most = std::max(most, Whole(output, found, wanted, i) / greatest);
  }
  return most;
}

void Bounds::Measure(size_t output, const HostTensor& wanted) {
  size_.resize(static_cast<size_t>(c_.outputs));
  if (op_.error == Error::kOfOutput || op_.error == Error::kOfTerms) {
    if (!size_[output].empty()) return;  // once an output, not once an element
    double greatest = GreatestFinite(wanted);
    for (const auto& in : c_.inputs) {
      if (op_.error == Error::kOfOutput || !in.tensor || !IsFloat(in.tensor->dtype)) continue;
      greatest = std::max(greatest, GreatestFinite(*in.tensor));
    }
    size_[output].assign(static_cast<size_t>(Numbers(wanted)), greatest);
  } else if (!measured_) {
    measured_ = true;
    op_.error == Error::kOfSums ? MeasureSums() : MeasureInputs();
  }
}

// The sums of the terms' magnitudes, of which rounding errors are a part whatever cancels: the
// answer for the same numbers without their signs. In a tile of Winograd's every pixel passes
// through the transforms of all others, so there an error is a part of the tile's greatest sum
// (docs/numerics.md): of a pixel whose own window lies mostly in the padding that is far more.
void Bounds::MeasureSums() {
  auto run = RunRandomCase(WithoutSigns(c_), WiderDType(c_, dtype_), "ref");
  if (!run.ok()) {
    why_not_ = "; ref without signs: " + run.status().ToString();
    return;
  }
  for (size_t o = 0; o < size_.size(); ++o) {
    const HostTensor& t = run->outputs[o];
    for (int64_t i = 0, n = Numbers(t); i < n; ++i) size_[o].push_back(ElementAsDouble(t, i));
    if (MayTransform(c_)) SpreadOverTiles(t.dims, &size_[o]);
  }
}

// By what share inputs are moved. As much as a half is rounded, since that is what several nodes do
// to it; else little, but more than the run's own roundings by three decimal digits.
double Bounds::MoveBy() const {
  const DType run = WiderDType(c_, dtype_) == DType::kUndefined ? dtype_ : WiderDType(c_, dtype_);
  if (UnitOf(run) > kUnit32) return 4 * UnitOf(run);
  if (op_.steps > 0 && UnitOf(dtype_) > kUnit32) return UnitOf(dtype_);
  return UnitOf(run) == kUnit32 ? 0x1p-12 : 0x1p-20;
}

// The outputs of ref where each float of an input is off by the share `by`, up or down.
std::vector<HostTensor> Bounds::Moved(int draw, double by, std::string* why) const {
  const DType wider = WiderDType(c_, dtype_);
  const int movable = static_cast<int>(std::count_if(c_.inputs.begin(), c_.inputs.end(), MayMove));
  const bool together = op_.error == Error::kOfElement && movable <= 2;
  Random r(static_cast<uint64_t>(draw) + 77);
  RandomCase c = c_;
  int place = 0;
  for (auto& in : c.inputs) {
    if (!MayMove(in)) continue;
    const bool follows = in.tensor->dtype == dtype_ && wider != DType::kUndefined;
    auto t = Convert(*in.tensor, follows ? wider : in.tensor->dtype);
    const double sign = ((draw >> place++) & 1) != 0 ? 1 : -1;
    for (int64_t i = 0, n = Numbers(*t); i < n; ++i) {
      const double s = together ? sign : r.Chance(0.5) ? 1 : -1;
      SetElement(t.get(), i, ElementAsDouble(*t, i) * (1 + s * by));
    }
    in.tensor = std::move(t);
  }
  auto run = RunRandomCase(c, wider, "ref");
  if (run.ok()) return std::move(run->outputs);
  *why = "; ref on moved inputs: " + run.status().ToString();
  return {};
}

void Bounds::MeasureInputs() {
  auto still = RunRandomCase(c_, WiderDType(c_, dtype_), "ref");
  if (!still.ok()) {
    why_not_ = "; ref: " + still.status().ToString();
    return;
  }
  const int movable = static_cast<int>(std::count_if(c_.inputs.begin(), c_.inputs.end(), MayMove));
  const bool one_by_one = op_.error == Error::kOfElement;
  const int draws = one_by_one && movable <= 2 ? 1 << movable : kDraws;
  double by = MoveBy();
  for (size_t o = 0; o < size_.size(); ++o) {
    // An output may follow an input that has no wider type: what moves must outweigh its rounding.
    by = std::max(by, 16 * UnitOf(still->outputs[o].dtype));
    size_[o].assign(static_cast<size_t>(Numbers(still->outputs[o])), 0);
  }
  for (int draw = 0; draw < draws; ++draw) {
    const auto moved = Moved(draw, by, &why_not_);
    for (size_t o = 0; o < moved.size() && o < size_.size(); ++o) {
      if (moved[o].dims != still->outputs[o].dims) continue;
      for (size_t i = 0; i < size_[o].size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const double change =
            std::fabs(ElementAsDouble(moved[o], at) - ElementAsDouble(still->outputs[o], at)) / by;
        if (!std::isfinite(change)) continue;
        size_[o][i] = one_by_one ? std::max(size_[o][i], change) : size_[o][i] + change * change;
      }
    }
  }
  if (one_by_one) return;
  for (auto& size : size_) {
    double sum = 0;
    for (const double v : size) sum += v / draws;
    const double mean = size.empty() ? 0 : std::sqrt(sum / static_cast<double>(size.size()));
    for (double& v : size) v = kDeviations * std::max(std::sqrt(v / draws), mean);
  }
}

}  // namespace ge::test

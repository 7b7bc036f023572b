#include "oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ge::conform {
namespace {

constexpr int kDraws = 6;
// Of the root mean square of what the draws change: a rounding error stays below three deviations.
constexpr double kDeviations = 3;
// Roundings of its argument that an elementwise function may amplify: scaled once, reduced once.
constexpr double kArgumentRoundings = 2;

bool SameBits(const Tensor& a, const Tensor& b, int64_t i) {
  const size_t bytes = plugin::ElementBits(a.dtype) / 8;
  const size_t at = static_cast<size_t>(i) * bytes;
  return std::memcmp(&a.bytes[at], &b.bytes[at], bytes) == 0;
}

bool IsWidened(int32_t dtype) { return dtype == GE_F32 || dtype == GE_F16 || dtype == GE_BF16; }

}  // namespace

Sample Widened(const Sample& sample) {
  Sample out = sample;
  for (mock::Value& v : out.graph.values) {
    if (!IsWidened(v.type.dtype)) continue;
    v.type.dtype = GE_F64;
    if (v.constant != nullptr) {
      v.constant = std::make_shared<const Tensor>(Converted(*v.constant, GE_F64));
    }
  }
  for (mock::Node& n : out.graph.nodes) {
    for (mock::Attr& a : n.attrs) {
      if (a.name == "to" && IsWidened(static_cast<int32_t>(a.i))) a.i = GE_F64;
    }
  }
  for (Tensor& t : out.inputs) {
    if (IsWidened(t.dtype)) t = Converted(t, GE_F64);
  }
  return out;
}

bool Oracle::Prepare(std::string* why) {
  if (!RunRef(ref_, sample_.graph, sample_.inputs, &plain_, why)) return false;
  truth_ = plain_;
  if (bound_.rule == Rule::kExact || bound_.rule == Rule::kCodes) return true;
  wide_ = Widened(sample_);
  std::string ignored;
  Values wide;
  is_wide_ = RunRef(ref_, wide_.graph, wide_.inputs, &wide, &ignored);
  if (is_wide_) truth_ = std::move(wide);
  if (!is_wide_) wide_ = sample_;
  return true;
}

template <class Change>
bool Oracle::RunChanged(const Change& change, Values* out) {
  Sample moved = wide_;
  int place = 0;
  const auto move = [&](Tensor* t) {
    if (!IsFloat(t->dtype)) return;
    for (int64_t i = 0, n = t->count(); i < n; ++i) {
      SetElement(t, i, change(ElementOf(*t, i), place, i));
    }
    ++place;
  };
  for (Tensor& t : moved.inputs) move(&t);
  for (mock::Value& v : moved.graph.values) {
    if (v.constant == nullptr) continue;
    auto t = std::make_shared<Tensor>(*v.constant);
    move(t.get());
    v.constant = t;
  }
  std::string ignored;
  return RunRef(ref_, moved.graph, moved.inputs, out, &ignored);
}

void Oracle::Measure() {
  measured_ = true;
  for (const auto& [v, t] : truth_) size_[v].assign(static_cast<size_t>(t.count()), 0);
  Values out;
  if (bound_.rule == Rule::kOperands) {
    double most = 0;
    for (const Tensor& t : sample_.inputs) {
      for (int64_t i = 0; IsFloat(t.dtype) && i < t.count(); ++i) {
        const double x = std::fabs(ElementOf(t, i));
        if (std::isfinite(x) && x < 1e4) most = std::max(most, x);
      }
    }
    for (auto& [v, size] : size_) std::fill(size.begin(), size.end(), most);
    return;
  }
  if (bound_.rule == Rule::kSums) {
    if (!RunChanged([](double x, int, int64_t) { return std::fabs(x); }, &out)) return;
    for (auto& [v, size] : size_) {
      for (size_t i = 0; i < size.size(); ++i) {
        size[i] = std::fabs(ElementOf(out[v], static_cast<int64_t>(i)));
      }
    }
    return;
  }
  const double by = is_wide_ ? 0x1p-20 : 0x1p-12;
  const bool together = bound_.rule == Rule::kElement;
  for (int draw = 0; draw < kDraws; ++draw) {
    Random r(static_cast<uint64_t>(draw) + 77);
    const auto change = [&](double x, int place, int64_t) {
      const bool up = together ? ((draw >> (place % 3)) & 1) != 0 : r.Chance(0.5);
      return x * (1 + (up ? by : -by));
    };
    if (!RunChanged(change, &out)) return;
    for (auto& [v, size] : size_) {
      for (size_t i = 0; i < size.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const double moved = std::fabs(ElementOf(out[v], at) - ElementOf(truth_[v], at)) / by;
        if (!std::isfinite(moved)) continue;
        size[i] = together ? std::max(size[i], moved) : size[i] + moved * moved;
      }
    }
  }
  if (together) return;
  double greatest = 0;
  for (const auto& [v, t] : truth_) {
    for (int64_t i = 0; bound_.floor > 0 && IsFloat(t.dtype) && i < t.count(); ++i) {
      const double w = std::fabs(ElementOf(t, i));
      if (std::isfinite(w)) greatest = std::max(greatest, w);
    }
  }
  for (auto& [v, size] : size_) {
    double sum = 0;
    for (const double s : size) sum += s / kDraws;
    const double mean = size.empty() ? 0 : std::sqrt(sum / static_cast<double>(size.size()));
    const double least = std::max(mean, bound_.floor * greatest);
    for (double& s : size) s = kDeviations * std::max(std::sqrt(s / kDraws), least);
  }
}

// Halves are computed with in f32; f64 in itself.
double Oracle::Allowed(const Known& k, int64_t i, int32_t dtype) const {
  const double own = UnitOf(dtype), arithmetic = std::min(own, UnitOf(GE_F32));
  const double w = std::fabs(ElementOf(k.truth, i));
  const double roundings = bound_.steps * (is_wide_ && dtype != GE_F64 ? 1 : 2);
  const double share = bound_.rule == Rule::kElement ? kArgumentRoundings
                       : bound_.rule == Rule::kSums  ? roundings * (1 + std::sqrt(bound_.terms))
                                                     : roundings;
  return (2 * own + roundings * arithmetic) * w +
         share * arithmetic * k.size[static_cast<size_t>(i)] + TinyOf(dtype);
}

std::string Oracle::DiffersExactly(const Tensor& found, const Tensor& wanted, double codes) const {
  for (int64_t i = 0, n = wanted.count(); i < n; ++i) {
    if (SameBits(found, wanted, i)) continue;
    const double f = ElementOf(found, i), w = ElementOf(wanted, i);
    if (std::isnan(f) && std::isnan(w)) continue;
    if (f == w && IsFloat(found.dtype)) continue;  // zeros of either sign
    if (std::fabs(f - w) <= codes) continue;
    return fmt::format("element {} is {}, wanted {}", IndexText(i, wanted.dims), f, w);
  }
  return "";
}

std::string Oracle::Differs(uint32_t value, const Tensor& found) {
  const auto plain = plain_.find(value);
  if (plain == plain_.end()) return "a value that the graph does not have";
  const Tensor& wanted = plain->second;
  if (found.dtype != wanted.dtype || found.dims != wanted.dims ||
      found.bytes.size() != wanted.bytes.size()) {
    return fmt::format("found {}, wanted {}", TypeText(found), TypeText(wanted));
  }
  if (!IsFloat(found.dtype) || bound_.rule == Rule::kExact || bound_.rule == Rule::kCodes) {
    return DiffersExactly(found, wanted, bound_.rule == Rule::kCodes ? 1 : 0);
  }
  Known k;
  k.truth = truth_[value];
  for (int64_t i = 0, n = found.count(); i < n; ++i) {
    const double f = ElementOf(found, i), w = ElementOf(k.truth, i);
    const double narrow = RoundedTo(found.dtype, w);
    if (f == narrow || (std::isnan(f) && std::isnan(w))) continue;
    if (!measured_) Measure();
    if (k.size.empty()) k.size = size_[value];
    const double allowed = Allowed(k, i, found.dtype);
    const bool finite = std::isfinite(f) && std::isfinite(w);
    if (finite && std::fabs(f - w) <= allowed) continue;
    // What is too large for the narrower type became infinite there.
    if (std::isinf(f) && std::isfinite(w) &&
        RoundedTo(found.dtype, w + std::copysign(allowed, f)) == f) {
      continue;
    }
    return fmt::format("element {} is {}, wanted {}, may be off by {:.3g}",
                       IndexText(i, found.dims), f, w, allowed);
  }
  return "";
}

}  // namespace ge::conform

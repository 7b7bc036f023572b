#include "tools/ge/capsule/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ge/capsule/tensor_members.h"

namespace ge::tool {
namespace {

// A step of 1/256 and what follows from it.
constexpr double kCodeBound = 1e-2;

bool Quantizes(const Graph& g) {
  for (const Function& f : g.functions) {
    for (const Node& n : f.nodes) {
      if (n.op.ends_with("QuantizeLinear") && !n.op.starts_with("Dequantize")) return true;
    }
  }
  return false;
}

}  // namespace

void TensorComparison::SetModel(const Graph& model) {
  least_bound_ = Quantizes(model) ? kCodeBound : 0;
}

double TensorComparison::BoundOf(const CapsuleTensor& t) const {
  if (bits_) return -1;
  const double of_type = RelativeBound(t.dtype, manifest_.precision == "bf16");
  return rtol_ >= 0 ? rtol_ : std::max(of_type, least_bound_);
}

void TensorComparison::Judge(const CapsuleTensor& t, const Difference& d) {
  differing_.push_back({t, d, RelativeBound(t.dtype) > 0 && d.relative() <= BoundOf(t)});
}

void TensorComparison::Take(const CapsuleTensor& t, std::span<const std::byte> found) {
  if (!capsule_.Has(t.member)) return;
  const auto wanted = ReadTensorMember(capsule_, t);
  if (!wanted.ok()) return Fault(wanted.status());
  ++compared_;
  Compared c = CompareTensor(t, found, *wanted, BoundOf(t));
  if (!c.within || !c.difference.equal()) differing_.push_back(std::move(c));
}

void TensorComparison::TakeStatistics(const CapsuleTensor& t, const TensorStatistics& w,
                                      std::span<const std::byte> found) {
  ++compared_;
  const TensorStatistics f = StatisticsOf(t.dtype, found);
  if (w.crc32 == f.crc32 && w.elements == f.elements) return;
  Difference d;
  d.elements = f.elements;
  d.differing = 1;  // at the least
  d.largest = std::max(std::fabs(w.min), std::fabs(w.max));
  d.greatest =
      std::max({std::fabs(w.min - f.min), std::fabs(w.max - f.max), std::fabs(w.mean - f.mean)});
  d.unlike = w.nan != f.nan || w.inf != f.inf || w.elements != f.elements ? 1 : 0;
  Judge(t, d);
}

void TensorComparison::TakeOther(const CapsuleTensor& t, bool equal) {
  ++compared_;
  if (equal) return;
  Difference d;
  d.unlike = d.differing = d.elements = 1;
  differing_.push_back({t, d, false});
}

bool TensorComparison::right() const {
  return std::all_of(differing_.begin(), differing_.end(),
                     [](const Compared& c) { return c.within; });
}

const Compared& TensorComparison::worst() const {
  return *std::max_element(differing_.begin(), differing_.end(),
                           [](const Compared& a, const Compared& b) {
                             return a.difference.relative() < b.difference.relative();
                           });
}

nlohmann::json DifferenceJson(const Compared& c) {
  const double relative = c.difference.relative();
  return {{"value", c.tensor.name},
          {"member", c.tensor.member},
          {"elements", c.difference.elements},
          {"differing", c.difference.differing},
          {"greatest", c.difference.greatest},
          {"largest", c.difference.largest},
          {"unlike", c.difference.unlike},
          {"relative", std::isfinite(relative) ? nlohmann::json(relative) : nlohmann::json()},
          {"within", c.within}};
}

void AddDifferences(const TensorComparison& c, nlohmann::json* json) {
  if (c.differing().empty()) return;
  (*json)["first"] = DifferenceJson(c.differing()[0]);
  (*json)["worst"] = DifferenceJson(c.worst());
}

void PrintDifference(const char* what, const Compared& c) {
  const Difference& d = c.difference;
  fmt::print(
      "  {:<5} '{}' ({}): {} of {} elements differ, by {:.3g} where the largest is {:.3g}{}\n",
      what, c.tensor.name, c.tensor.member, d.differing, d.elements, d.greatest, d.largest,
      d.unlike ? fmt::format("; {} are infinite or NaN on one side alone", d.unlike) : "");
}

std::string RestText(const TensorComparison& c) {
  const bool some = !c.differing().empty() && c.right();
  return some ? ", the others within the bounds of their types" : "";
}

void PrintDifferences(const TensorComparison& c) {
  if (c.differing().empty()) return;
  PrintDifference("first", c.differing()[0]);
  PrintDifference("worst", c.worst());
}

}  // namespace ge::tool

#include "tools/shardcheck/boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "passes/parallel/factors.h"

namespace ge::shardcheck {
namespace {

using parallel::kMaxTerm;
using parallel::kMinTerm;
using parallel::kTerm;
using parallel::Mesh;
using parallel::Part;

constexpr double kBound = 1e-12;  // of sums, as a share of the sum of magnitudes

bool IsTermPlace(int place) { return place == kTerm || place == kMaxTerm || place == kMinTerm; }

// Which of the terms of a sum a rank has, and how many there are.
std::pair<int64_t, int64_t> TermOf(const Mesh& mesh, const Places& places, int64_t rank) {
  int64_t term = 0, terms = 1;
  for (uint32_t a = 0; a < places.size(); ++a) {
    if (places[a] != kTerm) continue;
    term = term * mesh.axes()[a].size + mesh.Coordinate(rank, a);
    terms *= mesh.axes()[a].size;
  }
  return {term, terms};
}

// All but the last are drawn, which is what they leave.
Array Term(const Array& x, int64_t term, int64_t terms, uint64_t seed) {
  if (terms == 1) return x;
  Array made = x;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int64_t> whole(-5, 5);
  for (int64_t k = 0; k + 1 < terms; ++k) {
    for (size_t i = 0; i < x.f.size(); ++i) {
      const double v = real(random);
      if (term == k) made.f[i] = v;
      if (term == terms - 1) made.f[i] -= v;
    }
    for (size_t i = 0; i < x.i.size(); ++i) {
      const int64_t v = whole(random);
      if (term == k) made.i[i] = v;
      if (term == terms - 1) made.i[i] -= v;
    }
  }
  return made;
}

bool SameBits(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

void ForEachOfBox(const std::vector<Part>& box, const std::vector<int64_t>& dims,
                  const std::function<void(size_t, size_t)>& visit) {
  size_t count = 1;
  for (const Part& part : box) count *= static_cast<size_t>(part.size);
  for (size_t k = 0; k < count; ++k) {
    size_t rest = k, at = 0, stride = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      const auto size = static_cast<size_t>(box[d].size);
      at += (static_cast<size_t>(box[d].first) + rest % size) * stride;
      rest /= size;
      stride *= static_cast<size_t>(dims[d]);
    }
    visit(at, k);
  }
}

std::vector<Part> BoxOf(const Mesh& mesh, const Places& places, const std::vector<int64_t>& dims,
                        int64_t rank) {
  std::vector<Part> box;
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t share = 0, shares = 1;
    for (uint32_t a = 0; a < places.size(); ++a) {
      if (places[a] != static_cast<int>(d)) continue;
      share = share * mesh.axes()[a].size + mesh.Coordinate(rank, a);
      shares *= mesh.axes()[a].size;
    }
    box.push_back(parallel::ShareOf(dims[d], shares, share));
  }
  return box;
}

Array ShareOf(const Array& x, const Mesh& mesh, const Places& places, int64_t rank, uint64_t seed) {
  const auto [term, terms] = TermOf(mesh, places, rank);
  Array from = Term(x, term, terms, seed);
  for (uint32_t a = 0; a < places.size(); ++a) {
    if (places[a] != parallel::kKept || mesh.Coordinate(rank, a) == 0) continue;
    std::fill(from.f.begin(), from.f.end(), 0);
    std::fill(from.i.begin(), from.i.end(), 0);
  }
  const std::vector<Part> box = BoxOf(mesh, places, x.dims, rank);
  Array share;
  share.dtype = x.dtype;
  for (const Part& part : box) share.dims.push_back(part.size);
  ForEachOfBox(box, x.dims, [&](size_t at, size_t) {
    if (x.is_float()) share.f.push_back(from.f[at]);
    if (!x.is_float()) share.i.push_back(from.i[at]);
  });
  return share;
}

Whole::Whole(const Mesh& mesh, Places places, std::vector<int64_t> dims)
    : mesh_(mesh), places_(std::move(places)), dims_(std::move(dims)) {}

bool Whole::IsTerm() const { return std::any_of(places_.begin(), places_.end(), IsTermPlace); }

void Whole::Join(const Array& held, const std::vector<Part>& box) {
  int how = kTerm;
  for (const int p : places_) how = IsTermPlace(p) ? p : how;
  const auto join = [&](auto* to, auto v, bool first) {
    if (first) *to = v;
    if (first) return;
    if (how == kTerm) *to += v;
    if (how == kMaxTerm) *to = std::max(*to, v);
    if (how == kMinTerm) *to = std::min(*to, v);
  };
  ForEachOfBox(box, dims_, [&](size_t at, size_t k) {
    const bool first = !there_[at];
    there_[at] = true;
    if (held.is_float()) {
      join(&sum_.f[at], held.f[k], first);
      magnitude_[at] += std::fabs(held.f[k]);
    } else {
      join(&sum_.i[at], held.i[k], first);
    }
  });
}

std::string Whole::Put(int64_t rank, const Array& held) {
  const std::vector<Part> box = BoxOf(mesh_, places_, dims_, rank);
  std::vector<int64_t> sizes;
  for (const Part& part : box) sizes.push_back(part.size);
  if (held.dims != sizes) {
    return fmt::format("rank {} makes [{}], wanted its box [{}]", rank, fmt::join(held.dims, ","),
                       fmt::join(sizes, ","));
  }
  if (rank == 0) {
    const auto count = static_cast<size_t>(Array::Count(dims_));
    sum_.dtype = held.dtype;
    sum_.f.assign(held.is_float() ? count : 0, 0);
    sum_.i.assign(held.is_float() ? 0 : count, 0);
    magnitude_.assign(count, 0);
    there_.assign(count, false);
  }
  held_.push_back(held);
  // The first of those that hold the same stands for them.
  int64_t stride = mesh_.ranks(), first = 0;
  for (uint32_t a = 0; a < places_.size(); ++a) {
    stride /= mesh_.axes()[a].size;
    if (places_[a] >= 0 || IsTermPlace(places_[a])) first += mesh_.Coordinate(rank, a) * stride;
  }
  if (first == rank) return Join(held, box), std::string();
  const Array& same = held_[static_cast<size_t>(first)];
  const bool equal = same.i == held.i && std::equal(same.f.begin(), same.f.end(), held.f.begin(),
                                                    held.f.end(), SameBits);
  return equal ? std::string() : fmt::format("ranks {} and {} hold other numbers", first, rank);
}

std::string Whole::DiffersFrom(const Array& wanted) const {
  double most = 0;
  for (const double m : magnitude_) most = std::max(most, m);
  const bool sums = IsTerm();
  for (size_t k = 0; k < there_.size(); ++k) {
    if (!there_[k]) return fmt::format("no rank holds element {}", k);
    if (!wanted.is_float() && sum_.i[k] != wanted.i[k]) {
      return fmt::format("element {} is {}, wanted {}", k, sum_.i[k], wanted.i[k]);
    }
    if (!wanted.is_float()) continue;
    const double got = sum_.f[k], want = wanted.f[k];
    if (SameBits(got, want) || (sums && std::fabs(got - want) <= kBound * most)) continue;
    return fmt::format("element {} is {:.17g}, wanted {:.17g}", k, got, want);
  }
  return {};
}

}  // namespace ge::shardcheck

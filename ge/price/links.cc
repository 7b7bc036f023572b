#include "ge/price/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ge/price/correct.h"

namespace ge {
namespace {

// What one sample weighs against what was told, as of prices.
constexpr double kDoubtOfTold = 0.3;
constexpr double kDoubtfulShare = 0.25;
// Times below it are as good as it: clocks of devices tell half a microsecond.
constexpr double kLeastNs = 500;
constexpr double kMostFactor = 100;
constexpr double kMostLatencyNs = 1e8;
// A size that no sample is near to.
constexpr double kFarBytes = 1 << 24, kFarTimes = 64;
// Sizes are told apart by quarters of a binary digit.
constexpr double kSteps = 4;
constexpr const char* kFamily = "ge.link";

double WeightOf(const Sampled& s) {
  const double n = s.count, weight = n / (n + kDoubtOfTold);
  return s.doubtful ? kDoubtfulShare * weight : weight;
}

struct Point {
  double x, y, weight;
};

double RelativeError(const LinkCost& c, const Point& p) {
  return (c.Ns(p.x) - p.y) / std::max(p.y, kLeastNs);
}

// The least weighted squares of relative errors, neither part below zero.
LinkCost LeastSquares(const std::vector<Point>& points, const std::vector<double>& weight) {
  double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const double scale = 1 / std::max(points[i].y, kLeastNs);
    const double one = scale, x = points[i].x * scale, y = points[i].y * scale;
    aa += weight[i] * one * one;
    ab += weight[i] * one * x;
    bb += weight[i] * x * x;
    a += weight[i] * one * y;
    b += weight[i] * x * y;
  }
  const double det = aa * bb - ab * ab;
  double latency = det > 0 ? (a * bb - b * ab) / det : 0;
  double per_byte = det > 0 ? (b * aa - a * ab) / det : b / bb;
  if (latency < 0) {
    latency = 0;
    per_byte = b / bb;
  }
  if (per_byte <= 0) {
    per_byte = 0;
    latency = a / aa;
  }
  return {latency, per_byte > 0 ? 1 / per_byte : HUGE_VAL};
}

// Samples, and what is not known beyond them: nothing to copy, and a great deal of it.
std::vector<Point> PointsOf(const LinkCost& told, std::span<const LinkSample> samples) {
  std::vector<Point> points;
  for (const LinkSample& s : samples) {
    if (s.bytes <= 0 || s.time.count == 0) continue;
    points.push_back({s.bytes, std::max(s.time.ns, 1.0), WeightOf(s.time)});
  }
  if (points.empty()) return points;
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  const auto beyond = [&](double x, const Point& nearest) {
    const double factor = std::pow(nearest.y / std::max(told.Ns(nearest.x), 1.0), nearest.weight);
    points.push_back({x, std::max(told.Ns(x) * factor, 1.0), kDoubtOfTold});
  };
  const Point first = points.front(), last = points.back();
  beyond(0, first);
  beyond(std::max(kFarBytes, kFarTimes * last.x), last);
  return points;
}

OfferName NameOfLink(const Plan& plan, const PlanLink& link, double bytes) {
  OfferName name;
  name.family = kFamily;
  name.signature =
      fmt::format("link {}>{}{}", plan.domains[link.from].name, plan.domains[link.to].name,
                  link.staging_bytes_per_ns > 0 ? " pinned" : "");
  name.size = std::log2(std::max(bytes, 1.0));
  name.shape = fmt::format("{}", std::lround(name.size * kSteps));
  return name;
}

OfferName NameOfWait() {
  OfferName name;
  name.family = kFamily;
  name.signature = "wait";
  name.shape = "0";
  return name;
}

PriceBook LinkBookOf(const LinkBooks& books, uint32_t plan_engine, uint32_t device) {
  PriceBook book = books(plan_engine, device);
  book.device += "?links";
  return book;
}

// The end of a link that is not the host's.
const PlanDomain& FarEnd(const Plan& plan, const PlanLink& link) {
  return plan.domains[link.from != 0 ? link.from : link.to];
}

PriceBook LinkBookOf(const LinkBooks& books, const Plan& plan, const PlanLink& link) {
  const PlanDomain& far = FarEnd(plan, link);
  const bool own = far.engine == link.engine;
  return LinkBookOf(books, link.engine, own ? far.engine_device : 0);
}

std::vector<LinkSample> SamplesOf(const PriceCache& cache, const PriceBook& book,
                                  const OfferName& name) {
  std::vector<LinkSample> samples;
  for (const PriceRow& row : cache.RowsOf(book, name.signature)) {
    if (row.alone.count > 0) samples.push_back({std::exp2(row.size), row.alone});
  }
  const auto doubtful = [](const LinkSample& s) { return s.time.doubtful; };
  // Doubtful ones say something where there are no others.
  if (!std::all_of(samples.begin(), samples.end(), doubtful)) std::erase_if(samples, doubtful);
  return samples;
}

void CorrectWait(const LinkBooks& books, const PriceCache& cache, const Plan& plan,
                 LinkPrice* price) {
  const PlanDomain& from = plan.domains[price->from];
  if (price->to != 0 || from.engine == 0) return;
  PriceRow row;
  const PriceBook book = LinkBookOf(books, from.engine, from.engine_device);
  if (!cache.Find(book, NameOfWait(), &row) || row.alone.count == 0) return;
  price->wait_ns = row.alone.ns * WeightOf(row.alone);
  price->wait_source = row.alone.doubtful ? "doubtful" : "measured";
}

}  // namespace

LinkCost FitLink(const LinkCost& told, std::span<const LinkSample> samples) {
  const std::vector<Point> points = PointsOf(told, samples);
  if (points.empty()) return told;
  std::vector<double> weight;
  for (const Point& p : points) weight.push_back(p.weight);
  // Huber's weights: an error beyond a quarter counts as its size, not as its square.
  constexpr double kNear = 0.25;
  constexpr int kRounds = 16;
  LinkCost fit = LeastSquares(points, weight);
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < points.size(); ++i) {
      const double error = std::abs(RelativeError(fit, points[i]));
      weight[i] = points[i].weight * std::min(1.0, kNear / std::max(error, kNear));
    }
    fit = LeastSquares(points, weight);
  }
  fit.latency_ns = std::min(fit.latency_ns, kMostLatencyNs);
  fit.bytes_per_ns = std::clamp(fit.bytes_per_ns, told.bytes_per_ns / kMostFactor,
                                told.bytes_per_ns * kMostFactor);
  return fit;
}

LinkBooks BooksOf(const EngineList& engines) {
  return [&engines](uint32_t plan_engine, uint32_t device) {
    return BookOf(*engines[plan_engine - 1], device);
  };
}

std::vector<LinkPrice> CorrectLinks(const LinkBooks& books, const PriceCache& cache, Plan* plan) {
  std::vector<LinkPrice> out;
  for (PlanLink& link : plan->links) {
    LinkPrice price;
    price.from = link.from;
    price.to = link.to;
    price.engine = link.engine;
    price.pinned = link.staging_bytes_per_ns > 0;
    price.told = price.now = {link.latency_ns, link.bytes_per_ns};
    if (!cache.Empty() && link.engine != 0) {
      const auto samples =
          SamplesOf(cache, LinkBookOf(books, *plan, link), NameOfLink(*plan, link, 1));
      if (!samples.empty()) {
        price.now = FitLink(price.told, samples);
        price.source = samples[0].time.doubtful ? "doubtful" : "measured";
      }
      CorrectWait(books, cache, *plan, &price);
    }
    link.latency_ns = price.now.latency_ns + price.wait_ns;
    link.bytes_per_ns = price.now.bytes_per_ns;
    out.push_back(std::move(price));
  }
  return out;
}

void AddLinkSample(const LinkBooks& books, const Plan& plan, const PlanLink& link,
                   const LinkSample& sample, PriceCache* cache) {
  if (link.engine == 0 || sample.bytes <= 0) return;
  // It asks nothing, so that no other row's correction has a part in it.
  cache->Add(LinkBookOf(books, plan, link), NameOfLink(plan, link, sample.bytes),
             PriceCache::Kind::kAlone, 0, sample.time);
}

void AddWaitSample(const LinkBooks& books, const Plan& plan, DeviceId device, const Sampled& sample,
                   PriceCache* cache) {
  const PlanDevice& d = plan.devices[device];
  if (d.engine == 0) return;
  cache->Add(LinkBookOf(books, d.engine, d.engine_device), NameOfWait(), PriceCache::Kind::kAlone,
             0, sample);
}

}  // namespace ge

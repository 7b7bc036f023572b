#include "ge/price/price_row.h"

#include <algorithm>
#include <cmath>

namespace ge {
namespace {

// What a doubtful sample says counts so much: under load times were off by factors of up to 33.
constexpr double kOfDoubtful = 0.25;
// Samples behind a mean count at most so much, so that a machine that changes is followed.
constexpr uint32_t kMaxCount = 32;
constexpr double kMostSize = 64;  // log2 of bytes

}  // namespace

bool IsSaneTime(double ns) { return std::isfinite(ns) && ns >= 0 && ns < 1e15; }

bool Sampled::Add(const Sampled& more) {
  if (more.count == 0 || (count > 0 && more.doubtful && !doubtful)) return false;
  if (doubtful && !more.doubtful) *this = {};
  const double have = std::min(count, kMaxCount), fresh = std::min(more.count, kMaxCount);
  const double log_ns =
      (have * std::log(std::max(ns, 1.0)) + fresh * std::log(std::max(more.ns, 1.0))) /
      (have + fresh);
  ns = std::exp(log_ns);
  count = std::min(count + more.count, kMaxCount);
  doubtful = more.doubtful;
  return true;
}

double Sampled::Log(double asked_ns) const {
  const double log = std::log(std::max(ns, 1.0) / std::max(asked_ns, 1.0));
  return doubtful ? kOfDoubtful * log : log;
}

void PriceRow::Merge(const PriceRow& more) {
  family = more.family;
  size = more.size;
  day = std::max(day, more.day);
  if (alone.Add(more.alone)) asked_ns = more.asked_ns;
  if (inside.Add(more.inside)) asked_inside_ns = more.asked_inside_ns;
}

std::optional<double> PriceRow::LogError(PriceKind kind) const {
  using enum PriceKind;
  if (kind != kInside && (asked_ns < kNextToNothingNs || alone.count == 0)) return std::nullopt;
  if (kind != kAlone && (asked_inside_ns < kNextToNothingNs || inside.count == 0)) {
    return std::nullopt;
  }
  const double of_alone = kind == kInside ? 0 : alone.Log(asked_ns);
  const double of_inside = kind == kAlone ? 0 : inside.Log(asked_inside_ns);
  return kind == kAlone ? of_alone : of_inside - of_alone;
}

bool PriceRow::IsDoubtful(PriceKind kind) const {
  using enum PriceKind;
  return (kind != kInside && alone.doubtful) || (kind != kAlone && inside.doubtful);
}

bool PriceRow::IsSane() const {
  return size >= 0 && size < kMostSize && IsSaneTime(asked_ns) && IsSaneTime(alone.ns) &&
         IsSaneTime(asked_inside_ns) && IsSaneTime(inside.ns);
}

}  // namespace ge

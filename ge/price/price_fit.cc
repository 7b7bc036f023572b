#include "ge/price/price_fit.h"

#include <algorithm>
#include <cmath>

namespace ge {
namespace {

// Narrow to wide.
enum Level : uint8_t { kSignature, kSize, kFamily, kLead, kEngine, kWorld, kLevels };
// The wider the scope, the more rows it takes to be believed.
constexpr double kDoubt[kLevels] = {0, 0, 1, 2, 3, 3};
// What one row weighs against an engine that is wholly confident of its prices. Rows of one kind of
// work differ by less than engines are off: with a weight of one, prices after a probe of a new
// machine would have been off by 1.27, with this by 1.23 (6,100 offers of fifteen models).
constexpr double kDoubtOfRow = 0.3;
// An engine that nobody measured is taken to be as optimistic as the others, within this factor.
constexpr double kMaxStrangerLog = 0.6931;  // log 2
// By this share of the spread prices are raised. With a half, plans of fifteen models that were
// left out came out at 0.89 to 1.35 of their runs, in the mean above them; before prices
// were raised, and shares inside taken from pairs, at 0.51 to 1.00.
constexpr double kCurse = 0.33;
// The spread of rows of one kind of work, where few tell; it weighs as much as four of them.
constexpr double kUsualSpread = 0.3, kUsualSpreadRows = 4;
// At so many binary digits of size away a row says half as much. Engines change kernels, and what
// they touch leaves a cache, every few digits; a factor of 3 from one size, put on another where
// the engine asked 2.6 times too much, had kept the fastest of two from ever being tried.
constexpr double kReach = 3;
constexpr double kBucket = 3;  // binary digits: within, speeds of one kind of work differ little

uint64_t Mixed(uint64_t hash, uint64_t more) {
  return (hash ^ (more + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2))) * 0xff51afd7ed558ccdu;
}

uint64_t BucketOf(double size) { return static_cast<uint64_t>(size / kBucket); }

double Median(std::vector<double>* values) {
  auto middle = values->begin() + static_cast<int64_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  return *middle;
}

struct Weighed {
  double value, weight;
};
// The same where all weigh alike.
double Median(std::vector<Weighed>* values) {
  std::sort(values->begin(), values->end(),
            [](const Weighed& a, const Weighed& b) { return a.value < b.value; });
  double all = 0, below = 0;
  for (const Weighed& w : *values) all += w.weight;
  for (const Weighed& w : *values) {
    if ((below += w.weight) > all / 2) return w.value;
  }
  return values->back().value;
}

// Of as many rows, half of which lie within `median_apart` of their median.
double Spread(double rows, double median_apart) {
  constexpr double kOfNormal = 1.4826;  // standard deviation / median distance
  const double seen = kOfNormal * median_apart;
  return std::sqrt((rows * seen * seen + kUsualSpreadRows * kUsualSpread * kUsualSpread) /
                   (rows + kUsualSpreadRows));
}

}  // namespace

PriceFit::Keys PriceFit::KeysOf(const PriceBook& book, const WorkName& work, int kind) {
  const std::hash<std::string_view> text;
  const uint64_t base = static_cast<uint64_t>(kind) + 1;
  const uint64_t engine = Mixed(Mixed(base, text(book.plugin_hash)), text(book.device));
  const uint64_t family = Mixed(engine, text(work.family));
  // A pattern's first operator does most of its work.
  const std::string_view lead = work.family.substr(0, work.family.find('+'));
  Keys keys = {Mixed(engine, text(work.signature)),
               Mixed(family, BucketOf(work.size)),
               family,
               Mixed(engine, text(lead)),
               engine,
               base};
  for (uint64_t level = 0; level < kLevels; ++level) keys[level] = Mixed(keys[level], level);
  return keys;
}

void PriceFit::Add(const PriceBook& book, const WorkName& work, int kind, double log) {
  const Keys keys = KeysOf(book, work, kind);
  for (size_t level = 0; level < kLevels; ++level) {
    Scope& scope = scopes_[keys[level]];
    scope.kept.push_back({log, work.size});
    scope.of_signature = level == kSignature;
  }
}

void PriceFit::Finish() {
  std::vector<double> logs;
  for (auto& [key, s] : scopes_) {
    s.rows = static_cast<uint32_t>(s.kept.size());
    if (s.of_signature) continue;
    logs.clear();
    for (const Scope::Row& row : s.kept) logs.push_back(row.log);
    s.log_factor = Median(&logs);
    for (double& log : logs) log = std::abs(log - s.log_factor);
    s.spread = Spread(s.rows, Median(&logs));
    s.kept = {};
  }
}

PriceFit::Local PriceFit::At(const Scope& signature, double size) {
  Local out;
  std::vector<Weighed> logs, apart;
  for (const Scope::Row& row : signature.kept) {
    const double far = (row.size - size) / kReach, weight = 1 / (1 + far * far);
    logs.push_back({row.log, weight});
    out.rows += weight;
    out.nearest = std::max(out.nearest, weight);
  }
  out.log_factor = Median(&logs);
  for (const Weighed& w : logs) apart.push_back({std::abs(w.value - out.log_factor), w.weight});
  out.spread = Spread(out.rows, Median(&apart));
  return out;
}

Correction PriceFit::Wider(const Keys& keys, const Scope* signature, double size, double confidence,
                           bool raised) const {
  for (size_t level = kSize; level < kLevels; ++level) {
    const auto it = scopes_.find(keys[level]);
    if (it == scopes_.end()) continue;
    const Scope& s = it->second;
    uint32_t counted = signature && level != kSize ? signature->rows : 0;
    if (signature && level == kSize) {
      for (const Scope::Row& row : signature->kept) {
        counted += BucketOf(row.size) == BucketOf(size);
      }
    }
    if (s.rows <= counted) continue;
    const double n = s.rows - counted, share = n / (n + kDoubt[level] + kDoubtOfRow * confidence);
    if (level == kWorld) {
      const double log = std::clamp(s.log_factor, -kMaxStrangerLog, kMaxStrangerLog);
      return {std::exp(log * share), s.rows};
    }
    return {std::exp(s.log_factor * share + (raised ? kCurse * s.spread : 0)), s.rows};
  }
  return {};
}

Correction PriceFit::Find(const PriceBook& book, const WorkName& work, int kind, double confidence,
                          bool raised) const {
  const Keys keys = KeysOf(book, work, kind);
  const auto it = scopes_.find(keys[kSignature]);
  if (it == scopes_.end()) return Wider(keys, nullptr, work.size, confidence, raised);
  const Scope& s = it->second;
  const Local near = At(s, work.size);
  const double log = near.log_factor * near.rows / (near.rows + kDoubtOfRow * confidence) +
                     (raised ? kCurse * near.spread : 0);
  // How much of the answer is for rows of this signature: all where one is of this size.
  const double share = near.rows / (near.rows + 1 - near.nearest);
  if (share >= 1) return {std::exp(log), s.rows};
  const Correction wider = Wider(keys, &s, work.size, confidence, raised);
  return {std::exp(share * log + (1 - share) * std::log(wider.factor)), s.rows};
}

}  // namespace ge

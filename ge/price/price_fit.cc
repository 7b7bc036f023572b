#include "ge/price/price_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ge/price/stable_hash.h"

namespace ge {
namespace {

// The wider the scope, the more rows it takes to be believed.
constexpr double kDoubt[PriceFit::kLevels] = {0, 0, 1, 2, 3, 3};
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

uint64_t BucketOf(double size) { return static_cast<uint64_t>(size / kBucket); }

struct Weighed {
  double value, weight;
};
// Where half of the weight is below.
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
  const uint64_t base = static_cast<uint64_t>(kind) + 1;
  const uint64_t engine = StableHash(book.device, StableHash(book.plugin_hash, base));
  const uint64_t family = StableHash(work.family, engine);
  // A pattern's first operator does most of its work.
  const std::string_view lead = work.family.substr(0, work.family.find('+'));
  Keys keys = {StableHash(work.signature, engine),
               MixedHash(family, BucketOf(work.size)),
               family,
               StableHash(lead, engine),
               engine,
               base};
  for (uint64_t level = 0; level < kLevels; ++level) keys[level] = MixedHash(keys[level], level);
  return keys;
}

void PriceFit::Add(const PriceBook& book, const WorkName& work, int kind, double log,
                   bool doubtful) {
  AddRow(book, work, kind, {log, work.size, doubtful}, false);
}

void PriceFit::Remove(const PriceBook& book, const WorkName& work, int kind, double log,
                      bool doubtful) {
  AddRow(book, work, kind, {log, work.size, doubtful}, true);
}

void PriceFit::AddRow(const PriceBook& book, const WorkName& work, int kind, const LoggedRow& row,
                      bool removed) {
  const Keys keys = KeysOf(book, work, kind);
  Added added{row, removed, {}};
  const auto at = static_cast<int32_t>(added_.size());
  for (size_t level = 0; level < kWorld; ++level) {
    const auto [first, fresh] = first_.try_emplace(keys[level], at);
    added.next[level] = fresh ? -1 : first->second;
    first->second = at;
  }
  added_.push_back(added);
  if (!row.doubtful) sound_[keys[kEngine]] += removed ? -1 : 1;
  books_.try_emplace(book, true);
}

template <class Use>
void PriceFit::ForEachAdded(uint64_t key, Level level, bool removed, Use use) const {
  const auto first = first_.find(key);
  if (first == first_.end()) return;
  for (int32_t i = first->second; i >= 0; i = added_[i].next[level]) {
    if (added_[i].removed == removed) use(added_[i].row);
  }
}

bool PriceFit::HasSound(uint64_t engine_key) const {
  const auto here = sound_.find(engine_key);
  return (here == sound_.end() ? 0 : here->second) +
             (stored_ ? static_cast<int64_t>(stored_->SoundRows(engine_key)) : 0) >
         0;
}

const PriceFit::Scope& PriceFit::SignatureScope(const PriceBook& book, const WorkName& work,
                                                int kind, const Keys& keys) {
  const auto [it, fresh] = scopes_.try_emplace(keys[kSignature]);
  if (!fresh) return it->second;
  std::vector<LoggedRow> rows;
  if (stored_) stored_->AddSignature(book, work.signature, kind, &rows);
  ForEachAdded(keys[kSignature], kSignature, true, [&](const LoggedRow& gone) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const LoggedRow& row) {
      return row.log == gone.log && row.size == gone.size && row.doubtful == gone.doubtful;
    });
    if (at != rows.end()) rows.erase(at);
  });
  ForEachAdded(keys[kSignature], kSignature, false,
               [&](const LoggedRow& row) { rows.push_back(row); });
  if (HasSound(keys[kEngine])) {
    std::erase_if(rows, [](const LoggedRow& row) { return row.doubtful; });
  }
  it->second.rows = static_cast<uint32_t>(rows.size());
  it->second.kept = std::move(rows);
  return it->second;
}

std::vector<double> PriceFit::WideLogs(Level level, const Keys& keys) const {
  // Where there is a sound row, doubtful ones tell nothing.
  const bool doubtful = !HasSound(keys[kEngine]);
  std::vector<double> logs;
  if (stored_) {
    const ScopeLogs& known = stored_->LogsOf(keys[level]);
    logs = doubtful ? known.doubtful : known.sound;
  }
  ForEachAdded(keys[level], level, true, [&](const LoggedRow& gone) {
    const auto at = std::lower_bound(logs.begin(), logs.end(), gone.log);
    if (gone.doubtful == doubtful && at != logs.end() && *at == gone.log) logs.erase(at);
  });
  const auto sorted = static_cast<int64_t>(logs.size());
  ForEachAdded(keys[level], level, false, [&](const LoggedRow& row) {
    if (row.doubtful == doubtful) logs.push_back(row.log);
  });
  std::sort(logs.begin() + sorted, logs.end());
  std::inplace_merge(logs.begin(), logs.begin() + sorted, logs.end());
  return logs;
}

const PriceFit::Scope& PriceFit::WideScope(Level level, const Keys& keys, int kind) {
  const auto [it, fresh] = scopes_.try_emplace(keys[level]);
  if (!fresh) return it->second;
  if (level != kWorld) return it->second = Finished(WideLogs(level, keys));
  std::map<PriceBook, bool> all = books_;
  if (stored_) {
    for (const PriceBook& book : stored_->Books()) all.try_emplace(book, true);
  }
  std::vector<double> logs;
  for (const auto& [book, known] : all) {
    const std::vector<double> more = WideLogs(kEngine, KeysOf(book, {}, kind));
    const auto sorted = static_cast<int64_t>(logs.size());
    logs.insert(logs.end(), more.begin(), more.end());
    std::inplace_merge(logs.begin(), logs.begin() + sorted, logs.end());
  }
  return it->second = Finished(logs);
}

PriceFit::Scope PriceFit::Finished(const std::vector<double>& sorted) {
  Scope scope;
  scope.rows = static_cast<uint32_t>(sorted.size());
  if (sorted.empty()) return scope;
  const size_t middle = sorted.size() / 2;
  scope.log_factor = sorted[middle];
  // The median distance from it: outwards from the middle, half of the rows.
  size_t low = middle, high = middle + 1;
  double apart = 0;
  for (size_t i = 0; i <= middle; ++i) {
    const bool down =
        high >= sorted.size() ||
        (low != SIZE_MAX && scope.log_factor - sorted[low] <= sorted[high] - scope.log_factor);
    apart = down ? scope.log_factor - sorted[low--] : sorted[high++] - scope.log_factor;
  }
  scope.spread = Spread(scope.rows, apart);
  return scope;
}

PriceFit::Local PriceFit::At(const Scope& signature, double size) {
  Local out;
  std::vector<Weighed> logs, apart;
  for (const LoggedRow& row : signature.kept) {
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

Correction PriceFit::Wider(const Keys& keys, const Scope& signature, int kind, double size,
                           double confidence, bool raised) {
  for (const Level level : {kSize, kFamily, kLead, kEngine, kWorld}) {
    const Scope& s = WideScope(level, keys, kind);
    uint32_t counted = level != kSize ? signature.rows : 0;
    if (level == kSize) {
      for (const LoggedRow& row : signature.kept) counted += BucketOf(row.size) == BucketOf(size);
    }
    if (s.rows <= counted) continue;
    const double n = s.rows - counted, share = n / (n + kDoubt[level] + kDoubtOfRow * confidence);
    if (level == kWorld) {
      const double log = std::clamp(s.log_factor, -kMaxStrangerLog, kMaxStrangerLog);
      return {std::exp(log * share), s.rows, true};
    }
    return {std::exp(s.log_factor * share + (raised ? kCurse * s.spread : 0)), s.rows};
  }
  return {};
}

Correction PriceFit::Find(const PriceBook& book, const WorkName& work, int kind, double confidence,
                          bool raised) {
  const Keys keys = KeysOf(book, work, kind);
  const Scope& s = SignatureScope(book, work, kind, keys);
  if (s.rows == 0) return Wider(keys, s, kind, work.size, confidence, raised);
  const Local near = At(s, work.size);
  const double log = near.log_factor * near.rows / (near.rows + kDoubtOfRow * confidence) +
                     (raised ? kCurse * near.spread : 0);
  // How much of the answer is for rows of this signature: all where one is of this size.
  const double share = near.rows / (near.rows + 1 - near.nearest);
  if (share >= 1) return {std::exp(log), s.rows};
  const Correction wider = Wider(keys, s, kind, work.size, confidence, raised);
  return {std::exp(share * log + (1 - share) * std::log(wider.factor)), s.rows};
}

}  // namespace ge

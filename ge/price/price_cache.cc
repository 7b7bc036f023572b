#include "ge/price/price_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "ge/base/log.h"
#include "ge/base/sha256.h"
#include "ge/base/text/json_number.h"
#include "ge/base/text/json_text.h"
#include "ge/host/cache_folder.h"

namespace ge {
namespace {

// 1 had a bucket of three binary digits for the size and knew no doubt; it is read.
constexpr uint32_t kFormat = 2;
// What a doubtful sample says counts so much: under load times were off by factors of up to 33.
constexpr double kOfDoubtful = 0.25;
// Samples behind a mean count at most so much, so that a machine that changes is followed.
constexpr uint32_t kMaxCount = 32;
// Rows kept in the file; the oldest go first. About 6 MB of text.
constexpr size_t kMaxRows = 20'000;
bool Sane(double ns) { return std::isfinite(ns) && ns >= 0 && ns < 1e15; }

uint32_t Today() {
  using Days = std::chrono::duration<int64_t, std::ratio<86400>>;
  return static_cast<uint32_t>(
      std::chrono::duration_cast<Days>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

// log(measured / asked) of a row, where it knows it.
std::optional<double> LogError(const PriceRow& row, PriceCache::Kind kind) {
  using enum PriceCache::Kind;
  if (kind != kInside && row.asked_ns < kNextToNothingNs) return std::nullopt;
  if (kind != kAlone && row.asked_inside_ns < kNextToNothingNs) return std::nullopt;
  const bool inside = row.inside.count > 0, alone = row.alone.count > 0;
  if ((kind != kInside && !alone) || (kind != kAlone && !inside)) return std::nullopt;
  const double of_alone = row.alone.Log(row.asked_ns);
  const double of_inside = row.inside.Log(row.asked_inside_ns);
  return kind == kAlone ? of_alone : kind == kInside ? of_inside : of_inside - of_alone;
}

bool IsDoubtful(const PriceRow& row, PriceCache::Kind kind) {
  using enum PriceCache::Kind;
  return (kind != kInside && row.alone.doubtful) || (kind != kAlone && row.inside.doubtful);
}

std::string Joined(const OfferName& name) { return name.signature + "|" + name.shape; }

}  // namespace

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

PriceCache::PriceCache(const MachineRecord& machine)
    : cpu_(machine.cpu), isa_(machine.isa), threads_(machine.threads) {}

namespace {

std::string FileName(const std::string& cpu, uint32_t isa, uint32_t threads) {
  const std::string key = fmt::format("{}|{}|{}", cpu, isa, threads);
  return "prices-" + Sha256(std::as_bytes(std::span(key.data(), key.size()))).substr(0, 16) +
         ".json";
}

}  // namespace

void PriceCache::Load() {
  const std::string name = FileName(cpu_, isa_, threads_);
  const auto text = ReadCacheFile(name);
  if (!text) return;
  Status status = FromText(*text);
  if (status.ok()) return;
  if (status.code() == Code::kDataCorrupt) {
    return PutAsideCacheFile(name, *text, status.message());
  }
  LogLine(1,
          fmt::format("price cache '{}/{}' is ignored: {}", CacheFolder(), name, status.message()));
}

void PriceCache::Save() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (fresh_.empty()) return;
  const std::string name = FileName(cpu_, isa_, threads_);
  const bool written =
      UpdateCacheFile(name, [&](const std::string& present) -> Result<std::string> {
        Books books;
        Status status = present.empty() ? Status() : Parse(present, &books);
        if (status.code() == Code::kDataCorrupt) return status;
        if (!status.ok()) books.clear();  // What cannot be read is measured again.
        Merge(fresh_, &books);
        Prune(&books);
        return Print(books);
      });
  if (written) fresh_.clear();
}

bool PriceCache::Empty() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return books_.empty() && priors_.empty();
}

void PriceCache::SetPriors(const PriceBook& book, std::vector<PriorRow> rows) {
  std::lock_guard<std::mutex> lock(mutex_);
  priors_[book] = std::move(rows);
  priors_alone_.reset();
  fit_valid_ = false;
}

std::vector<PriorRow> PriceCache::AsPriors(const PriceBook& book) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<PriorRow> out;
  const auto known = books_.find(book);
  if (known == books_.end()) return out;
  for (const auto& [key, row] : known->second.rows) {
    const auto log = LogError(row, Kind::kAlone);
    if (!log || row.alone.doubtful) continue;
    out.push_back({key.substr(0, key.rfind('|')), row.family, row.size, *log});
  }
  return out;
}

bool PriceCache::Find(const PriceBook& book, const OfferName& name, PriceRow* out) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto b = books_.find(book);
  if (b == books_.end()) return false;
  auto row = b->second.rows.find(Joined(name));
  if (row == b->second.rows.end()) return false;
  *out = row->second;
  return true;
}

void PriceCache::Add(const PriceBook& book, const OfferName& name, Kind kind, double asked_ns,
                     const Sampled& samples, bool trusted_now) {
  if (!Sane(asked_ns) || !Sane(samples.ns) || samples.count == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string key = Joined(name);
  for (Books* books : {&books_, &fresh_}) {
    PriceRow& row = (*books)[book].rows[key];
    row.family = name.family;
    row.size = name.size;
    row.day = Today();
    Sampled more = samples;
    more.doubtful = samples.doubtful && !(trusted_now && books == &books_);
    const bool taken = (kind == Kind::kAlone ? row.alone : row.inside).Add(more);
    if (taken) (kind == Kind::kAlone ? row.asked_ns : row.asked_inside_ns) = asked_ns;
  }
  fit_valid_ = false;
}

void PriceCache::Fitted() const {
  if (fit_valid_) return;
  fit_ = {};
  for (const auto& [book, known] : books_) {
    for (Kind kind : {Kind::kAlone, Kind::kInside, Kind::kInsideShare}) {
      // Doubtful rows tell only where no sound one does.
      const bool sound = (kind == Kind::kAlone && priors_.count(book) != 0) ||
                         std::any_of(known.rows.begin(), known.rows.end(), [&](const auto& r) {
                           return !IsDoubtful(r.second, kind) && LogError(r.second, kind);
                         });
      for (const auto& [key, row] : known.rows) {
        const auto log = LogError(row, kind);
        if (!log || (sound && IsDoubtful(row, kind))) continue;
        const WorkName work{std::string_view(key).substr(0, key.rfind('|')), row.family, row.size};
        fit_.Add(book, work, static_cast<int>(kind), *log);
      }
    }
  }
  FitPriors();
  fit_.Finish();
  fit_valid_ = true;
}

PriceFit PriceCache::FitOfPriors() const {
  PriceFit fit;
  for (const auto& [book, rows] : priors_) {
    for (const PriorRow& row : rows) {
      fit.Add(book, {row.signature, row.family, row.size}, static_cast<int>(Kind::kAlone),
              row.log_error);
    }
  }
  fit.Finish();
  return fit;
}

PriorScale PriceCache::PriorScaleHere() const {
  constexpr size_t kEnough = 300;  // rows of a book: a look-up takes microseconds
  PriorScale scale;
  for (const auto& [book, known] : books_) {
    if (priors_.count(book) == 0) continue;
    if (!priors_alone_) priors_alone_ = FitOfPriors();
    const size_t step = known.rows.size() / kEnough + 1;
    size_t at = 0;
    for (const auto& [key, row] : known.rows) {
      if (at++ % step != 0) continue;
      Kind kind = row.alone.count > 0 ? Kind::kAlone : Kind::kInside;
      const auto log = LogError(row, kind);
      if (!log || IsDoubtful(row, kind)) continue;
      const WorkName work{std::string_view(key).substr(0, key.rfind('|')), row.family, row.size};
      const Correction prior =
          priors_alone_->Find(book, work, static_cast<int>(Kind::kAlone), 0, false);
      if (prior.rows > 0) scale.Add(book, work, *log - std::log(prior.factor));
    }
  }
  scale.Finish();
  return scale;
}

void PriceCache::FitPriors() const {
  constexpr double kLikeSize = 1.5;  // binary digits; kernels change their way every few
  const PriorScale scale = PriorScaleHere();
  for (const auto& [book, rows] : priors_) {
    std::unordered_map<std::string_view, std::vector<double>> seen;  // sizes by signature
    const auto known = books_.find(book);
    if (known != books_.end()) {
      for (const auto& [key, row] : known->second.rows) {
        if (row.alone.count == 0 || row.alone.doubtful) continue;
        seen[std::string_view(key).substr(0, key.rfind('|'))].push_back(row.size);
      }
    }
    for (const PriorRow& row : rows) {
      const auto at = seen.find(row.signature);
      const bool measured =
          at != seen.end() && std::any_of(at->second.begin(), at->second.end(), [&](double size) {
            return std::abs(size - row.size) < kLikeSize;
          });
      if (measured) continue;
      fit_.Add(book, {row.signature, row.family, row.size}, static_cast<int>(Kind::kAlone),
               row.log_error + scale.Of(book, row.family));
    }
  }
}

Correction PriceCache::CorrectionFor(const PriceBook& book, const OfferName& name, Kind kind,
                                     double confidence) const {
  std::lock_guard<std::mutex> lock(mutex_);
  Fitted();
  return fit_.Find(book, {name.signature, name.family, name.size}, static_cast<int>(kind),
                   confidence, kind != Kind::kInsideShare);
}

void PriceCache::Merge(const Books& from, Books* into) {
  for (const auto& [book, more] : from) {
    Book& known = (*into)[book];
    for (const auto& [key, row] : more.rows) {
      PriceRow& out = known.rows[key];
      out.family = row.family;
      out.size = row.size;
      out.day = std::max(out.day, row.day);
      if (out.alone.Add(row.alone)) out.asked_ns = row.asked_ns;
      if (out.inside.Add(row.inside)) out.asked_inside_ns = row.asked_inside_ns;
    }
  }
}

void PriceCache::Prune(Books* books) {
  std::vector<uint32_t> days;
  for (const auto& [book, known] : *books) {
    for (const auto& [key, row] : known.rows) days.push_back(row.day);
  }
  if (days.size() <= kMaxRows) return;
  const auto cut = days.begin() + static_cast<int64_t>(days.size() - kMaxRows);
  std::nth_element(days.begin(), cut, days.end());
  const uint32_t oldest = *cut;
  size_t excess = days.size() - kMaxRows;
  for (auto b = books->begin(); b != books->end();) {
    auto& rows = b->second.rows;
    for (auto r = rows.begin(); r != rows.end();) {
      const bool drop = r->second.day < oldest || (r->second.day == oldest && excess > 0);
      if (drop && excess > 0) --excess;
      r = drop ? rows.erase(r) : std::next(r);
    }
    b = rows.empty() ? books->erase(b) : std::next(b);
  }
}

std::string PriceCache::Print(const Books& books) const {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [book, known] : books) {
    nlohmann::json out = nlohmann::json::object();
    for (const auto& [key, r] : known.rows) {
      const uint32_t doubts = (r.alone.doubtful ? 1 : 0) + (r.inside.doubtful ? 2 : 0);
      out[key] = {
          r.family,          r.size,      r.day,          r.asked_ns, r.alone.ns, r.alone.count,
          r.asked_inside_ns, r.inside.ns, r.inside.count, doubts};
    }
    list.push_back({{"plugin", book.plugin_hash}, {"device", book.device}, {"rows", out}});
  }
  nlohmann::json j = {
      {"format", kFormat}, {"cpu", cpu_}, {"isa", isa_}, {"threads", threads_}, {"engines", list}};
  // Names of operators come from models and need not be UTF-8.
  return j.dump(0, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Status PriceCache::Parse(const std::string& text, Books* out) const {
  GE_ASSIGN_OR_RETURN(const nlohmann::json j, ParseJson(text));
  try {
    const auto found = WholeNumber<uint32_t>(j.at("format"));
    if (found == 0 || found > kFormat) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("its format is {}, this version reads 1 to {}", found, kFormat));
    }
    if (j.at("cpu") != cpu_ || WholeNumber<uint32_t>(j.at("isa")) != isa_ ||
        WholeNumber<uint32_t>(j.at("threads")) != threads_) {
      return Status(
          Code::kFailedPrecondition,
          fmt::format("it is about {}, isa {}, {} threads; this is {}, isa {}, {} threads",
                      j.at("cpu").get<std::string>(), WholeNumber<uint32_t>(j.at("isa")),
                      WholeNumber<uint32_t>(j.at("threads")), cpu_, isa_, threads_));
    }
    Books books;
    for (const nlohmann::json& engine : ListOf(j.at("engines"))) {
      PriceBook book{engine.at("plugin").get<std::string>(),
                     engine.at("device").get<std::string>()};
      for (const auto& [key, r] : FieldsOf(engine.at("rows"))) {
        PriceRow row;
        row.family = r.at(0).get<std::string>();
        row.size = r.at(1).get<double>();
        if (found == 1) row.size = 3 * row.size + 1.5;
        row.day = WholeNumber<uint32_t>(r.at(2));
        row.asked_ns = r.at(3).get<double>();
        const uint32_t doubts = found == 1 ? 0 : WholeNumber<uint32_t>(r.at(9));
        row.alone = {r.at(4).get<double>(), WholeNumber<uint32_t>(r.at(5)), (doubts & 1) != 0};
        row.asked_inside_ns = r.at(6).get<double>();
        row.inside = {r.at(7).get<double>(), WholeNumber<uint32_t>(r.at(8)), (doubts & 2) != 0};
        if (!(row.size >= 0 && row.size < 64) || !Sane(row.asked_ns) || !Sane(row.alone.ns) ||
            !Sane(row.asked_inside_ns) || !Sane(row.inside.ns)) {
          return Status(Code::kDataCorrupt, fmt::format("a price of '{}' is out of range", key));
        }
        books[book].rows.emplace(key, std::move(row));
      }
    }
    *out = std::move(books);
    return {};
  } catch (const nlohmann::json::exception&) {  // Its text may quote the file's bytes.
    return Status(Code::kDataCorrupt, "it is damaged: a field is missing or of another kind");
  }
}

std::string PriceCache::ToText() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return Print(books_);
}

Status PriceCache::FromText(const std::string& text) {
  Books books;
  GE_RETURN_IF_ERROR(Parse(text, &books));
  std::lock_guard<std::mutex> lock(mutex_);
  Merge(books, &books_);
  fit_valid_ = false;
  return {};
}

}  // namespace ge

#include "ge/price/price_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "ge/base/log.h"
#include "ge/host/cache_folder.h"

namespace ge {
namespace {

// The ending of files of format 1 and 2.
constexpr const char* kTextEnding = ".json";

uint32_t Today() {
  using Days = std::chrono::duration<int64_t, std::ratio<86400>>;
  return static_cast<uint32_t>(
      std::chrono::duration_cast<Days>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

std::string Joined(const OfferName& name) { return name.signature + "|" + name.shape; }

std::string RecordsOf(const PriceBooks& books) {
  std::string records;
  uint64_t left_out = 0;
  for (const auto& [book, rows] : books) {
    for (const auto& [key, row] : rows) {
      left_out += !AppendRecord(book, SignatureOf(key), ShapeOf(key), row, &records);
    }
  }
  if (left_out > 0) {
    LogLine(2,
            fmt::format("{} prices of operators whose names have more than {} bytes are not kept",
                        left_out, kMostRecordBytes));
  }
  return records;
}

}  // namespace

PriceCache::PriceCache(const MachineRecord& machine) : machine_(machine), store_(machine) {}

void PriceCache::Load() {
  std::lock_guard<std::mutex> lock(mutex_);
  fit_.reset();
  LoadText();
  file_ = store_.Open();
  if (!file_) return;
  const std::string tail = file_->ReadTail();
  RecordReader reader(tail);
  for (RowView row; reader.Next(&row);) {
    row.row.family = row.family;
    std::string key(row.signature);
    RowOf(row.book(), key.append("|").append(row.shape)).row.Merge(row.row);
  }
  if (file_->damaged() || file_->tail_bytes() > PriceStore::kLongTail) store_.SortBeside(priors_);
}

void PriceCache::LoadText() {
  const std::string name = store_.Name(kTextEnding);
  const auto text = ReadCacheFile(name);
  if (!text) return;
  const std::string path = CacheFolder() + "/" + name;
  const auto books = PricesFromText(*text, machine_);
  if (!books.ok()) {
    if (books.status().code() == Code::kDataCorrupt) {
      return PutAsideCacheFile(name, *text, books.status().message());
    }
    return LogLine(1,
                   fmt::format("price cache '{}' is ignored: {}", path, books.status().message()));
  }
  if (store_.Sort(priors_, RecordsOf(*books))) {
    (void)std::remove(path.c_str());
    return;
  }
  Take(*books);  // where nothing can be written it is read each time
}

void PriceCache::Save() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (file_) {
    LogLine(3, fmt::format("price cache: read {} of {} bytes, {} of {} sorted rows",
                           file_->reads().bytes, file_->bytes(), file_->reads().rows,
                           file_->head().row_count));
  }
  if (file_ && file_->damaged() && store_.Sort(priors_)) {
    LogLine(1,
            fmt::format("price cache '{}/{}' was damaged, what was wrong of it has not been used; "
                        "it is made anew",
                        CacheFolder(), store_.Name()));
    fit_.reset();
    file_ = store_.Open();
  }
  if (!fresh_.empty() && store_.Append(RecordsOf(fresh_))) fresh_.clear();
}

bool PriceCache::Empty() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return books_.empty() && priors_.empty() && (!file_ || file_->head().row_count == 0);
}

void PriceCache::SetPriors(const PriceBook& book, std::vector<PriorRow> rows) {
  std::lock_guard<std::mutex> lock(mutex_);
  priors_.Set(book, std::move(rows));
  fit_.reset();
}

PriceCache::Kept& PriceCache::RowOf(const PriceBook& book, const std::string& key) {
  const auto [it, fresh] = books_[book].try_emplace(key);
  Kept& kept = it->second;
  if (fresh && file_ && file_->Find(book, SignatureOf(key), ShapeOf(key), &kept.row)) {
    kept.stored = kept.row;
  }
  return kept;
}

void PriceCache::Take(const PriceBooks& books) {
  for (const auto& [book, rows] : books) {
    for (const auto& [key, row] : rows) RowOf(book, key).row.Merge(row);
  }
}

PriceBooks PriceCache::AllRows() const {
  PriceBooks all;
  const std::string sorted = file_ ? file_->ReadSorted() : "";
  RecordReader reader(sorted);
  for (RowView row; reader.Next(&row);) {
    row.row.family = row.family;
    std::string key(row.signature);
    all[row.book()].emplace(key.append("|").append(row.shape), row.row);
  }
  for (const auto& [book, rows] : books_) {
    for (const auto& [key, kept] : rows) all[book][key] = kept.row;
  }
  return all;
}

std::vector<PriorRow> PriceCache::AsPriors(const PriceBook& book) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<PriorRow> out;
  const PriceBooks all = AllRows();
  const auto known = all.find(book);
  if (known == all.end()) return out;
  for (const auto& [key, row] : known->second) {
    const auto log = row.LogError(Kind::kAlone);
    if (!log || row.alone.doubtful) continue;
    out.push_back({std::string(SignatureOf(key)), row.family, row.size, *log});
  }
  return out;
}

bool PriceCache::Find(const PriceBook& book, const OfferName& name, PriceRow* out) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const auto b = books_.find(book); b != books_.end()) {
    if (const auto row = b->second.find(Joined(name)); row != b->second.end()) {
      *out = row->second.row;
      return true;
    }
  }
  return file_ && file_->Find(book, name.signature, name.shape, out);
}

std::vector<PriceRow> PriceCache::RowsOf(const PriceBook& book,
                                         const std::string& signature) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, PriceRow, std::less<>> by_shape;
  if (file_) {
    file_->ForEachRow(book, signature, [&](std::string_view shape, const PriceRow& row) {
      by_shape.insert_or_assign(std::string(shape), row);
    });
  }
  if (const auto b = books_.find(book); b != books_.end()) {
    for (const auto& [key, kept] : b->second) {
      if (SignatureOf(key) != signature) continue;
      by_shape.insert_or_assign(std::string(ShapeOf(key)), kept.row);
    }
  }
  std::vector<PriceRow> out;
  for (auto& [shape, row] : by_shape) out.push_back(std::move(row));
  std::stable_sort(out.begin(), out.end(),
                   [](const PriceRow& a, const PriceRow& b) { return a.size < b.size; });
  return out;
}

void PriceCache::Add(const PriceBook& book, const OfferName& name, Kind kind, double asked_ns,
                     const Sampled& samples, bool trusted_now) {
  if (!IsSaneTime(asked_ns) || !IsSaneTime(samples.ns) || samples.count == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string key = Joined(name);
  const auto add = [&](PriceRow* row, bool doubtful) {
    row->family = name.family;
    row->size = name.size;
    row->day = Today();
    Sampled more = samples;
    more.doubtful = doubtful;
    const bool taken = (kind == Kind::kAlone ? row->alone : row->inside).Add(more);
    if (taken) (kind == Kind::kAlone ? row->asked_ns : row->asked_inside_ns) = asked_ns;
  };
  add(&RowOf(book, key).row, samples.doubtful && !trusted_now);
  add(&fresh_[book][key], samples.doubtful);
  fit_.reset();
}

PriceFit& PriceCache::Fitted() const {
  if (fit_) return *fit_;
  fit_.emplace(file_.get());
  for (const auto& [book, rows] : books_) {
    for (const auto& [key, kept] : rows) {
      for (const Kind kind : kPriceKinds) {
        const int number = static_cast<int>(kind);
        const auto work = [signature = SignatureOf(key)](const PriceRow& row) {
          return WorkName{signature, row.family, row.size};
        };
        if (const auto log = kept.stored ? kept.stored->LogError(kind) : std::nullopt) {
          fit_->Remove(book, work(*kept.stored), number, *log, kept.stored->IsDoubtful(kind));
        }
        if (const auto log = kept.row.LogError(kind)) {
          fit_->Add(book, work(kept.row), number, *log, kept.row.IsDoubtful(kind));
        }
      }
    }
  }
  AddPriors();
  return *fit_;
}

PriorScale PriceCache::ScaleHere() const {
  PriorScale scale;
  if (file_) {
    for (const ImageHead::Book& book : file_->head().books) {
      if (book.priors == 0 || book.priors != priors_.Id(book.name)) continue;
      for (const PriorScale::Term& term : book.scale) scale.Add(book.name, term);
    }
  }
  constexpr size_t kEnough = 300;  // rows of a book: a look-up takes microseconds
  for (const auto& [book, rows] : books_) {
    if (!priors_.Has(book)) continue;
    const size_t step = rows.size() / kEnough + 1;
    size_t at = 0;
    for (const auto& [key, kept] : rows) {
      if (at++ % step != 0) continue;
      const PriceRow& row = kept.row;
      const Kind kind = row.alone.count > 0 ? Kind::kAlone : Kind::kInside;
      const auto log = row.LogError(kind);
      if (!log || row.IsDoubtful(kind)) continue;
      const WorkName work{SignatureOf(key), row.family, row.size};
      if (const auto prior = priors_.Log(book, work)) scale.Add(book, work, *log - *prior);
    }
  }
  scale.Finish();
  return scale;
}

void PriceCache::AddPriors() const {
  const PriorScale scale = ScaleHere();
  for (const auto& [book, priors] : priors_.books()) {
    std::unordered_map<std::string_view, uint64_t> seen;  // sizes by signature
    if (const auto known = books_.find(book); known != books_.end()) {
      for (const auto& [key, kept] : known->second) {
        const bool sound = kept.row.alone.count > 0 && !kept.row.alone.doubtful;
        if (sound) seen[SignatureOf(key)] |= IndexedSize(kept.row.size);
      }
    }
    const std::string* last = nullptr;
    uint64_t sizes = 0;
    for (const PriorRow& row : priors.rows) {
      if (!last || *last != row.signature) {
        const auto here = seen.find(row.signature);
        sizes = (here == seen.end() ? 0 : here->second) |
                (file_ ? file_->SoundSizes(book, row.signature) : 0);
        last = &row.signature;
      }
      if (HasLikeSize(sizes, row.size)) continue;
      fit_->Add(book, {row.signature, row.family, row.size}, static_cast<int>(Kind::kAlone),
                row.log_error + scale.Of(book, row.family));
    }
  }
}

Correction PriceCache::CorrectionFor(const PriceBook& book, const OfferName& name, Kind kind,
                                     double confidence) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return Fitted().Find(book, {name.signature, name.family, name.size}, static_cast<int>(kind),
                       confidence, kind != Kind::kInsideShare);
}

PriceFile::Reads PriceCache::Reads() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return file_ ? file_->reads() : PriceFile::Reads();
}

std::string PriceCache::ToText() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return PricesText(AllRows(), machine_);
}

Status PriceCache::FromText(const std::string& text) {
  GE_ASSIGN_OR_RETURN(const PriceBooks books, PricesFromText(text, machine_));
  std::lock_guard<std::mutex> lock(mutex_);
  Take(books);
  fit_.reset();
  return {};
}

}  // namespace ge

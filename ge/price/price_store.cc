#include "ge/price/price_store.h"

#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <span>
#include <tuple>

#include "ge/base/log.h"
#include "ge/base/read_file.h"
#include "ge/base/replace_file.h"
#include "ge/base/sha256.h"
#include "ge/host/cache_folder.h"
#include "ge/host/file_lock.h"
#include "ge/price/stable_hash.h"

namespace ge {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostRecords = uint64_t{16} << 20;  // bytes in a sorted file
// Enough rows of a book to tell its scale: a look-up takes microseconds.
constexpr size_t kEnough = 300;

void TellBusy(const std::string& path) {
  LogLine(2, fmt::format("'{}' is not updated, what was measured is not kept: another process held "
                         "the lock on it for {} ms; fuser tells which one",
                         path, kLockWaitMs));
}

// Rows of equal offers joined in the order given.
struct JoinedRows {
  explicit JoinedRows(std::string_view records) {
    RecordReader reader(records);
    std::vector<RowView> all;
    for (RowView row; reader.Next(&row);) all.push_back(row);
    std::vector<std::tuple<uint64_t, uint64_t, uint32_t>> order;  // signature, shape, place
    for (const RowView& row : all) {
      order.emplace_back(row.GroupKey(), StableHash(row.shape), order.size());
    }
    std::sort(order.begin(), order.end());
    for (const auto& [group, shape, at] : order) Join(all[at]);
    for (size_t i : changed) Encode(&rows[i]);
  }

  std::vector<RowView> rows;

 private:
  void Join(const RowView& row) {
    if (rows.empty() || !rows.back().IsSameOffer(row)) {
      rows.push_back(row);
      return;
    }
    // The family is the later one's, as everything that is not measured.
    rows.back().family = row.family;
    rows.back().row.Merge(row.row);
    if (changed.empty() || changed.back() != rows.size() - 1) changed.push_back(rows.size() - 1);
  }
  void Encode(RowView* row) {
    PriceRow whole = row->row;
    whole.family = row->family;
    auto text = std::make_unique<std::string>();
    AppendRecord(row->book(), row->signature, row->shape, whole, text.get());
    row->encoded = *text;
    texts.push_back(std::move(text));
  }
  std::vector<size_t> changed;                      // of rows
  std::vector<std::unique_ptr<std::string>> texts;  // of rows that changed
};

// The oldest rows go, until as many and as many bytes are left as are kept.
void Prune(std::vector<RowView>* rows) {
  const auto bytes = [&] {
    uint64_t sum = 0;
    for (const RowView& row : *rows) sum += row.encoded.size();
    return sum;
  };
  uint64_t left = bytes();
  if (rows->size() <= PriceStore::kMostRows && left <= kMostRecords) return;
  std::stable_sort(rows->begin(), rows->end(),
                   [](const RowView& a, const RowView& b) { return a.row.day > b.row.day; });
  while (rows->size() > PriceStore::kMostRows || left > kMostRecords) {
    left -= rows->back().encoded.size();
    rows->pop_back();
  }
}

// By how much rows are beyond priors. Where a book's priors are not known here, what `before` says
// stays.
std::vector<ImageHead::Book> ScalesOf(const std::vector<RowView>& rows, PriorFit* priors,
                                      std::vector<ImageHead::Book> before) {
  std::map<PriceBook, std::vector<const RowView*>> of_book;
  for (const RowView& row : rows) of_book[row.book()].push_back(&row);
  for (const auto& [book, known] : of_book) {
    if (!priors->Has(book)) continue;
    PriorScale scale;
    const size_t step = known.size() / kEnough + 1;
    for (size_t i = 0; i < known.size(); i += step) {
      const PriceRow& row = known[i]->row;
      const PriceKind kind = row.alone.count > 0 ? PriceKind::kAlone : PriceKind::kInside;
      const auto log = row.LogError(kind);
      if (!log || row.IsDoubtful(kind)) continue;
      const WorkName work{known[i]->signature, known[i]->family, row.size};
      const auto prior = priors->Log(book, work);
      if (prior) scale.Add(book, work, *log - *prior);
    }
    std::erase_if(before, [&name = book](const ImageHead::Book& b) { return b.name == name; });
    before.push_back({book, priors->Id(book), scale.Terms(book)});
  }
  return before;
}

}  // namespace

PriceStore::PriceStore(const MachineRecord& machine) : machine_(machine) {}

PriceStore::~PriceStore() {
  if (sorter_.joinable()) sorter_.join();
}

std::string PriceStore::Name(const char* ending) const {
  const std::string key = fmt::format("{}|{}|{}", machine_.cpu, machine_.isa, machine_.threads);
  return "prices-" + Sha256(std::as_bytes(std::span(key.data(), key.size()))).substr(0, 16) +
         ending;
}

std::unique_ptr<PriceFile> PriceStore::Open() {
  const std::string folder = CacheFolder();
  if (folder.empty()) return nullptr;
  const std::string path = folder + "/" + Name();
  auto file = PriceFile::Open(path, machine_);
  if (!file.ok() && file.status().code() == Code::kDataCorrupt && Sort({})) {
    file = PriceFile::Open(path, machine_);
  }
  if (file.ok()) return *std::move(file);
  // Who may not read a cache of others has none, and need not be told at each load.
  const bool unreadable = file.status().code() == Code::kIoError;
  LogLine(unreadable ? 2 : 1,
          fmt::format("price cache '{}' is ignored: {}", path, file.status().message()));
  return nullptr;
}

PriceStore::Appended PriceStore::TryAppend(const std::string& path, const std::string& records) {
  const LockedFile file(path, LockedFile::Missing::kMake);
  if (!file.held()) {
    if (file.busy()) TellBusy(path);
    return Appended::kNot;
  }
  const uint64_t before = file.bytes();
  std::string bytes;
  if (before == 0) {
    bytes = MakeImage(machine_, {}, {});
  } else {
    std::string begin(kBeginBytes, '\0');
    const ssize_t n = pread(file.fd(), begin.data(), begin.size(), 0);
    begin.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
    const auto told = BeginOf(begin);
    // Who opens a damaged one makes it anew; one of a later release stays as it is.
    if (!told.ok()) return Appended::kNot;
    if (before < told->least_bytes) return Appended::kCut;
  }
  bytes += records;
  if (before + bytes.size() > PriceFile::kMostBytes) {
    LogLine(2, fmt::format("'{}' is not updated: it would have more than {} bytes", path,
                           PriceFile::kMostBytes));
    return Appended::kNot;
  }
  if (WriteBytes(file.fd(), bytes) == 0) return Appended::kDone;
  (void)!ftruncate(file.fd(), static_cast<off_t>(before));
  return Appended::kNot;
}

bool PriceStore::Append(const std::string& records) {
  const std::string folder = CacheFolder();
  if (folder.empty() || records.empty()) return false;
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) return false;
  const std::string path = folder + "/" + Name();
  Appended appended = TryAppend(path, records);
  if (appended == Appended::kCut && Sort({}, "", kLockWaitMs)) appended = TryAppend(path, records);
  return appended == Appended::kDone;
}

namespace {

// A file as it was when read for sorting.
struct Snapshot {
  uint64_t inode = 0, bytes = 0;
  std::string records;
  std::vector<ImageHead::Book> books;
  std::string damage;  // of the head, so that the file is put aside
  uint64_t lost = 0;   // rows of the sorted part that cannot be read
};

// False where the file is not to be touched. No file is an empty snapshot.
bool TakeSnapshot(const std::string& path, const MachineRecord& machine, Snapshot* out) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return errno == ENOENT;
  out->inode = info.st_ino;
  auto file = PriceFile::Open(path, machine);
  if (file.ok() && !*file) return true;
  if (file.ok()) {
    out->bytes = (*file)->bytes();
    out->books = (*file)->head().books;
    out->records = (*file)->ReadSorted();
    RecordReader reader(out->records);
    out->lost = (*file)->head().row_count;
    for (RowView row; out->lost > 0 && reader.Next(&row);) --out->lost;
    out->records += (*file)->ReadTail();
    return true;
  }
  if (file.status().code() != Code::kDataCorrupt) return false;
  auto text = ReadRegularFile(path, PriceFile::kMostBytes);
  if (!text.ok()) return false;
  out->damage = file.status().message();
  out->bytes = text->size();
  out->records = *std::move(text);
  return true;
}

// What was appended behind `from`.
bool ReadRest(const LockedFile& file, uint64_t from, std::string* out) {
  const uint64_t bytes = file.bytes();
  if (bytes < from) return false;
  out->resize(bytes - from);
  return pread(file.fd(), out->data(), out->size(), static_cast<off_t>(from)) ==
         static_cast<ssize_t>(out->size());
}

// Gives the path to the new bytes, where it still has what they were made of.
bool Exchange(const std::string& path, const Snapshot& was, std::string image, size_t rows) {
  const LockedFile file(path, LockedFile::Missing::kMake);
  std::string rest;
  if (!file.held() || (was.inode != 0 && file.inode() != was.inode) ||
      !ReadRest(file, was.bytes, &rest)) {
    return false;
  }
  if (was.inode == 0 && !rest.empty()) return false;  // another process has made one
  if (!was.damage.empty()) {
    MoveAside(path, was.damage, fmt::format("{} rows of it are left", rows));
  }
  return ReplaceFile(path, image + rest, false).ok();
}

}  // namespace

bool PriceStore::Sort(PriorFit priors, const std::string& more, double wait_ms) {
  const std::string folder = CacheFolder();
  if (folder.empty()) return false;
  std::error_code ec;
  fs::create_directories(folder, ec);
  const std::string path = folder + "/" + Name();
  const FileLock one(path + ".lock", wait_ms);
  Snapshot was;
  if (ec || !one.held() || !TakeSnapshot(path, machine_, &was)) return false;
  const std::string records = was.records + more;
  JoinedRows joined(records);
  const size_t found = joined.rows.size();
  if (was.lost > 0) {
    LogLine(1, fmt::format("price cache '{}' was damaged: {} rows are lost, {} are left", path,
                           was.lost, found));
  }
  Prune(&joined.rows);
  auto books = ScalesOf(joined.rows, &priors, std::move(was.books));
  return Exchange(path, was, MakeImage(machine_, std::move(joined.rows), std::move(books)), found);
}

void PriceStore::SortBeside(const PriorFit& priors) {
  if (sorter_.joinable()) return;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);  // they are the application's threads' to take
  try {
    sorter_ = std::thread([this, priors] {
      try {
        Sort(priors);
      } catch (const std::exception&) {
        // Without memory the tail stays as long as it is.
      }
    });
  } catch (const std::exception&) {
    // Neither a thread nor memory: another session has more.
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

}  // namespace ge

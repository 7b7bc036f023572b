#include "ge/price/price_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "ge/price/stable_hash.h"

namespace ge {
namespace {

constexpr char kMagic[8] = {'G', 'E', 'P', 'R', 'I', 'C', 'E', 'S'};
// 1 and 2 were JSON, see price_text.h.
constexpr uint32_t kImageFormat = 3;
constexpr uint64_t kMostHeadBytes = uint64_t{1} << 24;
constexpr uint64_t kMostAt = uint64_t{1} << 40;  // so that sums of places do not overflow

// The beginning of every head. `check` is that of the rest of the head.
struct Begin {
  char magic[8];
  uint32_t format, reserved;
  uint64_t bytes, least_bytes, check;
};
static_assert(sizeof(Begin) == kBeginBytes);

template <typename T>
void Put(const T& value, std::string* out) {
  static_assert(std::is_trivially_copyable_v<T>);
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
void PutText(std::string_view text, std::string* out) {
  Put(static_cast<uint32_t>(text.size()), out);
  out->append(text);
}
void PutKeys(const std::vector<uint64_t>& keys, std::string* out) {
  Put(static_cast<uint32_t>(keys.size()), out);
  for (const uint64_t key : keys) Put(key, out);
}

// Takes values off the front of bytes; once they end all are zero.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T Take() {
    T value = {};
    if (const std::string_view text = TakeBytes(sizeof(T)); ok_) {
      std::memcpy(&value, text.data(), sizeof value);
    }
    return value;
  }
  std::string TakeText() { return std::string(TakeBytes(Take<uint32_t>())); }
  std::vector<uint64_t> TakeKeys() {
    const auto count = Take<uint32_t>();
    std::vector<uint64_t> keys;
    for (uint32_t i = 0; i < count && ok_; ++i) keys.push_back(Take<uint64_t>());
    return keys;
  }
  bool ok() const { return ok_; }

 private:
  std::string_view TakeBytes(uint64_t count) {
    ok_ = ok_ && count <= bytes_.size();
    if (!ok_) return {};
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return out;
  }
  std::string_view bytes_;
  bool ok_ = true;
};

Status DamagedHead() { return Status(Code::kDataCorrupt, "its head is damaged"); }

}  // namespace

bool ImageHead::IsAbout(const MachineRecord& machine) const {
  return cpu == machine.cpu && isa == machine.isa && threads == machine.threads;
}

std::string ImageHead::ToBytes() const {
  std::string rest;
  PutText(cpu, &rest);
  Put(isa, &rest);
  Put(threads, &rest);
  for (const ImagePart& part : {signatures, scopes, logs, rows}) Put(part, &rest);
  Put(row_count, &rest);
  PutKeys(signature_keys, &rest);
  PutKeys(scope_keys, &rest);
  Put(static_cast<uint32_t>(books.size()), &rest);
  for (const Book& book : books) {
    PutText(book.name.plugin_hash, &rest);
    PutText(book.name.device, &rest);
    Put(book.priors, &rest);
    Put(static_cast<uint32_t>(book.scale.size()), &rest);
    for (const PriorScale::Term& term : book.scale) {
      PutText(term.lead, &rest);
      Put(term.log, &rest);
    }
  }
  rest.resize((rest.size() + 7) / 8 * 8);
  Begin begin = {};
  std::memcpy(begin.magic, kMagic, sizeof kMagic);
  begin.format = kImageFormat;
  begin.bytes = sizeof begin + rest.size();
  begin.least_bytes = rows.end();
  begin.check = StableHash(rest, begin.bytes ^ begin.least_bytes);
  std::string out;
  Put(begin, &out);
  return out + rest;
}

Result<ImageBegin> BeginOf(std::string_view bytes) {
  Taker taker(bytes);
  const auto begin = taker.Take<Begin>();
  if (!taker.ok() || std::memcmp(begin.magic, kMagic, sizeof kMagic) != 0) return DamagedHead();
  if (begin.format != kImageFormat) {
    return Status(Code::kFailedPrecondition, fmt::format("its format is {}, this version reads {}",
                                                         begin.format, kImageFormat));
  }
  if (begin.bytes < sizeof begin || begin.bytes > kMostHeadBytes) return DamagedHead();
  return ImageBegin{begin.bytes, begin.least_bytes};
}

Result<ImageHead> HeadOf(std::string_view bytes) {
  Taker taker(bytes);
  const auto begin = taker.Take<Begin>();
  if (!taker.ok() ||
      begin.check != StableHash(bytes.substr(sizeof begin), bytes.size() ^ begin.least_bytes)) {
    return DamagedHead();
  }
  ImageHead head;
  head.bytes = bytes.size();
  head.cpu = taker.TakeText();
  head.isa = taker.Take<uint32_t>();
  head.threads = taker.Take<uint32_t>();
  for (ImagePart* part : {&head.signatures, &head.scopes, &head.logs, &head.rows}) {
    *part = taker.Take<ImagePart>();
    if (part->at > kMostAt || part->bytes > kMostAt) return DamagedHead();
  }
  head.row_count = taker.Take<uint64_t>();
  head.signature_keys = taker.TakeKeys();
  head.scope_keys = taker.TakeKeys();
  const auto books = taker.Take<uint32_t>();
  for (uint32_t i = 0; i < books && taker.ok(); ++i) {
    ImageHead::Book book;
    book.name.plugin_hash = taker.TakeText();
    book.name.device = taker.TakeText();
    book.priors = taker.Take<uint64_t>();
    const auto terms = taker.Take<uint32_t>();
    for (uint32_t t = 0; t < terms && taker.ok(); ++t) {
      std::string lead = taker.TakeText();
      book.scale.push_back({std::move(lead), taker.Take<double>()});
    }
    head.books.push_back(std::move(book));
  }
  if (!taker.ok()) return DamagedHead();
  return head;
}

namespace {

// Blocks of entries, and the first key of each.
std::string IndexOf(const std::vector<IndexEntry>& entries, std::vector<uint64_t>* keys) {
  std::string out;
  for (size_t at = 0; at < entries.size(); at += IndexBlock::kEntries) {
    IndexBlock block;
    block.count = std::min(IndexBlock::kEntries, entries.size() - at);
    std::copy_n(entries.begin() + static_cast<int64_t>(at), block.count, block.entries);
    const std::string_view all(reinterpret_cast<const char*>(&block), sizeof block);
    block.check = StableHash(all.substr(sizeof block.check));
    keys->push_back(block.entries[0].key);
    Put(block, &out);
  }
  return out;
}

struct RowOfScope {
  uint64_t key;
  bool doubtful;
  double log;
  friend auto operator<=>(const RowOfScope&, const RowOfScope&) = default;
};

std::vector<RowOfScope> RowsOfScopes(const std::vector<RowView>& rows) {
  std::vector<RowOfScope> out;
  for (const RowView& row : rows) {
    for (const PriceKind kind : kPriceKinds) {
      const auto log = row.row.LogError(kind);
      if (!log) continue;
      const WorkName work{row.signature, row.family, row.row.size};
      const auto keys = PriceFit::KeysOf(row.book(), work, static_cast<int>(kind));
      for (size_t level = PriceFit::kSize; level <= PriceFit::kEngine; ++level) {
        out.push_back({keys[level], row.row.IsDoubtful(kind), *log});
      }
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Entries point into `logs`.
std::vector<IndexEntry> ScopeEntries(const std::vector<RowOfScope>& rows, std::string* logs) {
  std::vector<IndexEntry> out;
  for (size_t i = 0; i < rows.size();) {
    IndexEntry entry;
    entry.key = rows[i].key;
    entry.at = logs->size();
    for (; i < rows.size() && rows[i].key == entry.key; ++i) {
      ++(rows[i].doubtful ? entry.second : entry.first);
      Put(rows[i].log, logs);
    }
    entry.more = StableHash(std::string_view(*logs).substr(entry.at));
    out.push_back(entry);
  }
  return out;
}

std::vector<IndexEntry> SignatureEntries(const std::vector<RowView>& rows, std::string* records) {
  std::vector<IndexEntry> out;
  for (const RowView& row : rows) {
    const uint64_t key = row.GroupKey();
    if (out.empty() || out.back().key != key) {
      out.push_back({});
      out.back().key = key;
      out.back().at = records->size();
    }
    IndexEntry& entry = out.back();
    entry.first += static_cast<uint32_t>(row.encoded.size());
    ++entry.second;
    const bool sound = row.row.alone.count > 0 && !row.row.alone.doubtful;
    if (sound) entry.more |= IndexedSize(row.row.size);
    records->append(row.encoded);
  }
  return out;
}

void AddBooks(const std::vector<RowView>& rows, std::vector<ImageHead::Book>* books) {
  std::map<std::pair<std::string_view, std::string_view>, bool> seen;
  for (const RowView& row : rows) seen.try_emplace({row.plugin_hash, row.device}, true);
  std::erase_if(*books, [&](const ImageHead::Book& b) {
    return seen.erase({b.name.plugin_hash, b.name.device}) == 0;
  });
  for (const auto& [name, known] : seen) {
    books->push_back({{std::string(name.first), std::string(name.second)}, 0, {}});
  }
}

}  // namespace

std::string MakeImage(const MachineRecord& machine, std::vector<RowView> rows,
                      std::vector<ImageHead::Book> books) {
  ImageHead head;
  head.cpu = machine.cpu;
  head.isa = machine.isa;
  head.threads = machine.threads;
  head.row_count = rows.size();
  AddBooks(rows, &books);
  head.books = std::move(books);
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (const RowView& row : rows) {
    order.emplace_back(row.GroupKey(), static_cast<uint32_t>(order.size()));
  }
  std::sort(order.begin(), order.end());
  std::vector<RowView> sorted;
  sorted.reserve(rows.size());
  for (const auto& [key, i] : order) sorted.push_back(rows[i]);
  std::string records, logs;
  const auto scopes = ScopeEntries(RowsOfScopes(sorted), &logs);
  const std::string scope_blocks = IndexOf(scopes, &head.scope_keys);
  const auto signatures = SignatureEntries(sorted, &records);
  const std::string signature_blocks = IndexOf(signatures, &head.signature_keys);
  // The head's own size does not depend on these numbers.
  uint64_t at = head.ToBytes().size();
  const auto place = [&at](const std::string& bytes) {
    const ImagePart part{at, bytes.size()};
    at += bytes.size();
    return part;
  };
  head.signatures = place(signature_blocks);
  head.scopes = place(scope_blocks);
  head.logs = place(logs);
  head.rows = place(records);
  std::string out = head.ToBytes();
  out.reserve(at);
  return out.append(signature_blocks).append(scope_blocks).append(logs).append(records);
}

}  // namespace ge

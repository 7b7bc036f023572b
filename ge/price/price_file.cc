#include "ge/price/price_file.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "ge/base/read_file.h"
#include "ge/price/stable_hash.h"

namespace ge {

Result<std::unique_ptr<PriceFile>> PriceFile::Open(const std::string& path,
                                                   const MachineRecord& machine) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec) && !ec) return std::unique_ptr<PriceFile>();
  auto opened = OpenRegularFile(path);
  if (!opened.ok()) return opened.status();
  auto file = std::make_unique<PriceFile>();
  file->fd_ = std::move(opened->fd);
  file->size_ = opened->bytes;
  if (file->size_ > kMostBytes) {
    return Status(Code::kLimitExceeded,
                  fmt::format("it has {} bytes, at most {} are read", file->size_, kMostBytes));
  }
  if (file->size_ == 0) return std::unique_ptr<PriceFile>();  // a writer has only just made it
  std::string begin = file->Read(0, kHeadBytes);
  GE_ASSIGN_OR_RETURN(const ImageBegin told, BeginOf(begin));
  const uint64_t bytes = told.head_bytes;
  if (bytes > begin.size()) begin += file->Read(begin.size(), bytes - begin.size());
  if (begin.size() < bytes) return Status(Code::kDataCorrupt, "its head is cut off");
  GE_ASSIGN_OR_RETURN(file->head_, HeadOf(std::string_view(begin).substr(0, bytes)));
  const ImageHead& head = file->head_;
  if (!head.IsAbout(machine)) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("it is about {}, isa {}, {} threads; this is {}, isa {}, {} threads", head.cpu,
                    head.isa, head.threads, machine.cpu, machine.isa, machine.threads));
  }
  file->damaged_ = file->size_ < head.rows.end();
  for (const ImageHead::Book& book : head.books) file->books_.push_back(book.name);
  return file;
}

std::string PriceFile::Read(uint64_t at, uint64_t bytes) {
  bytes = std::min(bytes, size_ - std::min(at, size_));
  std::string out(bytes, '\0');
  size_t have = 0;
  while (have < bytes) {
    const ssize_t n =
        pread(fd_.get(), out.data() + have, bytes - have, static_cast<off_t>(at + have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    have += static_cast<size_t>(n);
  }
  out.resize(have);
  reads_.bytes += have;
  return out;
}

bool PriceFile::ReadWhole(uint64_t at, uint64_t bytes, std::string* out) {
  *out = Read(at, bytes);
  if (out->size() == bytes) return true;
  damaged_ = true;
  return false;
}

const IndexBlock* PriceFile::BlockAt(uint64_t at) {
  const auto [it, fresh] = blocks_.try_emplace(at);
  if (!fresh) return it->second.get();
  std::string bytes;
  if (!ReadWhole(at, sizeof(IndexBlock), &bytes)) return nullptr;
  auto block = std::make_unique<IndexBlock>();
  std::memcpy(block.get(), bytes.data(), sizeof(IndexBlock));
  const std::string_view checked = std::string_view(bytes).substr(sizeof block->check);
  if (StableHash(checked) != block->check || block->count > IndexBlock::kEntries) {
    damaged_ = true;
    return nullptr;
  }
  it->second = std::move(block);
  return it->second.get();
}

const IndexEntry* PriceFile::FindEntry(const std::vector<uint64_t>& keys, const ImagePart& part,
                                       uint64_t key) {
  const auto after = std::upper_bound(keys.begin(), keys.end(), key);
  if (after == keys.begin()) return nullptr;
  const auto number = static_cast<uint64_t>(after - keys.begin() - 1);
  const IndexBlock* const block = BlockAt(part.at + number * sizeof(IndexBlock));
  if (!block) return nullptr;
  const IndexEntry* const end = block->entries + block->count;
  const IndexEntry* const found =
      std::lower_bound(block->entries, end, key,
                       [](const IndexEntry& e, uint64_t wanted) { return e.key < wanted; });
  return found != end && found->key == key ? found : nullptr;
}

const PriceFile::Signature& PriceFile::RowsOf(uint64_t key) {
  const auto [it, fresh] = signatures_.try_emplace(key);
  Signature& signature = it->second;
  if (!fresh) return signature;
  const IndexEntry* const entry = FindEntry(head_.signature_keys, head_.signatures, key);
  if (!entry) return signature;
  signature.bytes = Read(head_.rows.at + entry->at, entry->first);
  RecordReader reader(signature.bytes);
  for (RowView row; reader.Next(&row);) signature.rows.push_back(row);
  damaged_ = damaged_ || signature.rows.size() != entry->second;
  reads_.rows += signature.rows.size();
  return signature;
}

bool PriceFile::Find(const PriceBook& book, std::string_view signature, std::string_view shape,
                     PriceRow* out) {
  const Signature& known = RowsOf(GroupKeyOf(book.plugin_hash, book.device, signature));
  for (const RowView& row : known.rows) {
    if (row.shape != shape || row.signature != signature) continue;
    *out = row.row;
    out->family = row.family;
    return true;
  }
  return false;
}

uint64_t PriceFile::SoundSizes(const PriceBook& book, std::string_view signature) {
  const IndexEntry* const entry = FindEntry(head_.signature_keys, head_.signatures,
                                            GroupKeyOf(book.plugin_hash, book.device, signature));
  return entry ? entry->more : 0;
}

void PriceFile::AddSignature(const PriceBook& book, std::string_view signature, int kind,
                             std::vector<LoggedRow>* out) {
  const auto of = static_cast<PriceKind>(kind);
  const Signature& known = RowsOf(GroupKeyOf(book.plugin_hash, book.device, signature));
  for (const RowView& row : known.rows) {
    const auto log = row.signature == signature ? row.row.LogError(of) : std::nullopt;
    if (log) out->push_back({*log, row.row.size, row.row.IsDoubtful(of)});
  }
}

const ScopeLogs& PriceFile::LogsOf(uint64_t key) {
  const auto [it, fresh] = scopes_.try_emplace(key);
  ScopeLogs& logs = it->second;
  const IndexEntry* const entry = fresh ? FindEntry(head_.scope_keys, head_.scopes, key) : nullptr;
  if (!entry) return logs;
  const uint64_t rows = uint64_t{entry->first} + entry->second;
  std::string bytes;
  if (!ReadWhole(head_.logs.at + entry->at, rows * sizeof(double), &bytes)) return logs;
  if (StableHash(bytes) != entry->more) {
    damaged_ = true;
    return logs;
  }
  logs.sound.resize(entry->first);
  logs.doubtful.resize(entry->second);
  const size_t split = logs.sound.size() * sizeof(double);
  if (split > 0) std::memcpy(logs.sound.data(), bytes.data(), split);
  if (split < bytes.size()) {
    std::memcpy(logs.doubtful.data(), bytes.data() + split, bytes.size() - split);
  }
  return logs;
}

uint64_t PriceFile::SoundRows(uint64_t key) {
  const IndexEntry* const entry = FindEntry(head_.scope_keys, head_.scopes, key);
  return entry ? entry->first : 0;
}

std::string PriceFile::ReadTail() { return Read(head_.rows.end(), tail_bytes()); }

std::string PriceFile::ReadSorted() { return Read(head_.rows.at, head_.rows.bytes); }

}  // namespace ge

#include "passes/data/sources/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "passes/data/sources/inflate.h"

namespace ge::data {
namespace {

constexpr uint32_t kEndMark = 0x06054b50, kEnd64Mark = 0x06064b50, kLocatorMark = 0x07064b50,
                   kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr uint64_t kEnd = 22, kLocator = 20, kEnd64 = 56, kEntry = 46, kLocal = 30;
constexpr uint64_t kLongestComment = 65535;
constexpr uint16_t kZip64Field = 1;

// Little-endian numbers at checked places.
class ZipBytes {
 public:
  ZipBytes(const std::string& path, std::span<const std::byte> bytes) : path_(path), all_(bytes) {}
  uint64_t size() const { return all_.size(); }
  const std::string& path() const { return path_; }
  Refusal Bad(const std::string& why) const {
    return Refusal{GE_DATA_LOSS, fmt::format("'{}' is not a usable zip file: {}", path_, why)};
  }
  uint64_t Number(uint64_t at, uint64_t bytes) const {
    Within(at, bytes);
    uint64_t n = 0;
    for (uint64_t i = bytes; i-- > 0;) n = n << 8 | std::to_integer<uint64_t>(all_[at + i]);
    return n;
  }
  uint16_t U16(uint64_t at) const { return static_cast<uint16_t>(Number(at, 2)); }
  uint32_t U32(uint64_t at) const { return static_cast<uint32_t>(Number(at, 4)); }
  uint64_t U64(uint64_t at) const { return Number(at, 8); }
  std::string Text(uint64_t at, uint64_t bytes) const {
    Within(at, bytes);
    return {reinterpret_cast<const char*>(all_.data()) + at, bytes};
  }
  void Within(uint64_t at, uint64_t bytes) const {
    if (at > all_.size() || bytes > all_.size() - at) throw Bad("it is cut");
  }

 private:
  const std::string& path_;
  std::span<const std::byte> all_;
};

struct Directory {
  uint64_t at = 0, bytes = 0, count = 0;
};

Directory FindDirectory(const ZipBytes& zip) {
  uint64_t end = zip.size();
  if (end < kEnd) throw zip.Bad("it has no directory");
  const uint64_t last = zip.size() - kEnd;
  const uint64_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (end = last; zip.U32(end) != kEndMark || zip.U16(end + 20) != last - end; --end) {
    if (end == first) throw zip.Bad("it has no directory; it may have been cut");
  }
  Directory out{zip.U32(end + 16), zip.U32(end + 12), zip.U16(end + 10)};
  uint64_t stop = end;
  if (end >= kLocator && zip.U32(end - kLocator) == kLocatorMark) {
    const uint64_t wide = zip.U64(end - kLocator + 8);
    if (zip.U32(wide) != kEnd64Mark) throw zip.Bad("its zip64 directory is not where it says");
    zip.Within(wide, kEnd64);
    out = {zip.U64(wide + 48), zip.U64(wide + 40), zip.U64(wide + 32)};
    stop = wide;
  }
  if (out.at > stop || out.bytes > stop - out.at || out.count > out.bytes / kEntry) {
    throw zip.Bad(fmt::format("its directory of {} members and {} bytes at {} does not fit it",
                              out.count, out.bytes, out.at));
  }
  return out;
}

// The sizes and the place of a member where its entry says "look in the zip64 field".
void ReadZip64(const ZipBytes& zip, uint64_t at, uint64_t bytes, ZipMember* m, uint64_t* local) {
  const uint64_t end = at + bytes;
  while (end - at >= 4) {
    const uint16_t kind = zip.U16(at);
    const uint64_t size = zip.U16(at + 2);
    at += 4;
    if (size > end - at) throw zip.Bad("a field of a member does not fit it");
    if (kind == kZip64Field) {
      uint64_t next = at;
      const auto take = [&](uint64_t* n) {
        if (*n != UINT32_MAX) return;
        if (next + 8 > at + size) throw zip.Bad("a zip64 field is too short");
        *n = zip.U64(next);
        next += 8;
      };
      take(&m->bytes);
      take(&m->packed);
      take(local);
    }
    at += size;
  }
}

ZipMember ReadEntry(const ZipBytes& zip, const Directory& directory, uint64_t* at) {
  if (zip.U32(*at) != kEntryMark) throw zip.Bad("its directory is damaged");
  const uint64_t name = zip.U16(*at + 28), extra = zip.U16(*at + 30), note = zip.U16(*at + 32);
  const uint16_t flags = zip.U16(*at + 8), method = zip.U16(*at + 10);
  ZipMember m;
  m.crc = zip.U32(*at + 16);
  m.packed = zip.U32(*at + 20);
  m.bytes = zip.U32(*at + 24);
  uint64_t local = zip.U32(*at + 42);
  m.name = zip.Text(*at + kEntry, name);
  ReadZip64(zip, *at + kEntry + name, extra, &m, &local);
  *at += kEntry + name + extra + note;
  const std::string shown = Shown(m.name);
  if ((flags & 1) != 0 || (method != 0 && method != 8)) {
    throw Refusal{GE_UNIMPLEMENTED,
                  fmt::format("'{}': member '{}' is {}; save it stored or deflated", zip.path(),
                              shown, (flags & 1) != 0 ? "encrypted" : "packed by another method")};
  }
  m.deflated = method == 8;
  if (zip.U32(local) != kLocalMark) throw zip.Bad(fmt::format("'{}' is not where it says", shown));
  m.at = local + kLocal + zip.U16(local + 26) + zip.U16(local + 28);
  if (zip.Text(local + kLocal, zip.U16(local + 26)) != m.name) {
    throw zip.Bad(fmt::format("'{}' has another name where it lies", shown));
  }
  if (m.at > directory.at || m.packed > directory.at - m.at) {
    throw zip.Bad(
        fmt::format("'{}' wants {} bytes at {}, which it has not", shown, m.packed, m.at));
  }
  if (m.deflated ? m.bytes / Inflater::kMost > m.packed : m.bytes != m.packed) {
    throw zip.Bad(
        fmt::format("'{}' claims {} bytes, which its {} cannot be", shown, m.bytes, m.packed));
  }
  return m;
}

}  // namespace

std::vector<ZipMember> ReadZip(const std::string& path, std::span<const std::byte> file) {
  const ZipBytes zip(path, file);
  const Directory directory = FindDirectory(zip);
  std::vector<ZipMember> out;
  std::unordered_set<std::string> names;
  uint64_t at = directory.at;
  for (uint64_t i = 0; i < directory.count; ++i) {
    out.push_back(ReadEntry(zip, directory, &at));
    if (at > directory.at + directory.bytes) throw zip.Bad("its directory is cut");
    if (!names.insert(out.back().name).second) {
      throw zip.Bad(fmt::format("two members are named '{}'", Shown(out.back().name)));
    }
  }
  std::vector<const ZipMember*> placed;
  for (const ZipMember& m : out) placed.push_back(&m);
  std::sort(placed.begin(), placed.end(),
            [](const ZipMember* a, const ZipMember* b) { return a->at < b->at; });
  for (size_t i = 1; i < placed.size(); ++i) {
    if (placed[i]->at < placed[i - 1]->at + placed[i - 1]->packed + kLocal) {
      throw zip.Bad(
          fmt::format("'{}' and '{}' overlap", Shown(placed[i - 1]->name), Shown(placed[i]->name)));
    }
  }
  return out;
}

}  // namespace ge::data

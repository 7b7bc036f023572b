#include "tools/ge/samples/zip.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

namespace ge::tool {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint64_t kEndBytes = 22, kWideEndBytes = 56, kLocatorBytes = 20, kEntryBytes = 46,
                   kHeaderBytes = 30;
constexpr uint64_t kMostComment = 65535;
constexpr uint64_t kMostDirectory = uint64_t{64} << 20;  // bytes; a million members
constexpr uint64_t kPart = uint64_t{1} << 18;            // bytes that are read at once

uint64_t Little(Bytes b, uint64_t at, int n) {
  uint64_t v = 0;
  for (int i = n; i-- > 0;) {
    v = v << 8 | std::to_integer<uint64_t>(b[at + static_cast<uint64_t>(i)]);
  }
  return v;
}

// Sizes beyond 32 bits stand in an extra field, in this order, each where it is needed.
void ReadWide(Bytes extra, ZipMember* m) {
  for (uint64_t i = 0; i + 4 <= extra.size();) {
    const uint64_t id = Little(extra, i, 2), n = Little(extra, i + 2, 2), end = i + 4 + n;
    uint64_t at = i + 4;
    for (uint64_t* v : {&m->size, &m->packed, &m->header}) {
      if (id != 1 || end > extra.size() || *v != UINT32_MAX || at + 8 > end) continue;
      *v = Little(extra, at, 8);
      at += 8;
    }
    i = end;
  }
}

}  // namespace

std::string Printable(std::string text) {
  for (char& c : text) c = c >= ' ' && c <= '~' ? c : '?';
  return text.substr(0, 200);
}

Status ZipFile::Bad(const std::string& text) const {
  return Status(Code::kDataCorrupt, fmt::format("'{}' is not a usable .npz file: {}", path_, text));
}

Status ZipFile::ReadAt(uint64_t at, std::byte* to, uint64_t n) const {
  while (n > 0) {
    const ssize_t got =
        pread(file_.fd.get(), to, std::min<uint64_t>(n, 1 << 30), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Status(Code::kIoError, fmt::format("cannot read '{}': {}", path_, strerror(errno)));
    }
    if (got == 0) return Bad("it ends while it is read");
    at += static_cast<uint64_t>(got);
    to += got;
    n -= static_cast<uint64_t>(got);
  }
  return {};
}

// Where the directory begins and must have ended, and how many members it has.
Status ZipFile::FindDirectory(uint64_t* at, uint64_t* end, uint64_t* n) const {
  if (file_.bytes < kEndBytes) return Bad("it has less than 22 bytes");
  const uint64_t size = std::min(file_.bytes, kEndBytes + kMostComment + kLocatorBytes),
                 base = file_.bytes - size;
  std::vector<std::byte> tail(size);
  GE_RETURN_IF_ERROR(ReadAt(base, tail.data(), size));
  for (uint64_t i = size - kEndBytes;; --i) {
    if (Little(tail, i, 4) == 0x06054b50) {
      *n = Little(tail, i + 10, 2);
      *at = Little(tail, i + 16, 4);
      *end = base + i;
      // A zip file of 64 bits has another end, which a record ahead of this one names.
      const bool wide = *at == UINT32_MAX || *n == UINT16_MAX;
      if (!wide || i < kLocatorBytes || Little(tail, i - kLocatorBytes, 4) != 0x07064b50) return {};
      *end = Little(tail, i - kLocatorBytes + 8, 8);
      std::byte record[kWideEndBytes];
      if (file_.bytes < kWideEndBytes || *end > file_.bytes - kWideEndBytes) {
        return Bad("its directory is not there");
      }
      GE_RETURN_IF_ERROR(ReadAt(*end, record, kWideEndBytes));
      *n = Little(record, 32, 8);
      *at = Little(record, 48, 8);
      return {};
    }
    if (i == 0) return Bad("it has no zip directory");
  }
}

Status ZipFile::ReadDirectory(uint64_t* begin) {
  uint64_t end = 0, n = 0;
  GE_RETURN_IF_ERROR(FindDirectory(begin, &end, &n));
  if (*begin > end) return Bad("its directory is not there");
  if (end - *begin > kMostDirectory) return Bad("its directory is beyond 64 MiB");
  std::vector<std::byte> b(end - *begin);
  GE_RETURN_IF_ERROR(ReadAt(*begin, b.data(), b.size()));
  uint64_t at = 0;
  for (uint64_t i = 0; i < n; ++i) {
    if (b.size() - at < kEntryBytes || Little(b, at, 4) != 0x02014b50) {
      return Bad("its zip directory is damaged");
    }
    const uint64_t name = Little(b, at + 28, 2), extra = Little(b, at + 30, 2),
                   note = Little(b, at + 32, 2);
    if (b.size() - at - kEntryBytes < name + extra + note) return Bad("its zip directory ends");
    ZipMember m;
    m.flags = static_cast<uint32_t>(Little(b, at + 8, 2));
    m.method = static_cast<uint32_t>(Little(b, at + 10, 2));
    m.crc = static_cast<uint32_t>(Little(b, at + 16, 4));
    m.packed = Little(b, at + 20, 4);
    m.size = Little(b, at + 24, 4);
    m.header = Little(b, at + 42, 4);
    ReadWide(Bytes(b).subspan(at + kEntryBytes + name, extra), &m);
    m.name.assign(reinterpret_cast<const char*>(b.data() + at + kEntryBytes), name);
    if (m.name.ends_with(".npy")) m.name.resize(m.name.size() - 4);
    if (!members_.try_emplace(m.name, m).second) {
      return Bad(fmt::format("two arrays are named '{}'", Printable(m.name)));
    }
    at += kEntryBytes + name + extra + note;
  }
  return {};
}

// That each member lies before the directory, in bytes of its own.
Status ZipFile::CheckPlaces(uint64_t directory) {
  std::vector<const ZipMember*> places;
  for (auto& [name, m] : members_) {
    std::byte head[kHeaderBytes];
    if (m.header > directory || directory - m.header < kHeaderBytes) {
      return Bad(fmt::format("array '{}' is not where the directory says", Printable(name)));
    }
    GE_RETURN_IF_ERROR(ReadAt(m.header, head, kHeaderBytes));
    m.at = m.header + kHeaderBytes + Little(head, 26, 2) + Little(head, 28, 2);
    if (Little(head, 0, 4) != 0x04034b50) {
      return Bad(fmt::format("array '{}' is not where the directory says", Printable(name)));
    }
    if (m.at > directory || m.packed > directory - m.at) {
      return Bad(fmt::format("array '{}' ends beyond the file", Printable(name)));
    }
    places.push_back(&m);
  }
  std::sort(places.begin(), places.end(),
            [](const ZipMember* a, const ZipMember* b) { return a->header < b->header; });
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i - 1]->at + places[i - 1]->packed <= places[i]->header) continue;
    return Bad(fmt::format("arrays '{}' and '{}' overlap", Printable(places[i - 1]->name),
                           Printable(places[i]->name)));
  }
  return {};
}

Result<ZipFile> ZipFile::Open(const std::string& path) {
  ZipFile zip;
  zip.path_ = path;
  GE_ASSIGN_OR_RETURN(zip.file_, OpenRegularFile(path));
  uint64_t directory = 0;
  GE_RETURN_IF_ERROR(zip.ReadDirectory(&directory));
  GE_RETURN_IF_ERROR(zip.CheckPlaces(directory));
  return zip;
}

ZipReader::ZipReader(const ZipFile* file, const ZipMember& member)
    : file_(file), member_(member), crc_(crc32(0, nullptr, 0)) {}

ZipReader::~ZipReader() {
  if (inflating_) inflateEnd(&z_);
}

Result<std::unique_ptr<ZipReader>> ZipReader::Open(const ZipFile* file, const ZipMember& m) {
  const auto unsupported = [&](const std::string& text) {
    return Status(Code::kUnsupported, fmt::format("'{}': array '{}' is {}; save it by numpy.savez",
                                                  file->path(), Printable(m.name), text));
  };
  if (m.flags & 1) return unsupported("encrypted");
  if (m.method != 0 && m.method != 8) {
    return unsupported(fmt::format("packed by method {}, wanted 0 or 8", m.method));
  }
  if (m.method == 0 && m.packed != m.size) {
    return file->Bad(fmt::format("array '{}' is stored and of two sizes", Printable(m.name)));
  }
  std::unique_ptr<ZipReader> reader(new ZipReader(file, m));
  if (m.method == 0) return reader;
  reader->inflating_ = inflateInit2(&reader->z_, -MAX_WBITS) == Z_OK;
  if (reader->inflating_) return reader;
  return Status(Code::kResourceExhausted, "no memory to inflate '" + file->path() + "'");
}

Status ZipReader::Read(std::byte* to, uint64_t n) {
  if (n > member_.size - given_) {
    return file_->Bad(fmt::format("array '{}' ends before its last byte", Printable(member_.name)));
  }
  GE_RETURN_IF_ERROR(inflating_ ? Inflated(to, n) : Stored(to, n));
  given_ += n;
  for (uint64_t i = 0; i < n; i += 1 << 30) {
    crc_ = crc32(crc_, reinterpret_cast<const Bytef*>(to + i),
                 static_cast<uInt>(std::min<uint64_t>(n - i, 1 << 30)));
  }
  return {};
}

Status ZipReader::Stored(std::byte* to, uint64_t n) {
  return file_->ReadAt(member_.at + given_, to, n);
}

Status ZipReader::Inflated(std::byte* to, uint64_t n) {
  while (n > 0 && !ended_) {
    if (z_.avail_in == 0 && taken_ < member_.packed) {
      packed_.resize(std::min(kPart, member_.packed - taken_));
      GE_RETURN_IF_ERROR(file_->ReadAt(member_.at + taken_, packed_.data(), packed_.size()));
      taken_ += packed_.size();
      z_.next_in = reinterpret_cast<Bytef*>(packed_.data());
      z_.avail_in = static_cast<uInt>(packed_.size());
    }
    const auto room = static_cast<uInt>(std::min<uint64_t>(n, 1 << 30));
    z_.next_out = reinterpret_cast<Bytef*>(to);
    z_.avail_out = room;
    const int rc = inflate(&z_, Z_NO_FLUSH);
    to += room - z_.avail_out;
    n -= room - z_.avail_out;
    ended_ = rc == Z_STREAM_END;
    if (rc != Z_OK && !ended_) break;  // nor does it go on where there is nothing to inflate
  }
  if (n == 0) return {};
  return file_->Bad(
      fmt::format("array '{}', which is deflated, is damaged", Printable(member_.name)));
}

Status ZipReader::Finish() {
  // The end of what is deflated may follow the last byte.
  if (inflating_ && !ended_) {
    std::byte more;
    const Status over = Inflated(&more, 1);
    if (over.ok()) {
      return file_->Bad(fmt::format("array '{}' has more bytes than the directory says",
                                    Printable(member_.name)));
    }
    if (!ended_) return over;
  }
  if (given_ == member_.size && crc_ == member_.crc) return {};
  return file_->Bad(fmt::format("array '{}' is damaged: its checksum is not that of its bytes",
                                Printable(member_.name)));
}

}  // namespace ge::tool

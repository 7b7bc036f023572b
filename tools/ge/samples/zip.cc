#include "tools/ge/samples/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ge::tool {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 50;  // of a file
constexpr uint64_t kMostMembers = 1'000'000;
constexpr uint64_t kPart = uint64_t{1} << 30;  // bytes that zlib takes at once

}  // namespace

Status ZipFile::Bad(const std::string& text) const {
  return Status(Code::kDataCorrupt, fmt::format("'{}' is not a usable .npz file: {}", path_, text));
}

Result<ZipFile> ZipFile::Open(const std::string& path) {
  ZipFile zip;
  zip.path_ = path;
  GE_ASSIGN_OR_RETURN(zip.file_, MappedFile::Open(path, kMostBytes));
  auto members = ReadZipDirectory(zip.file_->bytes(), kMostMembers);
  GE_RETURN_IF_ERROR(zip.Check());
  if (!members.ok()) return zip.Bad(members.status().message());
  for (ZipMember& m : *members) {
    if (m.name.ends_with(".npy")) m.name.resize(m.name.size() - 4);
    const std::string name = m.name;
    if (!zip.members_.try_emplace(name, std::move(m)).second) {
      return zip.Bad(fmt::format("two arrays are named '{}'", ShownName(name)));
    }
  }
  return zip;
}

ZipReader::ZipReader(const ZipFile* file, const ZipMember& member)
    : file_(file), member_(member), packed_(file->Packed(member)) {}

ZipReader::~ZipReader() {
  if (inflating_) inflateEnd(&z_);
}

Result<std::unique_ptr<ZipReader>> ZipReader::Open(const ZipFile* file, const ZipMember& m) {
  const auto unsupported = [&](const std::string& text) {
    return Status(Code::kUnsupported, fmt::format("'{}': array '{}' is {}; save it by numpy.savez",
                                                  file->path(), ShownName(m.name), text));
  };
  if (m.flags & 1) return unsupported("encrypted");
  if (m.method != 0 && m.method != 8) {
    return unsupported(fmt::format("packed by method {}, wanted 0 or 8", m.method));
  }
  if (m.method == 0 && m.packed != m.bytes) {
    return file->Bad(fmt::format("array '{}' is stored and of two sizes", ShownName(m.name)));
  }
  std::unique_ptr<ZipReader> reader(new ZipReader(file, m));
  if (m.method == 0) return reader;
  reader->inflating_ = inflateInit2(&reader->z_, -MAX_WBITS) == Z_OK;
  if (reader->inflating_) return reader;
  return Status(Code::kResourceExhausted, "no memory to inflate '" + file->path() + "'");
}

Status ZipReader::Read(std::byte* to, uint64_t n) {
  if (n > member_.bytes - given_) {
    return file_->Bad(fmt::format("array '{}' ends before its last byte", ShownName(member_.name)));
  }
  GE_RETURN_IF_ERROR(inflating_ ? Inflated(to, n) : Stored(to, n));
  given_ += n;
  crc_ = Crc32({to, n}, crc_);
  return {};
}

Status ZipReader::Stored(std::byte* to, uint64_t n) {
  if (n > 0) std::memcpy(to, packed_.data() + given_, n);
  return {};
}

Status ZipReader::Inflated(std::byte* to, uint64_t n) {
  while (n > 0 && !ended_) {
    if (z_.avail_in == 0 && taken_ < member_.packed) {
      const auto part = packed_.subspan(taken_, std::min(kPart, member_.packed - taken_));
      taken_ += part.size();
      // zlib's interface is not const; it only reads.
      z_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data()));
      z_.avail_in = static_cast<uInt>(part.size());
    }
    const auto room = static_cast<uInt>(std::min<uint64_t>(n, kPart));
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
      fmt::format("array '{}', which is deflated, is damaged", ShownName(member_.name)));
}

Status ZipReader::Finish() {
  // The end of what is deflated may follow the last byte.
  if (inflating_ && !ended_) {
    std::byte more;
    const Status over = Inflated(&more, 1);
    if (over.ok()) {
      return file_->Bad(fmt::format("array '{}' has more bytes than the directory says",
                                    ShownName(member_.name)));
    }
    if (!ended_) return over;
  }
  GE_RETURN_IF_ERROR(file_->Check());
  if (given_ == member_.bytes && crc_ == member_.crc) return {};
  return file_->Bad(fmt::format("array '{}' is damaged: its checksum is not that of its bytes",
                                ShownName(member_.name)));
}

}  // namespace ge::tool

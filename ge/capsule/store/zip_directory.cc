#include "ge/capsule/store/zip_directory.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "ge/capsule/store/zip_format.h"

namespace ge {
namespace {

using File = std::span<const std::byte>;
using zip::Number;

constexpr uint64_t kMostComment = 65535;

Status Corrupt(std::string text) { return Status(Code::kDataCorrupt, std::move(text)); }

Status CorruptMember(const ZipMember& m, std::string_view text) {
  return Corrupt(fmt::format("member '{}': {}", ShownName(m.name), text));
}

// The end record is the last that fits, behind it at most a comment. Its place, or the file's size.
uint64_t EndRecordOf(File file) {
  if (file.size() < zip::kEndBytes) return file.size();
  const uint64_t last = file.size() - zip::kEndBytes;
  const uint64_t first = last > kMostComment ? last - kMostComment : 0;
  for (uint64_t at = last + 1; at-- > first;) {
    if (Number<uint32_t>(file.data(), at) == zip::kEnd &&
        at + zip::kEndBytes + Number<uint16_t>(file.data(), at + 20) == file.size()) {
      return at;
    }
  }
  return file.size();
}

struct Directory {
  uint64_t at = 0, bytes = 0, count = 0;
};

// Of 64 bits where the end record says so; a record ahead of it tells where those stand.
Status ReadEnd64(File file, uint64_t end, Directory* d) {
  const std::byte* data = file.data();
  if (end < zip::kLocator64Bytes ||
      Number<uint32_t>(data, end - zip::kLocator64Bytes) != zip::kLocator64) {
    return Corrupt("its end record says sizes of 64 bits, and no locator of them is ahead of it");
  }
  const uint64_t at = Number<uint64_t>(data, end - zip::kLocator64Bytes + 8);
  if (at > end || end - at < zip::kEnd64Bytes + zip::kLocator64Bytes ||
      Number<uint32_t>(data, at) != zip::kEnd64) {
    return Corrupt(fmt::format("its end record of 64 bits is not at byte {}, as said", at));
  }
  d->count = Number<uint64_t>(data, at + 32);
  d->bytes = Number<uint64_t>(data, at + 40);
  d->at = Number<uint64_t>(data, at + 48);
  return {};
}

Result<Directory> FindDirectory(File file, uint64_t max_members) {
  const uint64_t end = EndRecordOf(file);
  if (end == file.size()) return Corrupt("it has no ZIP directory");
  Directory d;
  d.count = Number<uint16_t>(file.data(), end + 10);
  d.bytes = Number<uint32_t>(file.data(), end + 12);
  d.at = Number<uint32_t>(file.data(), end + 16);
  if (d.count == zip::kCountIn64 || d.bytes == zip::kIn64 || d.at == zip::kIn64) {
    GE_RETURN_IF_ERROR(ReadEnd64(file, end, &d));
  }
  if (d.at > end || d.bytes > end - d.at) {
    return Corrupt(fmt::format("its directory has {} bytes at {}, and ends at {} at the latest",
                               d.bytes, d.at, end));
  }
  if (d.count > max_members) {
    return Status(Code::kLimitExceeded,
                  fmt::format("it has {} members, wanted at most {}", d.count, max_members));
  }
  if (d.count > d.bytes / zip::kCentralBytes) {
    return Corrupt(fmt::format("its directory says {} members in {} bytes", d.count, d.bytes));
  }
  return d;
}

// Numbers that do not fit stand in an extra field, each where it is needed, in the order of
// `fields`.
Status ReadExtra64(const ZipMember& m, File extra, std::span<uint64_t* const> fields) {
  std::vector<uint64_t*> wanted;
  for (uint64_t* field : fields) {
    if (*field == zip::kIn64) wanted.push_back(field);
  }
  if (wanted.empty()) return {};
  for (size_t at = 0; at + 4 <= extra.size();) {
    const size_t bytes = Number<uint16_t>(extra.data(), at + 2);
    if (bytes > extra.size() - at - 4) break;
    if (Number<uint16_t>(extra.data(), at) == zip::kExtra64) {
      if (bytes < 8 * wanted.size()) break;
      for (size_t i = 0; i < wanted.size(); ++i) {
        *wanted[i] = Number<uint64_t>(extra.data(), at + 4 + 8 * i);
      }
      return {};
    }
    at += 4 + bytes;
  }
  return CorruptMember(m, "its sizes say that they are of 64 bits, and stand nowhere");
}

// The header in front of the data, at `at`; false where it is not whole.
bool HasLocalHeader(File file, uint64_t at) {
  return at <= file.size() && file.size() - at >= zip::kLocalBytes &&
         Number<uint32_t>(file.data(), at) == zip::kLocal;
}

Result<ZipMember> ReadLocalHeader(File file, uint64_t at) {
  const std::byte* data = file.data();
  ZipMember m;
  m.header = at;
  m.flags = Number<uint16_t>(data, at + 6);
  m.method = Number<uint16_t>(data, at + 8);
  m.crc = Number<uint32_t>(data, at + 14);
  m.packed = Number<uint32_t>(data, at + 18);
  m.bytes = Number<uint32_t>(data, at + 22);
  const size_t name = Number<uint16_t>(data, at + 26), extra = Number<uint16_t>(data, at + 28);
  if (file.size() - at - zip::kLocalBytes < name + extra) {
    return Corrupt(fmt::format("it ends in the header of a member at byte {}", at));
  }
  m.name.assign(reinterpret_cast<const char*>(data + at + zip::kLocalBytes), name);
  m.data = at + zip::kLocalBytes + name + extra;
  uint64_t* const fields[] = {&m.bytes, &m.packed};
  const File fields64 = file.subspan(at + zip::kLocalBytes + name, extra);
  GE_RETURN_IF_ERROR(ReadExtra64(m, fields64, fields));
  return m;
}

// One member of the directory at `at`, which is moved behind it.
Result<ZipMember> ReadCentralHeader(File file, uint64_t end, uint64_t* at) {
  const std::byte* data = file.data();
  if (end - *at < zip::kCentralBytes || Number<uint32_t>(data, *at) != zip::kCentral) {
    return Corrupt(fmt::format("its directory has no member at byte {}", *at));
  }
  ZipMember m;
  m.flags = Number<uint16_t>(data, *at + 8);
  m.method = Number<uint16_t>(data, *at + 10);
  m.crc = Number<uint32_t>(data, *at + 16);
  m.packed = Number<uint32_t>(data, *at + 20);
  m.bytes = Number<uint32_t>(data, *at + 24);
  m.header = Number<uint32_t>(data, *at + 42);
  const size_t name = Number<uint16_t>(data, *at + 28), extra = Number<uint16_t>(data, *at + 30);
  const size_t note = Number<uint16_t>(data, *at + 32);
  if (end - *at - zip::kCentralBytes < name + extra + note) {
    return Corrupt(fmt::format("its directory ends in the member at byte {}", *at));
  }
  m.name.assign(reinterpret_cast<const char*>(data + *at + zip::kCentralBytes), name);
  uint64_t* const fields[] = {&m.bytes, &m.packed, &m.header};
  const File fields64 = file.subspan(*at + zip::kCentralBytes + name, extra);
  GE_RETURN_IF_ERROR(ReadExtra64(m, fields64, fields));
  *at += zip::kCentralBytes + name + extra + note;
  return m;
}

// That both headers of the member say the same; fills where its data are. With flag 8 the sizes
// stand behind the data, and in the directory alone.
Status TakeLocalHeader(File file, ZipMember* m) {
  if (!HasLocalHeader(file, m->header)) {
    return CorruptMember(*m, fmt::format("it is not at byte {}, as the directory says", m->header));
  }
  GE_ASSIGN_OR_RETURN(const ZipMember local, ReadLocalHeader(file, m->header));
  m->data = local.data;
  const auto differ = [&](const char* field, uint64_t there, uint64_t here) {
    return CorruptMember(
        *m, fmt::format("its {} is {} in its header and {} in the directory", field, here, there));
  };
  if (local.name != m->name) {
    return CorruptMember(*m, fmt::format("its header names it '{}'", ShownName(local.name)));
  }
  if (local.method != m->method) return differ("method", m->method, local.method);
  constexpr uint16_t kSizesBehind = 8;
  if (m->flags & kSizesBehind) return {};
  if (local.crc != m->crc) return differ("checksum", m->crc, local.crc);
  if (local.bytes != m->bytes) return differ("size", m->bytes, local.bytes);
  if (local.packed != m->packed) return differ("packed size", m->packed, local.packed);
  return {};
}

// Sorts by place. Each lies before `end`, in bytes of its own, and has a name of its own.
Status CheckPlaces(uint64_t end, std::vector<ZipMember>* members) {
  std::sort(members->begin(), members->end(),
            [](const ZipMember& a, const ZipMember& b) { return a.header < b.header; });
  std::unordered_set<std::string_view> names;
  const ZipMember* before = nullptr;
  for (const ZipMember& m : *members) {
    if (m.data > end || m.packed > end - m.data) {
      return CorruptMember(
          m, fmt::format("it has {} bytes at {}, wanted an end at {} at the latest", m.packed,
                         m.data, end));
    }
    if (!names.insert(m.name).second) return CorruptMember(m, "two members have this name");
    if (before != nullptr && before->data + before->packed > m.header) {
      return CorruptMember(m, fmt::format("it begins at byte {}, inside of member '{}'", m.header,
                                          ShownName(before->name)));
    }
    before = &m;
  }
  return {};
}

}  // namespace

bool HasZipDirectory(File file) { return EndRecordOf(file) != file.size(); }

Result<std::vector<ZipMember>> ReadZipDirectory(File file, uint64_t max_members) {
  GE_ASSIGN_OR_RETURN(const Directory d, FindDirectory(file, max_members));
  std::vector<ZipMember> members;
  members.reserve(d.count);
  uint64_t at = d.at;
  for (uint64_t i = 0; i < d.count; ++i) {
    GE_ASSIGN_OR_RETURN(ZipMember m, ReadCentralHeader(file, d.at + d.bytes, &at));
    GE_RETURN_IF_ERROR(TakeLocalHeader(file, &m));
    members.push_back(std::move(m));
  }
  if (at != d.at + d.bytes) {
    return Corrupt(fmt::format("its directory says {} bytes and {} members, which have {}", d.bytes,
                               d.count, at - d.at));
  }
  GE_RETURN_IF_ERROR(CheckPlaces(d.at, &members));
  return members;
}

Result<std::vector<ZipMember>> ScanZipMembers(File file, uint64_t max_members) {
  std::vector<ZipMember> members;
  for (uint64_t at = 0; HasLocalHeader(file, at);) {
    auto m = ReadLocalHeader(file, at);
    if (!m.ok() || m->data > file.size() || m->packed > file.size() - m->data) break;
    if (members.size() == max_members) {
      return Status(Code::kLimitExceeded, fmt::format("it has more than {} members", max_members));
    }
    at = m->data + m->packed;
    members.push_back(*std::move(m));
  }
  GE_RETURN_IF_ERROR(CheckPlaces(file.size(), &members));
  return members;
}

uint32_t Crc32(File bytes, uint32_t before) {
  if (bytes.empty()) return before;  // zlib takes a null pointer for a new beginning
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string ShownName(std::string_view name) {
  std::string text(name.substr(0, 64));
  for (char& c : text) c = c >= ' ' && c <= '~' ? c : '?';
  return text;
}

}  // namespace ge

// .npz: a zip file of .npy files, stored or deflated, as numpy.savez and savez_compressed write it.
#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "ge/base/checked.h"
#include "tools/ge/train/samples.h"

namespace ge::tool {
namespace {

using Bytes = std::span<const std::byte>;
constexpr uint64_t kMostArray = uint64_t{1} << 36;

Status BadNpz(const std::string& path, const std::string& text) {
  return Status(Code::kDataCorrupt, fmt::format("'{}' is not a usable .npz file: {}", path, text));
}

uint64_t Little(Bytes b, uint64_t at, int n) {
  uint64_t v = 0;
  for (int i = n; i-- > 0;)
    v = v << 8 | std::to_integer<uint64_t>(b[at + static_cast<uint64_t>(i)]);
  return v;
}

struct Member {
  uint64_t method, packed, size, at;  // at: of its local header
};

// Sizes beyond 32 bits stand in an extra field, in this order, each where it is needed.
void ReadWide(Bytes extra, Member* m) {
  for (uint64_t i = 0; i + 4 <= extra.size();) {
    const uint64_t id = Little(extra, i, 2), n = Little(extra, i + 2, 2), end = i + 4 + n;
    uint64_t at = i + 4;
    for (uint64_t* v : {&m->size, &m->packed, &m->at}) {
      if (id != 1 || end > extra.size() || *v != UINT32_MAX || at + 8 > end) continue;
      *v = Little(extra, at, 8), at += 8;
    }
    i = end;
  }
}

// Where the directory begins and how many members it has.
Status FindDirectory(const std::string& path, Bytes b, uint64_t* at, uint64_t* n) {
  constexpr uint64_t kEnd = 22;
  if (b.size() < kEnd) return BadNpz(path, "it has less than 22 bytes");
  for (uint64_t end = b.size() - kEnd;; --end) {
    if (Little(b, end, 4) == 0x06054b50) {
      *n = Little(b, end + 10, 2), *at = Little(b, end + 16, 4);
      // A zip file of 64 bits has another end, which a record ahead of this one names.
      if (*at == UINT32_MAX && end >= 20 && Little(b, end - 20, 4) == 0x07064b50) {
        const uint64_t wide = Little(b, end - 12, 8);
        if (b.size() < 56 || wide > b.size() - 56)
          return BadNpz(path, "its directory is not there");
        *n = Little(b, wide + 32, 8), *at = Little(b, wide + 48, 8);
      }
      return {};
    }
    if (end == 0 || b.size() - end > 65557) break;
  }
  return BadNpz(path, "it has no zip directory");
}

Result<std::map<std::string, Member>> Members(const std::string& path, Bytes b) {
  uint64_t at = 0, n = 0;
  GE_RETURN_IF_ERROR(FindDirectory(path, b, &at, &n));
  std::map<std::string, Member> members;
  for (uint64_t i = 0; i < n; ++i) {
    if (at > b.size() || b.size() - at < 46 || Little(b, at, 4) != 0x02014b50) {
      return BadNpz(path, "its zip directory is damaged");
    }
    const uint64_t name = Little(b, at + 28, 2), extra = Little(b, at + 30, 2),
                   note = Little(b, at + 32, 2);
    if (b.size() - at - 46 < name + extra + note) return BadNpz(path, "its zip directory ends");
    Member m{Little(b, at + 10, 2), Little(b, at + 20, 4), Little(b, at + 24, 4),
             Little(b, at + 42, 4)};
    ReadWide(b.subspan(at + 46 + name, extra), &m);
    std::string text(reinterpret_cast<const char*>(b.data() + at + 46), name);
    if (text.ends_with(".npy")) text.resize(text.size() - 4);
    members[text] = m;
    at += 46 + name + extra + note;
  }
  return members;
}

Result<std::vector<std::byte>> Inflate(const std::string& path, Bytes packed, uint64_t size) {
  std::vector<std::byte> out;
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) {
    return Status(Code::kResourceExhausted, "no memory to inflate '" + path + "'");
  }
  uint64_t from = 0;
  int rc = Z_OK;
  // In parts: what the directory claims may be more than there is.
  while (rc == Z_OK && (out.size() < size || from < packed.size())) {
    const uint64_t had = out.size(), part = std::min<uint64_t>(size - had, 1 << 24),
                   give = std::min<uint64_t>(packed.size() - from, 1 << 24);
    out.resize(had + part);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + from));
    z.avail_in = static_cast<unsigned>(give);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + had);
    z.avail_out = static_cast<unsigned>(part);
    rc = inflate(&z, Z_NO_FLUSH);
    from += give - z.avail_in, out.resize(had + part - z.avail_out);
  }
  inflateEnd(&z);
  if (rc == Z_STREAM_END && out.size() == size) return out;
  return BadNpz(path, "a deflated array is damaged");
}

Result<Rows> ReadMember(const std::string& path, Bytes b, const std::string& name,
                        const Member& m) {
  if (m.at > b.size() || b.size() - m.at < 30 || Little(b, m.at, 4) != 0x04034b50) {
    return BadNpz(path, "array '" + name + "' is not where the directory says");
  }
  const uint64_t begin = m.at + 30 + Little(b, m.at + 26, 2) + Little(b, m.at + 28, 2);
  if (begin > b.size() || m.packed > b.size() - begin || m.size > kMostArray) {
    return BadNpz(path, "array '" + name + "' ends beyond the file");
  }
  const std::string what = path + "/" + name;
  if (m.method == 0) return ParseNpy(b.subspan(begin, m.packed), what);
  if (m.method != 8) {
    return BadNpz(path,
                  fmt::format("array '{}' is packed by method {}, wanted 0 or 8", name, m.method));
  }
  GE_ASSIGN_OR_RETURN(const auto bytes, Inflate(path, b.subspan(begin, m.packed), m.size));
  return ParseNpy(bytes, what);
}

Result<std::string> ReadWhole(const std::string& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  std::string bytes(error ? 0 : size, 0);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!error && in) return bytes;
  return Status(Code::kIoError, fmt::format("cannot read '{}'; give an existing file", path));
}

}  // namespace

Result<Data> ReadNpz(const std::string& path) {
  GE_ASSIGN_OR_RETURN(const std::string file, ReadWhole(path));
  const Bytes b = std::as_bytes(std::span(file));
  GE_ASSIGN_OR_RETURN(const auto members, Members(path, b));
  Data data;
  const bool parts = members.count("x_train") != 0;
  for (const auto& [name, to] : std::initializer_list<std::pair<std::string, Rows*>>{
           {parts ? "x_train" : "x", &data.train.x},
           {parts ? "y_train" : "y", &data.train.y},
           {"x_test", &data.test.x},
           {"y_test", &data.test.y}}) {
    const auto found = members.find(name);
    if (found == members.end()) continue;
    GE_ASSIGN_OR_RETURN(*to, ReadMember(path, b, name, found->second));
  }
  if (data.train.x.count > 0) return data;
  std::string have;
  for (const auto& member : members) {
    std::string name = member.first;
    // The file's own bytes, which a terminal should not get.
    for (char& c : name) c = c >= ' ' && c <= '~' ? c : '?';
    have += (have.empty() ? "'" : ", '") + name + "'";
  }
  return Status(Code::kInvalidArgument,
                fmt::format("'{}' has no array x_train or x with rows; it has {}", path,
                            have.empty() ? "none" : have));
}

}  // namespace ge::tool

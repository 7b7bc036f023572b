// ZipFile: zip files as numpy.savez writes them, members stored or deflated, also of 64 bits. It
// trusts no claim of a directory: members may neither overlap nor share a name. One thread.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ge/base/read_file.h"
#include "ge/base/status.h"

namespace ge::tool {

// The file's own bytes, made safe for a terminal and cut after 200.
std::string Printable(std::string text);

struct ZipMember {
  std::string name;
  uint32_t flags = 0, method = 0, crc = 0;
  uint64_t packed = 0, size = 0;  // bytes in the file, and as it was
  uint64_t header = 0, at = 0;    // where its own header is, and its bytes
};

class ZipFile {
 public:
  // IO_ERROR if it is not regular or cannot be read; DATA_CORRUPT.
  static Result<ZipFile> Open(const std::string& path);
  const std::map<std::string, ZipMember>& members() const { return members_; }
  const std::string& path() const { return path_; }
  // Exactly n bytes of the file.
  Status ReadAt(uint64_t at, std::byte* to, uint64_t n) const;
  // DATA_CORRUPT with the file's name and its fault.
  Status Bad(const std::string& text) const;

 private:
  Status FindDirectory(uint64_t* at, uint64_t* end, uint64_t* n) const;
  Status ReadDirectory(uint64_t* begin);
  Status CheckPlaces(uint64_t directory);

  std::string path_;
  RegularFile file_;
  std::map<std::string, ZipMember> members_;
};

// The bytes of a member in order, inflated where they are deflated. The file outlives it.
class ZipReader {
 public:
  // UNSUPPORTED for other methods and for encrypted members.
  static Result<std::unique_ptr<ZipReader>> Open(const ZipFile* file, const ZipMember& member);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;
  // Exactly n bytes; DATA_CORRUPT if the member ends before.
  Status Read(std::byte* to, uint64_t n);
  // Checks that no byte is left behind the last one, and the checksum.
  Status Finish();

 private:
  ZipReader(const ZipFile* file, const ZipMember& member);
  Status Stored(std::byte* to, uint64_t n);
  Status Inflated(std::byte* to, uint64_t n);

  const ZipFile* file_;
  const ZipMember member_;
  z_stream z_{};
  bool inflating_ = false, ended_ = false;
  std::vector<std::byte> packed_;  // bytes that are not inflated yet are the last of it
  uint64_t taken_ = 0, given_ = 0, crc_ = 0;
};

}  // namespace ge::tool

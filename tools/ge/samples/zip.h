// ZipFile: zip files as numpy.savez writes them, members stored or deflated, also of 64 bits. It
// trusts no claim of a directory: members may neither overlap nor share a name. One thread.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "ge/base/mapped_file.h"
#include "ge/base/status.h"
#include "ge/capsule/store/zip_directory.h"

namespace ge::tool {

class ZipFile {
 public:
  // IO_ERROR if it is not regular or cannot be read; DATA_CORRUPT. Arrays are named without ".npy".
  static Result<ZipFile> Open(const std::string& path);
  const std::map<std::string, ZipMember>& members() const { return members_; }
  const std::string& path() const { return path_; }
  // The packed bytes of a member.
  std::span<const std::byte> Packed(const ZipMember& member) const {
    return file_->bytes().subspan(member.data, member.packed);
  }
  // IO_ERROR where the file has changed since it was opened.
  Status Check() const { return file_->Check(); }
  // DATA_CORRUPT with the file's name and its fault.
  Status Bad(const std::string& text) const;

 private:
  std::string path_;
  std::shared_ptr<const MappedFile> file_;
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
  std::span<const std::byte> packed_;
  uint64_t taken_ = 0, given_ = 0;  // bytes, packed and as they were
  uint32_t crc_ = 0;
};

}  // namespace ge::tool

// CapsuleReader: the members of a capsule, where they lie in the mapped file. It checks every
// number of the file before it believes it. Knows bytes alone. A reader is immutable and shared by
// the holders of its bytes; any thread may call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/mapped_file.h"
#include "ge/base/status.h"

namespace ge {

struct CapsuleLimits {
  uint64_t file_bytes = uint64_t{1} << 40;
  uint64_t members = 1'000'000;  // each costs about 150 bytes of memory
};

class CapsuleReader {
 public:
  struct Member {
    std::string name;
    std::span<const std::byte> bytes;
    uint32_t crc = 0;
  };

  // IO_ERROR: no such file. DATA_CORRUPT: it is no capsule, or a member lies; the message names the
  // member, the field, its value and the wanted one. LIMIT_EXCEEDED: a limit. A file without its
  // directory, whose writer was ended, has the members up to the last whole one.
  static Result<std::shared_ptr<const CapsuleReader>> Open(const std::string& path,
                                                           const CapsuleLimits& limits = {});

  // The same of a file that is mapped already, or of its bytes in memory; `path` is for messages.
  static Result<std::shared_ptr<const CapsuleReader>> FromFile(
      std::shared_ptr<const MappedFile> file, const std::string& path,
      const CapsuleLimits& limits = {});
  static Result<std::shared_ptr<const CapsuleReader>> FromBytes(
      std::shared_ptr<const std::string> bytes, const std::string& path,
      const CapsuleLimits& limits = {});

  const std::string& path() const { return path_; }
  // The writer was ended before it wrote the directory.
  bool unfinished() const { return unfinished_; }
  const std::vector<Member>& members() const { return members_; }  // in their order in the file
  bool Has(std::string_view name) const { return by_name_.count(name) != 0; }
  // The bytes of a member whose checksum is right; it is computed once. They live as long as the
  // reader. DATA_CORRUPT where there is no such member or its bytes have changed.
  Result<std::span<const std::byte>> Read(std::string_view name) const;
  // The same, without the checksum: nobody may trust such bytes.
  Result<std::span<const std::byte>> Map(std::string_view name) const;
  // The same bytes where they begin at a multiple of `align` (at most 64), else a copy that lives
  // as long as the reader: writers of ZIP files beside ours align nothing. RESOURCE_EXHAUSTED.
  Result<std::span<const std::byte>> Aligned(std::span<const std::byte> bytes,
                                             uint64_t align) const;
  // IO_ERROR where the file has changed since it was opened.
  Status Check() const { return file_ ? file_->Check() : Status(); }

 private:
  CapsuleReader() = default;
  static Result<std::shared_ptr<const CapsuleReader>> Finish(std::shared_ptr<CapsuleReader> reader,
                                                             const CapsuleLimits& limits);
  Status ReadMembers(const CapsuleLimits& limits);

  std::string path_;
  std::shared_ptr<const MappedFile> file_;     // of the bytes, or
  std::shared_ptr<const std::string> memory_;  // their owner
  std::span<const std::byte> bytes_;
  bool unfinished_ = false;
  std::vector<Member> members_;
  std::unordered_map<std::string_view, size_t> by_name_;  // of members_
  mutable std::unique_ptr<std::atomic<bool>[]> right_;    // checksums found right, by member
  mutable std::mutex mutex_;                              // of copies_
  mutable std::map<const std::byte*, AlignedBytes> copies_;
};

// Whether the bytes begin as those of a capsule do.
bool LooksLikeCapsule(std::span<const std::byte> bytes);

}  // namespace ge

// CapsuleWriter: writes the members of a capsule, one after the other, into a ZIP file whose
// members are stored as they are and aligned, so that a reader may map them where they lie. Knows
// bytes alone. It owns the file until it is destroyed. Any thread may call; calls wait for each
// other.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ge/base/replace_file.h"
#include "ge/base/status.h"

namespace ge {

// Of a member's data in the file, in bytes; packs, which are mapped for engines, take whole pages.
constexpr uint32_t kMemberAlign = 64, kPackAlign = 4096;

class CapsuleWriter {
 public:
  // The file has another name until Publish: an earlier capsule of this name stays whole. IO_ERROR
  // with the path and the system's reason.
  static Result<std::unique_ptr<CapsuleWriter>> Create(const std::string& path);
  // A file that was never published is removed by this; another without its directory stays
  // readable.
  ~CapsuleWriter() = default;
  CapsuleWriter(const CapsuleWriter&) = delete;
  CapsuleWriter& operator=(const CapsuleWriter&) = delete;

  // Appends a member, the parts behind each other. `align` is a power of two, at most 4096. Names
  // are relative paths of UTF-8, each once. When it returns, the bytes are with the system and
  // survive the end of this process. IO_ERROR: nothing of the member counts, and further members
  // may be tried. FAILED_PRECONDITION: a name that is taken, or no name.
  Status Add(std::string_view name, std::span<const std::string_view> parts,
             uint32_t align = kMemberAlign);
  Status Add(std::string_view name, std::string_view bytes, uint32_t align = kMemberAlign) {
    return Add(name, {&bytes, 1}, align);
  }
  bool Has(std::string_view name) const;
  // From now on the file has its name.
  Status Publish();
  // Writes the directory and publishes. Nothing may be added any more.
  Status Finish();
  uint64_t bytes() const;

 private:
  struct Member {
    std::string name;
    uint32_t crc;
    uint64_t bytes, offset;
  };
  CapsuleWriter(std::string path, FileReplacement file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Status Write(std::string_view bytes);

  const std::string path_;
  mutable std::mutex mutex_;
  FileReplacement file_;
  uint64_t at_ = 0;  // end of the last whole member
  std::vector<Member> members_;
  std::unordered_set<std::string> names_;
  bool finished_ = false;
};

}  // namespace ge

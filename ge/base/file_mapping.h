// FileMapping: pages that mirror a file and are never written through memory. Its owner keeps them
// mapped. While it lives, and no longer, DropMappedPages may let its pages leave memory; reading
// them again fetches them from the file. Others may write to the file meanwhile, or cut it short:
// call Check after reading to learn whether the bytes were right.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ge/base/descriptor.h"
#include "ge/base/status.h"

struct stat;

namespace ge {

struct WatchedMapping;

// A file and the state it is in; zeros = nobody else has this file.
struct FileIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t changed_ns = 0;
  FileIdentity() = default;
  explicit FileIdentity(const struct stat& info);
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
struct PlaceInFile {
  FileIdentity file;
  uint64_t offset = 0;
};
// A file that others may change. Its identity was read when a later write could not get the same
// time; see AwaitNextTick.
struct SharedFile {
  Descriptor fd;     // stays open: the path may come to name another file
  std::string path;  // absolute
  FileIdentity identity;
};

class FileMapping {
 public:
  // Takes over mmap's answer for the first `bytes` > 0 of a file that nobody else has.
  FileMapping(void* data, uint64_t bytes);
  // The same for a file that others may change.
  FileMapping(void* data, uint64_t bytes, SharedFile file);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  const FileIdentity& identity() const { return file_.identity; }
  // IO_ERROR naming the file where it was written to or cut short since it was mapped, or could not
  // be read: bytes read from it may be wrong. The error stays. Another file at the same path does
  // not count. Any thread; takes a system call.
  Status Check() const;

 private:
  std::byte* data_;
  uint64_t bytes_;
  SharedFile file_;
  bool keeps_fd_ = false;
  mutable std::atomic<bool> changed_{false};
  WatchedMapping* watched_ = nullptr;
};

// IO_ERROR saying how a file has changed where `now` differs from `was`.
Status WantUnchanged(const std::string& path, const FileIdentity& was, const FileIdentity& now);

// Files get their times from a clock that ticks every 1 to 10 ms: returns once a write would give
// this file another time.
void AwaitNextTick(const FileIdentity& file);

// The living mapping around these bytes, or null. It lives as long as the owner of the bytes. Any
// thread.
const FileMapping* MappingOf(const void* data, uint64_t bytes);

// The place of these bytes in a file that others may map too, or nothing. Any
// thread.
std::optional<PlaceInFile> FindInFile(const void* data, uint64_t bytes);

// Drops the pages that [data, data+bytes) has a part of when it lies in one living mapping; leaves
// any other memory alone. Any thread.
void DropMappedPages(const void* data, uint64_t bytes);

// A set of the mapped files in use, each once.
class MappedFiles {
 public:
  // Adds the mapping around the bytes, if any; `owner` keeps it.
  void Add(const std::shared_ptr<const void>& owner, const void* data, uint64_t bytes);
  bool empty() const { return files_.empty(); }
  void clear() { files_.clear(); }
  // IO_ERROR of the first file that has changed.
  Status Check() const;

 private:
  struct File {
    std::shared_ptr<const void> owner;
    const FileMapping* mapping;
  };
  std::vector<File> files_;
};

}  // namespace ge

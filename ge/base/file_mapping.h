// FileMapping: pages that mirror a file and are never written through memory. Whoever owns one
// keeps them mapped; while it lives, and no longer, DropMappedPages may let its pages leave memory:
// they come back from the file when they are read again. Others may write to the file meanwhile, or
// cut it short: what was read is right where Check says so afterwards.
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

// Which file, and in what state of it; zeros = nobody else has this file.
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
// A file that others may change. Its identity was looked at when no later write could have the same
// time; see AwaitNextTick.
struct SharedFile {
  Descriptor fd;     // stays open: what path names may become another file
  std::string path;  // absolute
  FileIdentity identity;
};

class FileMapping {
 public:
  // Takes over what mmap answered for the first `bytes` > 0 of a file that nobody else has.
  FileMapping(void* data, uint64_t bytes);
  // The same of one that others may change.
  FileMapping(void* data, uint64_t bytes, SharedFile file);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  const FileIdentity& identity() const { return file_.identity; }
  // IO_ERROR naming the file where it was written to or cut short since it was mapped, or could not
  // be read: what was read of it may be other bytes. That stays so. A file that took its name does
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

// IO_ERROR saying how a file has changed where `now` is not what it was.
Status WantUnchanged(const std::string& path, const FileIdentity& was, const FileIdentity& now);

// Files get their times from a clock that ticks every 1 to 10 ms: returns when a write would give
// this one another time than it has.
void AwaitNextTick(const FileIdentity& file);

// The living mapping that these bytes lie in; null where they lie in none. It lives as long as
// whoever keeps the bytes. Any thread.
const FileMapping* MappingOf(const void* data, uint64_t bytes);

// Where these bytes lie in a file that others may map too; nothing where they lie in none. Any
// thread.
std::optional<PlaceInFile> FindInFile(const void* data, uint64_t bytes);

// Drops the whole pages inside [data, data+bytes) when they lie in one mapping that lives; any
// other memory is left alone. Any thread.
void DropMappedPages(const void* data, uint64_t bytes);

// The mapped files that something reads, each once.
class MappedFiles {
 public:
  // Those that the bytes lie in, if any, which `owner` keeps.
  void Add(const std::shared_ptr<const void>& owner, const void* data, uint64_t bytes);
  bool empty() const { return files_.empty(); }
  void clear() { files_.clear(); }
  // IO_ERROR of the first that is not as it was.
  Status Check() const;

 private:
  struct File {
    std::shared_ptr<const void> owner;
    const FileMapping* mapping;
  };
  std::vector<File> files_;
};

}  // namespace ge

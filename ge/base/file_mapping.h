// FileMapping: pages that mirror a file and are never written through memory. Whoever owns one
// keeps them mapped; while it lives, and no longer, DropMappedPages may let its pages leave memory:
// they come back from the file when they are read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ge {

// Which file, and in what state of it; zeros = nobody else has this file.
struct FileIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t changed_ns = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
struct PlaceInFile {
  FileIdentity file;
  uint64_t offset = 0;
};

class FileMapping {
 public:
  // Takes over what mmap answered for the first `bytes` > 0 of a file.
  FileMapping(void* data, uint64_t bytes, const FileIdentity& file = {});
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  std::byte* data_;
  uint64_t bytes_;
};

// Where these bytes lie in a file that others may map too; nothing where they lie in none. Any
// thread.
std::optional<PlaceInFile> FindInFile(const void* data, uint64_t bytes);

// Drops the whole pages inside [data, data+bytes) when they lie in one mapping that lives; any
// other memory is left alone. Any thread.
void DropMappedPages(const void* data, uint64_t bytes);

}  // namespace ge

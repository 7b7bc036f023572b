// FileMapping: pages that mirror a file and are never written through memory. Whoever owns one
// keeps them mapped; while it lives, and no longer, DropMappedPages may let its pages leave memory:
// they come back from the file when they are read again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ge {

class FileMapping {
 public:
  // Takes over what mmap answered for `bytes` > 0 of a file.
  FileMapping(void* data, uint64_t bytes);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  std::byte* data_;
  uint64_t bytes_;
};

// Drops the whole pages inside [data, data+bytes) when they lie in one mapping that lives; any
// other memory is left alone. Any thread.
void DropMappedPages(const void* data, uint64_t bytes);

}  // namespace ge

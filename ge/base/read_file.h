// Reads files that a user or a setting names: regular files alone. A FIFO would wait for a writer,
// a device may never end, and opening one may have an effect.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/descriptor.h"
#include "ge/base/status.h"

namespace ge {

struct RegularFile {
  Descriptor fd;  // for reading, at the beginning
  uint64_t bytes = 0;
};

// IO_ERROR naming the path and the reason when it is missing, unreadable or no regular file (a
// link is followed). Never waits. Thread-safe.
Result<RegularFile> OpenRegularFile(const std::string& path);

// The whole file. IO_ERROR as above; LIMIT_EXCEEDED, before anything is read, when it has more than
// `max_bytes`; RESOURCE_EXHAUSTED when there is no memory for it.
Result<std::string> ReadRegularFile(const std::string& path, uint64_t max_bytes);

}  // namespace ge

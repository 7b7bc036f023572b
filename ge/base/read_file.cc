#include "ge/base/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace ge {
namespace {

const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Status Failed(const char* what, const std::string& path, int error) {
  return Status(Code::kIoError, fmt::format("cannot {} '{}': {}", what, path, strerror(error)));
}

Status NotRegular(const std::string& path, mode_t mode) {
  return Status(Code::kIoError,
                fmt::format("'{}' is no regular file but {}; copy what it gives into a file", path,
                            KindOf(mode)));
}

}  // namespace

Result<RegularFile> OpenRegularFile(const std::string& path) {
  struct stat info;
  // Before it is opened: to open a device may rewind a tape, and what a FIFO holds would be lost.
  if (stat(path.c_str(), &info) != 0) return Failed("open", path, errno);
  if (!S_ISREG(info.st_mode)) return NotRegular(path, info.st_mode);
  RegularFile file;
  // NONBLOCK: it may have become a FIFO since; without effect on regular files.
  file.fd = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file.fd.valid() || fstat(file.fd.get(), &info) != 0) return Failed("open", path, errno);
  if (!S_ISREG(info.st_mode)) return NotRegular(path, info.st_mode);
  file.bytes = static_cast<uint64_t>(info.st_size);
  return file;
}

Result<std::string> ReadRegularFile(const std::string& path, uint64_t max_bytes) {
  GE_ASSIGN_OR_RETURN(const RegularFile file, OpenRegularFile(path));
  std::string bytes;
  // Some files of /proc and /sys say that they have none.
  constexpr size_t kPart = size_t{1} << 16;
  for (size_t had = 0;;) {
    if (std::max<uint64_t>(had, file.bytes) > max_bytes) {
      return Status(Code::kLimitExceeded,
                    fmt::format("'{}' has {} bytes, wanted at most {}", path,
                                std::max<uint64_t>(had, file.bytes), max_bytes));
    }
    try {
      bytes.resize(std::max<size_t>(file.bytes, had) + kPart);
    } catch (const std::bad_alloc&) {
      return Status(Code::kResourceExhausted,
                    fmt::format("no memory for the {} bytes of '{}'", file.bytes, path));
    }
    const ssize_t got = read(file.fd.get(), bytes.data() + had, bytes.size() - had);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("read", path, errno);
    had += static_cast<size_t>(got);
    if (got == 0) {
      bytes.resize(had);
      return bytes;
    }
  }
}

}  // namespace ge

#include "frontend/onnx/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "ge/base/descriptor.h"
#include "ge/base/read_file.h"

namespace ge {
namespace {

// NONBLOCK: opening a FIFO must not wait; it has no effect on regular files.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

std::string ErrorText(int error) {
  char buffer[256];
  return strerror_r(error, buffer, sizeof buffer);
}

Status OpenFailed(const std::string& path, int error) {
  return Status(Code::kIoError, fmt::format("cannot open '{}': {}", path, ErrorText(error)));
}

// Splits a relative path; refuses what could leave the folder.
Result<std::vector<std::string>> Components(const std::string& relative) {
  auto refuse = [&](const char* why) {
    return Status(Code::kIoError,
                  fmt::format("'{}' lies outside the model's folder: {}; wanted a relative path "
                              "below it",
                              relative, why));
  };
  if (relative.find('\0') != std::string::npos) return refuse("the path has a NUL in it");
  if (!relative.empty() && relative[0] == '/') return refuse("the path is absolute");
  std::vector<std::string> parts;
  for (size_t at = 0; at <= relative.size();) {
    size_t slash = std::min(relative.find('/', at), relative.size());
    std::string part = relative.substr(at, slash - at);
    if (part == "..") return refuse("the path has '..' in it");
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
    at = slash + 1;
  }
  if (parts.empty()) return refuse("the path names no file");
  return parts;
}

}  // namespace

void MappedFile::ExpectSparseReads() const {
  if (mapping_) madvise(mapping_->data(), mapping_->bytes(), MADV_RANDOM);
}

void MappedFile::DropPages() const {
  if (!mapping_) return;
  madvise(mapping_->data(), mapping_->bytes(), MADV_DONTNEED);
  madvise(mapping_->data(), mapping_->bytes(), MADV_NORMAL);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Map(int fd, const std::string& path,
                                                          uint64_t max_bytes) {
  struct stat info;
  if (fstat(fd, &info) != 0) return OpenFailed(path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Status(Code::kIoError, fmt::format("'{}' is no regular file", path));
  }
  uint64_t size = static_cast<uint64_t>(info.st_size);
  if (size > max_bytes) {
    return Status(Code::kLimitExceeded,
                  fmt::format("'{}' has {} bytes, more than the limit of {}; raise the limit or "
                              "keep the weights in external files",
                              path, size, max_bytes));
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  if (size > 0) {
    void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      return Status(Code::kResourceExhausted, fmt::format("cannot map the {} bytes of '{}': {}",
                                                          size, path, ErrorText(errno)));
    }
    const FileIdentity identity{info.st_dev, info.st_ino, size,
                                info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
    file->mapping_ = std::make_unique<FileMapping>(data, size, identity);
  }
  return std::shared_ptr<const MappedFile>(std::move(file));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path,
                                                           uint64_t max_bytes) {
  GE_ASSIGN_OR_RETURN(const RegularFile file, OpenRegularFile(path));
  return Map(file.fd.get(), path, max_bytes);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::OpenBeneath(const std::string& dir,
                                                                  const std::string& relative,
                                                                  uint64_t max_bytes) {
  GE_ASSIGN_OR_RETURN(auto parts, Components(relative));
  Descriptor here(open(dir.empty() ? "." : dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!here.valid()) return OpenFailed(dir, errno);
  for (size_t i = 0; i < parts.size(); ++i) {
    // Step by step with O_NOFOLLOW: the descriptor that was checked is the one that is mapped.
    int flags = i + 1 < parts.size() ? O_PATH | O_DIRECTORY | O_CLOEXEC : kOpenFlags;
    Descriptor next(openat(here.get(), parts[i].c_str(), flags | O_NOFOLLOW));
    if (!next.valid()) {
      int error = errno;
      struct stat info;
      bool link = fstatat(here.get(), parts[i].c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                  S_ISLNK(info.st_mode);
      if (link) {
        return Status(Code::kIoError,
                      fmt::format("'{}' goes through the symbolic link '{}', which may lead "
                                  "outside the model's folder; replace the link by the file",
                                  relative, parts[i]));
      }
      return OpenFailed(dir.empty() ? relative : dir + "/" + relative, error);
    }
    here = std::move(next);
  }
  return Map(here.get(), dir.empty() ? relative : dir + "/" + relative, max_bytes);
}

}  // namespace ge

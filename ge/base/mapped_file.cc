#include "ge/base/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "ge/base/descriptor.h"
#include "ge/base/read_file.h"

namespace ge {
namespace {

// NONBLOCK: opening a FIFO must not wait; it has no effect on regular files.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

// Smaller files are read: that takes 0.1 ms a MiB, and what becomes of them later is nothing to us.
constexpr uint64_t kMappedFrom = uint64_t{1} << 20;

std::string ErrorText(int error) {
  char buffer[256];
  return strerror_r(error, buffer, sizeof buffer);
}

Status OpenFailed(const std::string& path, int error) {
  return Status(Code::kIoError, fmt::format("cannot open '{}': {}", path, ErrorText(error)));
}

Result<FileIdentity> IdentityOf(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return OpenFailed(path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Status(Code::kIoError, fmt::format("'{}' is no regular file", path));
  }
  return FileIdentity(info);
}

// When nobody has written to it for a tick of the clock that gives files their times.
Result<FileIdentity> SettledIdentity(int fd, const std::string& path) {
  constexpr int kMostTicks = 250;  // 1 s
  GE_ASSIGN_OR_RETURN(FileIdentity identity, IdentityOf(fd, path));
  for (int i = 0; i < kMostTicks; ++i) {
    AwaitNextTick(identity);
    GE_ASSIGN_OR_RETURN(const FileIdentity now, IdentityOf(fd, path));
    if (now == identity) return identity;
    identity = now;
  }
  return Status(Code::kIoError,
                fmt::format("'{}' is being written to; load it when that is done", path));
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

// Where the kernel says that the descriptor's file lies, and a path that opens this very file.
std::string OfDescriptor(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

bool IsBeneath(const std::filesystem::path& file, const std::string& folder) {
  std::error_code error;
  const auto root = std::filesystem::canonical(folder, error);
  if (error) return false;
  return std::mismatch(root.begin(), root.end(), file.begin(), file.end()).first == root.end();
}

// The regular file that `relative` beneath `dir` leads to through the symbolic link `link`. What is
// looked at is the opened file, not its name: a link that is replaced meanwhile changes nothing.
Result<Descriptor> OpenLinked(const std::string& dir, const std::string& relative,
                              const std::string& link, std::span<const std::string> roots) {
  const std::string path = dir + "/" + relative;
  const Descriptor found(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!found.valid()) return OpenFailed(path, errno);
  std::error_code error;
  const auto target = std::filesystem::read_symlink(OfDescriptor(found.get()), error);
  bool beneath = !error && IsBeneath(target, dir);
  for (size_t i = 0; i < roots.size() && !error && !beneath; ++i) {
    beneath = IsBeneath(target, roots[i]);
  }
  if (!beneath) {
    return Status(Code::kIoError,
                  fmt::format("'{}' goes through the symbolic link '{}', which leads outside the "
                              "model's folder, to '{}'; replace the link by the file, or name a "
                              "folder that holds it in data_roots (--data-root)",
                              relative, link, target.string()));
  }
  GE_RETURN_IF_ERROR(IdentityOf(found.get(), path).status());  // a regular file
  Descriptor file(open(OfDescriptor(found.get()).c_str(), kOpenFlags));
  if (!file.valid()) return OpenFailed(path, errno);
  return file;
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

Status MappedFile::Read(int fd, const std::string& path, const FileIdentity& identity) {
  copy_ = AllocateAligned(identity.size, 64);
  if (!copy_) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for the {} bytes of '{}'", identity.size, path));
  }
  while (copied_ < identity.size) {
    const ssize_t got =
        pread(fd, copy_.get() + copied_, identity.size - copied_, static_cast<off_t>(copied_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Status(Code::kIoError, fmt::format("cannot read '{}': {}", path, ErrorText(errno)));
    }
    if (got == 0) break;  // it was cut short since, as its size will say
    copied_ += static_cast<size_t>(got);
  }
  GE_ASSIGN_OR_RETURN(const FileIdentity now, IdentityOf(fd, path));
  return WantUnchanged(path, identity, now);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Map(Descriptor fd, const std::string& path,
                                                          uint64_t max_bytes) {
  GE_ASSIGN_OR_RETURN(const FileIdentity identity, SettledIdentity(fd.get(), path));
  const uint64_t size = identity.size;
  if (size > max_bytes) {
    return Status(Code::kLimitExceeded,
                  fmt::format("'{}' has {} bytes, more than the limit of {}; raise the limit or "
                              "keep the weights in external files",
                              path, size, max_bytes));
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  if (size < kMappedFrom) {
    if (size > 0) GE_RETURN_IF_ERROR(file->Read(fd.get(), path, identity));
    return std::shared_ptr<const MappedFile>(std::move(file));
  }
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) {
    return Status(Code::kResourceExhausted,
                  fmt::format("cannot map the {} bytes of '{}': {}", size, path, ErrorText(errno)));
  }
  file->mapping_ = std::make_unique<FileMapping>(
      data, size, SharedFile{std::move(fd), error ? path : absolute, identity});
  return std::shared_ptr<const MappedFile>(std::move(file));
}

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::string& path,
                                                           uint64_t max_bytes) {
  GE_ASSIGN_OR_RETURN(RegularFile file, OpenRegularFile(path));
  return Map(std::move(file.fd), path, max_bytes);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::OpenBeneath(
    const std::string& dir, const std::string& relative, std::span<const std::string> roots,
    uint64_t max_bytes) {
  GE_ASSIGN_OR_RETURN(auto parts, Components(relative));
  const std::string path = dir.empty() ? relative : dir + "/" + relative;
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
      if (!link) return OpenFailed(path, error);
      GE_ASSIGN_OR_RETURN(here, OpenLinked(dir.empty() ? "." : dir, relative, parts[i], roots));
      break;
    }
    here = std::move(next);
  }
  return Map(std::move(here), path, max_bytes);
}

}  // namespace ge

#include "ge/base/replace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "ge/base/descriptor.h"

namespace ge {
// No anonymous namespace: FileReplacement::State, which the header names, holds them.
namespace replacing {

constexpr int kMostLinks = 40;  // as many as the kernel follows
constexpr int kNameTries = 8;
constexpr int kFifoTries = 100;  // a second in all
constexpr useconds_t kFifoRetryUs = 10000;
constexpr size_t kRandomDigits = 16;

Status Failed(const std::string& path, int error) {
  return Status(Code::kIoError, fmt::format("cannot write '{}': {}", path, strerror(error)));
}

// What a path leads to.
struct Target {
  std::string folder, name;  // canonical folder; both are empty for a descriptor
  int own_fd = -1;           // /dev/stdout, /dev/fd/N: this process's descriptor N
  std::optional<struct stat> present;
  bool regular() const { return own_fd < 0 && (!present || S_ISREG(present->st_mode)); }
  std::string path() const { return folder == "/" ? folder + name : folder + "/" + name; }
};

// N of /proc/PID/fd/N of this process, else -1. To open such a path would begin at the start of
// what the shell has redirected, and to replace the file would take it away from the shell.
int OwnDescriptor(const std::string& folder, const std::string& name) {
  const std::string process = fmt::format("/proc/{}/", getpid());
  if (!folder.starts_with(process) || !folder.ends_with("/fd")) return -1;
  char* end = nullptr;
  const long fd = strtol(name.c_str(), &end, 10);
  return name.empty() || *end || fd < 0 || fd > INT_MAX ? -1 : static_cast<int>(fd);
}

// Follows links by hand, since the last of them may lead to a file that is not there yet. 0, or
// errno.
int Follow(std::string path, Target* target) {
  for (int links = 0; links <= kMostLinks; ++links) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
    target->name = slash == path.npos ? path : path.substr(slash + 1);
    if (target->name.empty()) return path.empty() ? ENOENT : EISDIR;
    char canonical[PATH_MAX];
    if (!realpath(folder.c_str(), canonical)) return errno;
    target->folder = canonical;
    target->own_fd = OwnDescriptor(target->folder, target->name);
    if (target->own_fd >= 0) return 0;
    struct stat info;
    if (lstat(target->path().c_str(), &info) != 0) return errno == ENOENT ? 0 : errno;
    if (S_ISDIR(info.st_mode)) return EISDIR;
    if (!S_ISLNK(info.st_mode)) {
      target->present = info;
      return 0;
    }
    char to[PATH_MAX];
    const ssize_t length = readlink(target->path().c_str(), to, sizeof to);
    if (length < 0) return errno;
    const std::string link(to, static_cast<size_t>(length));
    path = link.starts_with('/') ? link : target->folder + "/" + link;
  }
  return ELOOP;
}

// A pipe whose reader has gone is an error of this write, not the end of the process.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    had_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipe() {
    const int error = errno;
    const timespec now = {};
    if (!had_) (void)sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t pipe_, before_;
  bool had_ = false;
};

// 0, or errno.
int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), std::min<size_t>(bytes.size(), SSIZE_MAX));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return ENOSPC;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

// Opens what is there for writing, and cuts nothing of it. A reader of a FIFO that is just being
// started is waited for, for a while; without one ENXIO. 0, or errno.
int OpenPresent(const Target& target, int flags, Descriptor* fd) {
  if (target.own_fd >= 0) {
    *fd = Descriptor(fcntl(target.own_fd, F_DUPFD_CLOEXEC, 0));
    return fd->valid() ? 0 : errno;
  }
  const bool fifo = target.present && S_ISFIFO(target.present->st_mode);
  for (int tries = fifo ? kFifoTries : 1; tries > 0 && !fd->valid(); --tries) {
    *fd = Descriptor(
        open(target.path().c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0666));
    if (fd->valid() || tries == 1 || errno != ENXIO) break;
    (void)usleep(kFifoRetryUs);
  }
  if (!fd->valid()) return errno;
  const int had = fcntl(fd->get(), F_GETFL);
  return had < 0 || fcntl(fd->get(), F_SETFL, had & ~O_NONBLOCK) != 0 ? errno : 0;
}

int WriteSpecial(const Target& target, std::string_view bytes) {
  NoBrokenPipe no_signal;
  Descriptor fd;
  const int error = OpenPresent(target, 0, &fd);
  return error != 0 ? error : WriteAll(fd.get(), bytes);
}

// The new file beside the target; removed again unless it has taken the target's name.
class Temporary {
 public:
  ~Temporary() {
    if (made_) (void)unlink(path_.c_str());
  }
  // 0, or errno. Mode and owner are those of what is present.
  int Make(const Target& target) {
    if (target.present && faccessat(AT_FDCWD, target.path().c_str(), W_OK, AT_EACCESS) != 0) {
      return errno;
    }
    for (int i = 0; i < kNameTries && !fd_.valid(); ++i) {
      uint64_t random = 0;
      if (getrandom(&random, sizeof random, 0) != sizeof random) return errno;
      path_ = fmt::format("{}/.{:016x}.part", target.folder, random);
      fd_ = Descriptor(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                            target.present ? 0600 : 0666));
      if (!fd_.valid() && errno != EEXIST) return errno;
    }
    made_ = fd_.valid();
    return !made_ ? EEXIST : target.present ? TakeOver(*target.present) : 0;
  }
  int fd() const { return fd_.get(); }
  int Rename(const Target& target) {
    if (close(fd_.release()) != 0) return errno;  // some file systems say only now what failed
    return TakeName(target);
  }
  // The file stays open.
  int TakeName(const Target& target) {
    if (!made_) return 0;
    if (rename(path_.c_str(), target.path().c_str()) != 0) return errno;
    made_ = false;
    return 0;
  }

 private:
  // EPERM where the file would pass from its owner to this user.
  int TakeOver(const struct stat& old) {
    struct stat mine;
    if (fstat(fd(), &mine) != 0) return errno;
    const bool same = mine.st_uid == old.st_uid && mine.st_gid == old.st_gid;
    if (!same && fchown(fd(), old.st_uid, old.st_gid) != 0) return errno;
    return fchmod(fd(), old.st_mode & 07777) == 0 ? 0 : errno;
  }

  std::string path_;
  Descriptor fd_;
  bool made_ = false;
};

int SyncFolder(const std::string& folder) {
  const Descriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems have no such thing as to sync a folder.
  return fd.valid() && fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

int Replace(const Target& target, std::string_view bytes, bool durable) {
  Temporary temporary;
  int error = temporary.Make(target);
  if (error == 0) error = WriteAll(temporary.fd(), bytes);
  if (error == 0 && durable && fsync(temporary.fd()) != 0) error = errno;
  if (error == 0) error = temporary.Rename(target);
  if (error == 0 && durable) error = SyncFolder(target.folder);
  return error;
}

// Where a reason of the system would leave a reader puzzled.
Status Explained(const std::string& path, const Target& target, int error) {
  if (error == ENXIO && target.present && S_ISFIFO(target.present->st_mode)) {
    return Status(Code::kIoError,
                  fmt::format("'{}' is a FIFO that nobody reads; start its reader first", path));
  }
  if (error == EPERM && target.present && target.present->st_uid != geteuid()) {
    return Status(Code::kIoError,
                  fmt::format("cannot write '{}': it belongs to user {}, and a new file in its "
                              "place would not; remove it, or write to another one",
                              path, target.present->st_uid));
  }
  if ((error == EACCES || error == EROFS) && target.regular() && !target.folder.empty()) {
    return Status(Code::kIoError,
                  fmt::format("cannot write '{}': {}; wanted a file and a folder ('{}') that this "
                              "user may write",
                              path, strerror(error), target.folder));
  }
  return Failed(path, error);
}

}  // namespace replacing

using namespace replacing;

Status ReplaceFile(const std::string& path, std::string_view bytes, bool durable) {
  Target target;
  int error = Follow(path, &target);
  if (error == 0) {
    error = target.regular() ? Replace(target, bytes, durable) : WriteSpecial(target, bytes);
  }
  return error == 0 ? Status() : Explained(path, target, error);
}

struct FileReplacement::State {
  std::string path;  // as its user named it
  Target target;
  Temporary file;
};

FileReplacement::FileReplacement(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileReplacement::FileReplacement(FileReplacement&&) noexcept = default;
FileReplacement& FileReplacement::operator=(FileReplacement&&) noexcept = default;
FileReplacement::~FileReplacement() = default;

Result<FileReplacement> FileReplacement::Begin(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  int error = Follow(path, &state->target);
  if (error == 0 && !state->target.regular()) {
    return Status(Code::kIoError,
                  fmt::format("cannot write '{}': it is no regular file, and what goes there is "
                              "read at any place; name a file",
                              path));
  }
  if (error == 0) error = state->file.Make(state->target);
  if (error != 0) return Explained(path, state->target, error);
  return FileReplacement(std::move(state));
}

int FileReplacement::fd() const { return state_->file.fd(); }

Status FileReplacement::TakeName() {
  const int error = state_->file.TakeName(state_->target);
  return error == 0 ? Status() : Explained(state_->path, state_->target, error);
}

bool IsUnfinishedFile(std::string_view name) {
  constexpr std::string_view kEnd = ".part";
  if (name.size() != 1 + kRandomDigits + kEnd.size()) return false;
  return name.starts_with('.') && name.ends_with(kEnd) &&
         name.substr(1, kRandomDigits).find_first_not_of("0123456789abcdef") == name.npos;
}

Result<Descriptor> OpenForLines(const std::string& path, bool* own) {
  Target target;
  Descriptor fd;
  int error = Follow(path, &target);
  *own = target.own_fd >= 0;
  if (error == 0) error = OpenPresent(target, target.regular() ? O_CREAT : 0, &fd);
  if (error != 0) return Explained(path, target, error);
  return fd;
}

int WriteBytes(int fd, std::string_view bytes) {
  NoBrokenPipe no_signal;
  return WriteAll(fd, bytes);
}

Status CheckReplaceable(const std::string& path) {
  Target target;
  int error = Follow(path, &target);
  if (error == 0 && target.regular()) {
    Temporary temporary;
    error = temporary.Make(target);
  } else if (error == 0 && target.own_fd < 0 &&
             faccessat(AT_FDCWD, target.path().c_str(), W_OK, AT_EACCESS) != 0) {
    error = errno;
  }
  return error == 0 ? Status() : Explained(path, target, error);
}

}  // namespace ge

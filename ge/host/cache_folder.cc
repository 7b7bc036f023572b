#include "ge/host/cache_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "ge/base/clock.h"
#include "ge/base/log.h"
#include "ge/base/replace_file.h"

namespace ge {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxBytes = uintmax_t{64} << 20;
// To merge 20,000 rows takes a fifth of a second; whoever holds the lock for longer is stopped, or
// means to keep others waiting.
constexpr double kLockWaitMs = 1000;
constexpr auto kLockRetry = std::chrono::milliseconds(5);

// Holds an advisory lock on a file beside the data, which itself is replaced and so cannot be it.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600)) {
    const double end_ms = NowMs() + kLockWaitMs;
    while (fd_ >= 0 && !(held_ = flock(fd_, LOCK_EX | LOCK_NB) == 0)) {
      if ((errno != EWOULDBLOCK && errno != EINTR) || NowMs() >= end_ms) return;
      std::this_thread::sleep_for(kLockRetry);
    }
  }
  ~FileLock() {
    if (fd_ >= 0) close(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return held_; }
  bool opened() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
  bool held_ = false;
};

enum class Present { kNone, kRead, kUnreadable };
// kNone also for what no cache would write.
Present ReadWhole(const std::string& path, std::string* text) {
  std::error_code ec;
  const fs::file_type type = fs::status(path, ec).type();
  if (type == fs::file_type::none) return Present::kUnreadable;  // nobody can say what is there
  if (type != fs::file_type::regular) return Present::kNone;
  const uintmax_t bytes = fs::file_size(path, ec);
  if (ec) return Present::kUnreadable;
  if (bytes > kMaxBytes) return Present::kNone;
  std::ifstream in(path, std::ios::binary);
  if (!in) return Present::kUnreadable;
  text->resize(bytes);
  in.read(text->data(), static_cast<std::streamsize>(bytes));  // iterators would throw
  text->resize(static_cast<size_t>(in.gcount()));
  return in.bad() ? Present::kUnreadable : Present::kRead;
}

}  // namespace

std::string CacheFolder() {
  const char* own = secure_getenv("GE_CACHE_DIR");
  if (own && *own) return std::string(own) == "off" ? "" : own;
  const char* shared = secure_getenv("XDG_CACHE_HOME");
  if (shared && *shared == '/') return std::string(shared) + "/graphengine";
  const char* home = secure_getenv("HOME");
  if (home && *home == '/') return std::string(home) + "/.cache/graphengine";
  return "";
}

std::optional<std::string> ReadCacheFile(const std::string& name) {
  const std::string folder = CacheFolder();
  std::string text;
  if (folder.empty() || ReadWhole(folder + "/" + name, &text) != Present::kRead) {
    return std::nullopt;
  }
  return text;
}

bool UpdateCacheFile(const std::string& name,
                     const std::function<std::string(const std::string& present)>& merge) {
  const std::string folder = CacheFolder();
  if (folder.empty()) return false;
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) return false;
  const std::string path = folder + "/" + name;
  FileLock lock(path + ".lock");
  if (!lock.held()) {
    if (lock.opened()) {
      LogLine(2, fmt::format("'{}' is not updated, what was measured is not kept: another process "
                             "held the lock on '{}.lock' for {} ms; fuser tells which one",
                             path, path, kLockWaitMs));
    }
    return false;
  }
  std::string present;
  if (ReadWhole(path, &present) == Present::kUnreadable) {
    // To replace it would lose what it holds.
    LogLine(2, fmt::format("'{}' is not updated: it cannot be read", path));
    return false;
  }
  const std::string text = merge(present);
  return ReplaceFile(path, text, false).ok();
}

}  // namespace ge

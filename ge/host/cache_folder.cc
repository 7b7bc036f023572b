#include "ge/host/cache_folder.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "ge/base/log.h"
#include "ge/base/read_file.h"
#include "ge/base/replace_file.h"
#include "ge/host/file_lock.h"

namespace ge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFoundAnew = "what it held is found out anew";
constexpr uintmax_t kMaxBytes = uintmax_t{64} << 20;
enum class Present { kNone, kRead, kUnreadable };
// kNone also for what no cache would write.
Present ReadWhole(const std::string& path, std::string* text) {
  std::error_code ec;
  const fs::file_type type = fs::status(path, ec).type();
  if (type == fs::file_type::none) return Present::kUnreadable;  // nobody can say what is there
  if (type != fs::file_type::regular) return Present::kNone;
  auto read = ReadRegularFile(path, kMaxBytes);
  if (!read.ok()) {
    const bool never_ours = read.status().code() == Code::kLimitExceeded;
    return never_ours ? Present::kNone : Present::kUnreadable;
  }
  *text = *std::move(read);
  return Present::kRead;
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

void MoveAside(const std::string& path, const std::string& how, const std::string& rest) {
  const std::string aside = path + ".damaged";
  if (std::rename(path.c_str(), aside.c_str()) == 0) {
    return LogLine(1, fmt::format("cache file '{}' is ignored: {}; it is kept as '{}', and {}",
                                  path, how, aside, rest));
  }
  LogOnce(1, fmt::format("cache file '{}' is ignored: {}; remove it, since it cannot be moved",
                         path, how));
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
                     const std::function<Result<std::string>(const std::string& present)>& merge) {
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
  Result<std::string> text = merge(present);
  if (!present.empty() && !text.ok() && text.status().code() == Code::kDataCorrupt) {
    MoveAside(path, text.status().message(), kFoundAnew);
    text = merge("");
  }
  return text.ok() && ReplaceFile(path, *text, false).ok();
}

void PutAsideCacheFile(const std::string& name, const std::string& text, const std::string& how) {
  const std::string folder = CacheFolder();
  if (folder.empty()) return;
  const std::string path = folder + "/" + name;
  FileLock lock(path + ".lock");
  if (!lock.held()) {
    return LogOnce(1, fmt::format("cache file '{}' is ignored: {}; remove it, since the lock "
                                  "on '{}.lock' cannot be had to move it",
                                  path, how, path));
  }
  std::string present;
  if (ReadWhole(path, &present) == Present::kRead && present == text)
    MoveAside(path, how, kFoundAnew);
}

}  // namespace ge

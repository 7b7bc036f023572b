#include "ge/host/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "ge/base/clock.h"

namespace ge {
namespace {

// A writer holds a lock for some microseconds, one that sorts a whole file for some milliseconds.
constexpr double kFirstRetryMs = 0.1, kLastRetryMs = 5;

bool LockUntil(int fd, double end_ms) {
  double retry_ms = kFirstRetryMs;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || NowMs() >= end_ms) return false;
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(retry_ms));
    retry_ms = std::min(2 * retry_ms, kLastRetryMs);
  }
  return true;
}

}  // namespace

FileLock::FileLock(const std::string& path, double wait_ms)
    : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600)) {
  held_ = fd_.valid() && LockUntil(fd_.get(), NowMs() + wait_ms);
}

LockedFile::LockedFile(const std::string& path, Missing missing, double wait_ms) {
  const double end_ms = NowMs() + wait_ms;
  const int make = missing == Missing::kMake ? O_CREAT : 0;
  do {
    fd_ = Descriptor(
        open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | make, 0666));
    struct stat mine, present;
    if (!fd_.valid() || fstat(fd_.get(), &mine) != 0 || !S_ISREG(mine.st_mode)) return;
    busy_ = !LockUntil(fd_.get(), end_ms);
    if (busy_) return;
    held_ = stat(path.c_str(), &present) == 0 && present.st_ino == mine.st_ino &&
            present.st_dev == mine.st_dev;
  } while (!held_ && NowMs() < end_ms);
}

uint64_t LockedFile::bytes() const {
  struct stat info;
  return fstat(fd_.get(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

uint64_t LockedFile::inode() const {
  struct stat info;
  return fstat(fd_.get(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace ge

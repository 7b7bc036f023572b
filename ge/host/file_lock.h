// Advisory locks among processes that share a cache folder. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/descriptor.h"

namespace ge {

// Whoever holds a lock of a cache for longer is stopped, or means to keep others waiting.
inline constexpr double kLockWaitMs = 1000;

// Holds a lock on a file beside the data, for data that are replaced and so cannot be locked.
class FileLock {
 public:
  // Makes the file; waits for at most `wait_ms`, 0 = asks once.
  explicit FileLock(const std::string& path, double wait_ms = kLockWaitMs);
  bool held() const { return held_; }
  bool opened() const { return fd_.valid(); }

 private:
  Descriptor fd_;
  bool held_ = false;
};

// Holds the lock of a regular file itself, open for reading and for writing at its end: that which
// has the path once the lock is held, though others replace it meanwhile.
class LockedFile {
 public:
  enum class Missing { kFail, kMake };
  LockedFile(const std::string& path, Missing missing, double wait_ms = kLockWaitMs);
  bool held() const { return held_; }
  // Whether it was not held because others held it.
  bool busy() const { return busy_; }
  int fd() const { return fd_.get(); }
  uint64_t bytes() const;
  uint64_t inode() const;

 private:
  Descriptor fd_;
  bool held_ = false, busy_ = false;
};

}  // namespace ge

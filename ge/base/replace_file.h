// Writes files for everything here that writes one: a reader finds all of the old bytes or all of
// the new ones.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ge/base/descriptor.h"
#include "ge/base/status.h"

namespace ge {

// A regular file, or none yet: the bytes go into a new file of a random name beside it, to the disk
// itself when `durable`; then the new file takes the name. Mode, owner and group of the old one are
// kept. Links are followed. Anything else (a device, a FIFO, /dev/stdout) is opened and written; a
// FIFO waits a second for its reader. IO_ERROR with the path and the system's reason leaves a
// regular file as it was and nothing beside it. Thread-safe.
Status ReplaceFile(const std::string& path, std::string_view bytes, bool durable);

// A regular file that is written for a while, under a random name beside the old one, and takes its
// name when it is told to; then it may be written on. As ReplaceFile with mode, owner and links.
// One thread at a time.
class FileReplacement {
 public:
  // IO_ERROR as of ReplaceFile; for what is no regular file, too.
  static Result<FileReplacement> Begin(const std::string& path);
  FileReplacement(FileReplacement&&) noexcept;
  FileReplacement& operator=(FileReplacement&&) noexcept;
  // Removes a file that never took its name.
  ~FileReplacement();
  int fd() const;
  // IO_ERROR: the old file stays. Without effect once it has been done.
  Status TakeName();

 private:
  struct State;
  explicit FileReplacement(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Before long work: asks whether ReplaceFile could write there now. Makes a file beside it and
// removes it again; writes nothing else. IO_ERROR as above.
Status CheckReplaceable(const std::string& path);

// Whether ReplaceFile gives such names to unfinished files: a killed process leaves one
// behind.
bool IsUnfinishedFile(std::string_view name);

// For logs, which grow line by line: opens the present file for writing and truncates nothing;
// makes a regular file where there is none. A FIFO without a reader within a second is an
// IO_ERROR. *own: whether it is an open file of this process (/dev/stdout), which may have others'
// bytes.
Result<Descriptor> OpenForLines(const std::string& path, bool* own);
// All bytes, in one go where the system can. 0, or errno; a reader that has gone is EPIPE and no
// signal.
int WriteBytes(int fd, std::string_view bytes);

}  // namespace ge

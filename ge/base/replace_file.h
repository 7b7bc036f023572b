// How a file is written, by everything that writes one: whoever reads it finds all of the old bytes
// or all of the new ones.
#pragma once

#include <string>
#include <string_view>

#include "ge/base/descriptor.h"
#include "ge/base/status.h"

namespace ge {

// A regular file, or none yet: the bytes go into a new file of a random name beside it, to the disk
// itself when `durable`, which then takes its name; mode, owner and group of the old one are kept.
// Links are followed. What is no regular file (a device, a FIFO, /dev/stdout) is opened and
// written; a FIFO waits a second for its reader. IO_ERROR with the path and the system's reason; a
// regular file is then as it was, and nothing is left beside it. Thread-safe.
Status ReplaceFile(const std::string& path, std::string_view bytes, bool durable);

// Before long work: whether ReplaceFile could write there now. Makes a file beside it, and removes
// it again; writes nothing else. IO_ERROR as above.
Status CheckReplaceable(const std::string& path);

// Whether ReplaceFile gives a new file such a name until it is whole: a process that was killed has
// left it.
bool IsUnfinishedFile(std::string_view name);

// For what grows line by line, a log: opens for writing what is there, of which nothing is cut; a
// regular file is made where there is none. A FIFO that nobody reads within a second is an
// IO_ERROR. *own: whether it is an open file of this process (/dev/stdout), which may have others'
// bytes.
Result<Descriptor> OpenForLines(const std::string& path, bool* own);
// All bytes, in one go where the system can. 0, or errno; a reader that has gone is EPIPE and no
// signal.
int WriteBytes(int fd, std::string_view bytes);

}  // namespace ge

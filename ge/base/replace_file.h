// Replaces a file whole, so that whoever reads it finds all of the old bytes or all of the new
// ones.
#pragma once

#include <string>
#include <string_view>

#include "ge/base/status.h"

namespace ge {

// Writes beside `path`, to the disk itself when `durable`, and renames. IO_ERROR with the system's
// reason; `path` is then as it was, and nothing is left beside it. Thread-safe.
Status ReplaceFile(const std::string& path, std::string_view bytes, bool durable);

}  // namespace ge

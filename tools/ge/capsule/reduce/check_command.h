// A command of the user's that judges a file. One thread; the command runs in a process group of
// its own, which is ended with it.
#pragma once

#include <string>

#include "tools/ge/capsule/reduce/failure.h"

namespace ge::tool {

// `command` with every {} replaced by `path`, by the shell, its output thrown away. What it says by
// its exit code: 0 is no failure. A signal, and no end after `seconds`, are failures, too.
// RESOURCE_EXHAUSTED: no process.
Result<Failure> RunCheck(const std::string& command, const std::string& path, double seconds);

}  // namespace ge::tool

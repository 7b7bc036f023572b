// Lines of the log: on stderr, when $GE_LOG_LEVEL (default 1) is at least their level: 0 error,
// 1 warning, 2 info, 3 debug, 4 trace; or to an application's function. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "ge/base/status.h"

namespace ge {

// Cut after 4,096 characters.
void LogLine(uint32_t level, std::string_view text);
// The same text once a process.
void LogOnce(uint32_t level, std::string_view text);

// Lines up to `level` go to `sink`, one at a time, from now on; null = to stderr as at first. The
// former sink is not called any more when this returns. A sink's own log lines are not passed to
// it; FAILED_PRECONDITION where a sink calls this. `text` ends with a NUL and has no line break.
using LogSink = void (*)(void* context, uint32_t level, const char* text);
Status SetLogSink(LogSink sink, void* context, uint32_t level);

}  // namespace ge

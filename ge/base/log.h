// Lines of the log on stderr, when $GE_LOG_LEVEL (default 1) is at least their level: 0 error,
// 1 warning, 2 info, 3 debug, 4 trace. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace ge {

// Cut after 4,096 characters.
void LogLine(uint32_t level, std::string_view text);

}  // namespace ge

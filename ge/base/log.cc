#include "ge/base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ge {

void LogLine(uint32_t level, std::string_view text) {
  static const char* const kNames[] = {"error", "warning", "info", "debug", "trace"};
  static const uint32_t limit = [] {
    const char* wanted = std::getenv("GE_LOG_LEVEL");
    return wanted ? static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10)) : 1u;
  }();
  if (level > limit) return;
  fmt::print(stderr, "graphengine: {}: {}\n", kNames[std::min(level, 4u)], text.substr(0, 4096));
}

}  // namespace ge

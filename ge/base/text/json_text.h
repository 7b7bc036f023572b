// ParseJson: parses a foreign JSON file within bounds checked before: code that copies, compares or
// prints a value recurses once a level, and a value takes up to fifty times its text. For files
// alone: text printed by this process needs no bounds.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ge/base/status.h"

namespace ge {

struct JsonLimits {
  size_t depth = 64;          // ours are 7 deep at most
  size_t values = 4'000'000;  // the longest cache has a quarter million
};

// DATA_CORRUPT, with the byte, where it is no JSON or beyond the limits; the message begins with
// "it", for the caller to name the file. RESOURCE_EXHAUSTED where there is no memory. Thread-safe.
Result<nlohmann::json> ParseJson(std::string_view text, const JsonLimits& limits = {});

}  // namespace ge

// Operators that are known by name and left out on purpose, and what takes their place. Pure; any
// thread may call.
#pragma once

#include <string_view>

namespace ge {

// What to do instead; empty for every other operator.
inline std::string_view InsteadOf(std::string_view domain, std::string_view op) {
  if (domain != "com.microsoft") return {};
  for (const char* search : {"BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"}) {
    if (op != search) continue;
    return "it is a whole search loop around a decoder; export the decoder without it, one step "
           "with past keys and values in and out, and let the application pick tokens and run it "
           "step by step: docs/sessions.md, kv_cache";
  }
  return {};
}

}  // namespace ge

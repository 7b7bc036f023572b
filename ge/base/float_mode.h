// How the calling thread computes with floats while the engine works for a caller: rounding to
// nearest, no traps, and denormal numbers (below 1.2e-38 in f32) counted as zero or kept. It is a
// word of each thread (MXCSR); threads that are made inherit it. Nothing here knows of sessions.
#pragma once

#include <cstdint>
#include <string_view>

#include "ge/base/status.h"

namespace ge {

enum class Denormals : uint8_t { kFlush, kKeep };
// "flush", "keep"; INVALID_ARGUMENT for anything else, which `what` held.
Result<Denormals> DenormalsFromName(std::string_view name, std::string_view what);

// The calling thread's control word; 0 on machines that have none we know.
uint32_t FloatControl();
void SetFloatControl(uint32_t word);

// The mode for the time of a call; the caller's own word, flags of exceptions included, comes back
// behind it. Scopes nest; about 10 ns.
class FloatModeScope {
 public:
  explicit FloatModeScope(Denormals denormals);
  ~FloatModeScope();
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

  // The word that the calling thread has outside of all scopes.
  static uint32_t Caller();

 private:
  uint32_t old_;
};

}  // namespace ge

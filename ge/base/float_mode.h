// How the calling thread computes with floats while the engine works for a caller: it rounds to
// nearest, traps nothing, and flushes denormals (below 1.2e-38 in f32) to zero or keeps them. A
// word of each thread (MXCSR) holds this; new threads inherit it. Knows no sessions.
#pragma once

#include <cstdint>
#include <string_view>

#include "ge/base/status.h"

namespace ge {

enum class Denormals : uint8_t { kFlush, kKeep };
// "flush", "keep"; INVALID_ARGUMENT for anything else; `what` names its source.
Result<Denormals> DenormalsFromName(std::string_view name, std::string_view what);

// The calling thread's control word; 0 on machines without a known one.
uint32_t FloatControl();
void SetFloatControl(uint32_t word);

// Sets the mode for the time of a call and restores the caller's own word behind it, exception
// flags included. Scopes nest; about 10 ns.
class FloatModeScope {
 public:
  explicit FloatModeScope(Denormals denormals);
  ~FloatModeScope();
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

  // The calling thread's word outside of all scopes.
  static uint32_t Caller();

 private:
  uint32_t old_;
};

}  // namespace ge

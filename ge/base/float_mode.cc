#include "ge/base/float_mode.h"

#include <fmt/format.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ge {
namespace {

// MXCSR: all exceptions masked and rounding to nearest; results and operands flushed.
constexpr uint32_t kPlain = 0x1f80, kFlush = 0x8040;

thread_local uint32_t caller = 0;  // of the outermost scope
thread_local uint32_t depth = 0;

}  // namespace

Result<Denormals> DenormalsFromName(std::string_view name, std::string_view what) {
  if (name == "flush") return Denormals::kFlush;
  if (name == "keep") return Denormals::kKeep;
  return Status(Code::kInvalidArgument,
                fmt::format("{} is '{}', wanted flush or keep", what, name));
}

#if defined(__x86_64__)
uint32_t FloatControl() { return _mm_getcsr(); }
void SetFloatControl(uint32_t word) { _mm_setcsr(word); }
#else
uint32_t FloatControl() { return 0; }
void SetFloatControl(uint32_t) {}
#endif

FloatModeScope::FloatModeScope(Denormals denormals) : old_(FloatControl()) {
  if (depth++ == 0) caller = old_;
  SetFloatControl(denormals == Denormals::kFlush ? kPlain | kFlush : kPlain);
}
FloatModeScope::~FloatModeScope() {
  --depth;
  SetFloatControl(old_);
}

uint32_t FloatModeScope::Caller() { return depth > 0 ? caller : FloatControl(); }

}  // namespace ge

// The number 1 of any dtype, as bits. Pure; any thread.
#pragma once

#include <cstdint>

#include "ge/ge_plugin.h"

namespace ge_engines::cpu::native {

inline uint64_t OneOf(int32_t dtype) {
  switch (dtype) {
    case GE_F16:
      return 0x3c00;
    case GE_BF16:
      return 0x3f80;
    case GE_F32:
      return 0x3f800000;
    case GE_F64:
      return 0x3ff0000000000000;
    default:
      return 1;  // of integers and bool
  }
}

}  // namespace ge_engines::cpu::native

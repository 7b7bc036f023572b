// A tensor of one element repeated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"

namespace ge_engines::cpu::native {

// Buffers: result. n elements, each the first `bytes` bytes of `element`.
std::unique_ptr<Loop> FillLoop(int64_t n, int64_t bytes, const std::array<uint8_t, 8>& element);

}  // namespace ge_engines::cpu::native

// Elementwise functions, means and Concat of 8-bit tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/quantized/quantized_elementwise.h"

namespace ge_engines::cpu::native {

// The quantized result for each of the 256 bytes of x: dequantizes, applies `ops`, quantizes.
std::vector<uint8_t> TableOf(const Simd& simd, const QuantizedMapSpec& spec,
                             std::vector<PointwiseOp> ops);

// Buffers: result, x.
std::unique_ptr<Loop> QuantizedMapLoop(std::vector<uint8_t> table, int64_t n);

struct QuantizedPlanes {
  int64_t images, channels, pixels;
  bool last;  // channels of a pixel are neighbours
};

// Buffers: result, a, b.
std::unique_ptr<Loop> QuantizedPairLoop(const Simd& simd, const QuantizedPairSpec& spec,
                                        const QuantizedPlanes& planes);

// Buffers: result, x, the constants.
std::unique_ptr<Loop> QuantizedConstantLoop(const Simd& simd, const QuantizedConstantSpec& spec);

// Buffers: result (images x channels), x, scratch of as many int32 as the result.
std::unique_ptr<Loop> QuantizedMeanLoop(const Simd& simd, const QuantizedMeanSpec& spec,
                                        const QuantizedPlanes& planes);

// Buffers: result, then the inputs. Each of `rows` rows holds bytes[i] of each input i in turn,
// mapped by tables[i] unless it is empty.
std::unique_ptr<Loop> QuantizedConcatLoop(int64_t rows, std::vector<int64_t> bytes,
                                          std::vector<std::vector<uint8_t>> tables);

}  // namespace ge_engines::cpu::native

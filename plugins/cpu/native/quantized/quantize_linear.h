// Steps between floats and 8-bit integers (ONNX: QuantizeLinear, DequantizeLinear,
// DynamicQuantizeLinear), bit-equal to the reference engine's. They own no tensors; immutable, any
// number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/quantized/quantize_linear.h"

namespace ge_engines::cpu::native {

// Buffers: quantized, x, scales, zero points (any buffer if has_zero is false).
std::unique_ptr<Loop> QuantizeLoop(const Simd& simd, const QuantGrid& grid, bool is_signed,
                                   bool has_zero);
// Buffers: result, quantized, scales, zero points.
std::unique_ptr<Loop> DequantizeLoop(const Simd& simd, const QuantGrid& grid, bool is_signed,
                                     bool has_zero);
// Buffers: quantized (uint8), x of n elements, then the scale and the zero point, written if
// has_scale and has_zero say so.
std::unique_ptr<Loop> DynamicQuantizeLoop(const Simd& simd, int64_t n, bool has_scale,
                                          bool has_zero);

}  // namespace ge_engines::cpu::native

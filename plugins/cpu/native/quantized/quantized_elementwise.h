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

// The result's code for each of the 256 codes of x, as bytes: through floats and `ops`.
std::vector<uint8_t> TableOf(const Simd& simd, const CodeMapSpec& spec,
                             std::vector<PointwiseOp> ops);

// Places: result, x.
std::unique_ptr<Loop> CodeMapLoop(std::vector<uint8_t> table, int64_t n);

struct CodePlanes {
  int64_t images, channels, pixels;
  bool last;  // channels of a pixel are neighbours
};

// Places: result, a, b.
std::unique_ptr<Loop> CodePairLoop(const Simd& simd, const CodePairSpec& spec,
                                   const CodePlanes& planes);

// Places: result, x, the constants.
std::unique_ptr<Loop> CodeConstantLoop(const Simd& simd, const CodeConstantSpec& spec);

// Places: result (images x channels), x, then as many int32.
std::unique_ptr<Loop> CodeMeanLoop(const Simd& simd, const CodeMeanSpec& spec,
                                   const CodePlanes& planes);

// Places: result, then the inputs, of which bytes[i] follow each other in each of `rows` rows; by
// tables[i] where it is not empty.
std::unique_ptr<Loop> CodeConcatLoop(int64_t rows, std::vector<int64_t> bytes,
                                     std::vector<std::vector<uint8_t>> tables);

}  // namespace ge_engines::cpu::native

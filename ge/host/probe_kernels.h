// The loops timed by the probe, one for each instruction set. Their results are of no use.
// Stateless; the caller owns the buffers and makes sure that the CPU has the instruction set.
#pragma once

#include <cstdint>

namespace ge::probe {

// Runs `rounds` rounds of multiply-adds on independent registers; answers a number depending on all
// of them.
using PeakFn = float (*)(uint64_t rounds);
// Copies n floats; n a multiple of 64, both aligned to 64 bytes.
using CopyFn = void (*)(const float* from, float* to, uint64_t n);

struct Kernels {
  PeakFn peak;
  double flops_per_round;  // multiply and add count two
  CopyFn copy;
};
// By GE_ISA_SSE42 .. GE_ISA_AVX512.
Kernels KernelsOf(uint32_t isa);

}  // namespace ge::probe

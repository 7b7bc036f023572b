// ComputedProductLoop: products of 8-bit integers whose second operand is computed, by dot4.h. Each
// run packs that operand first. Owns no tensors; immutable, any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/native/quantized/dot4.h"

namespace ge_engines::cpu::native {

struct ComputedProductPlan {
  // `count` products of m rows of k by a matrix [k][n], each with a matrix of its own.
  ComputedProductPlan(int64_t count, int64_t m, int64_t n, int64_t k, bool b_signed, int threads,
                      const QuantResult& result);
  int64_t count, m, n, k;
  bool b_signed;
  Dot4Plan product;
  uint64_t scratch_bytes() const;
  // b [k][n] less `zero`, as Dot4Plan::Pack has it for one zero point.
  void Pack(const uint8_t* b, int32_t zero, void* packed) const;
};
// Buffers as of Dot4Loop, with the second operand in place of weights, then its zero point (any
// buffer where `b_zero` is false).
std::unique_ptr<Loop> ComputedProductLoop(const Dot4Kernels& kernels,
                                          const ComputedProductPlan& plan, bool b_zero);

}  // namespace ge_engines::cpu::native

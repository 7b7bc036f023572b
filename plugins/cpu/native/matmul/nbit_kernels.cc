#include "plugins/cpu/native/matmul/nbit_kernels.h"

#include "ge/ge_plugin.h"

namespace ge_engines::cpu::native {

const uint8_t kNarrowOrder2[16] = {12, 8, 4, 0, 13, 9, 5, 1, 14, 10, 6, 2, 15, 11, 7, 3};
const uint8_t kNarrowOrder4[16] = {6, 4, 2, 0, 7, 5, 3, 1, 14, 12, 10, 8, 15, 13, 11, 9};
const uint8_t kNarrowOrder8[16] = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12};

int64_t NBitBytes(const NBitsForm& form, int64_t k) {
  return (k + form.block - 1) / form.block * (kNBitHead + form.block);
}

const NBitKernels* NBitKernelsOf(uint32_t isa, const NBitsForm& form) {
  if (form.block > kNBitBlock || form.block % 16 != 0 || form.zero_bytes > 1) return nullptr;
  __builtin_cpu_init();
  if (isa >= GE_ISA_AVX512 && __builtin_cpu_supports("avx512vnni") != 0) {
    return &kNBitKernelsAvx512;
  }
  // Pairs of products by 8 bits would not fit into 16.
  return isa >= GE_ISA_AVX2 && form.bits <= 4 ? &kNBitKernelsAvx2 : nullptr;
}

}  // namespace ge_engines::cpu::native

#include "plugins/cpu/kit/rounded.h"

#include "ge/ge_plugin.h"

namespace ge_cpu {

const Rounded* RoundedOf(uint32_t isa) {
  __builtin_cpu_init();
  const bool there = isa >= GE_ISA_AVX512 && __builtin_cpu_supports("avx512bf16") != 0;
  return there ? &kRounded_avx512 : nullptr;
}

}  // namespace ge_cpu

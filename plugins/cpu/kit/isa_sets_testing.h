// The host's instruction sets, for tests that run once in each. Not for product code.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/cpu/kit/engine.h"

namespace ge_engines::cpu {

struct IsaSet {
  uint32_t isa;  // GE_ISA_*
  const char* name;
  const Simd* simd;
};

inline std::vector<IsaSet> IsaSets() {
  std::vector<IsaSet> sets;
  for (const IsaSet& set :
       {IsaSet{GE_ISA_SSE42, "base", nullptr}, IsaSet{GE_ISA_AVX2, "avx2", nullptr},
        IsaSet{GE_ISA_AVX512, "avx512", nullptr}}) {
    if (set.isa <= MachineOf(nullptr).isa) sets.push_back({set.isa, set.name, &SimdOf(set.isa)});
  }
  return sets;
}
inline std::string NameOfIsaSet(const ::testing::TestParamInfo<IsaSet>& info) {
  return info.param.name;
}

}  // namespace ge_engines::cpu

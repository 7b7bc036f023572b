#include "plugins/cpu/native/conv/algorithm.h"

namespace ge_engines::cpu::native {

#define GE_CONV_ALGORITHM(stem) const ConvAlgorithm& conv_##stem();
#include "plugins/cpu/native/conv/algorithms.def"
#undef GE_CONV_ALGORITHM

const ConvAlgorithm& AlgorithmOf(const ConvSpec& spec, bool constants, const Machine& machine) {
  static const ConvAlgorithm* const kAlgorithms[] = {
#define GE_CONV_ALGORITHM(stem) &conv_##stem(),
#include "plugins/cpu/native/conv/algorithms.def"
#undef GE_CONV_ALGORITHM
  };
  const ConvAlgorithm* last = nullptr;
  for (const ConvAlgorithm* algorithm : kAlgorithms) {
    last = algorithm;
    if (algorithm->Takes(spec, constants, machine)) break;
  }
  return *last;
}

}  // namespace ge_engines::cpu::native

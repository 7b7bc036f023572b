// Graphs for levels 0 to 2 and 4 to 7: small ones, of the kinds that models consist of. Each call
// makes its sample anew, the same each time. Any thread.
#pragma once

#include <vector>

#include "net.h"

namespace ge::conform {

// n times Add and Mul by turns, of two inputs of `size` f32 each. The smallest engine takes it.
Sample Chain(int n, int64_t size = 64);
// One Add of two inputs.
Sample OneAdd(const Dims& dims);

enum class Shape {
  kChain,
  kPerceptron,
  kConvNet,
  kAttention,
  kReductions,
  kMoves,
  kIntegers,
  kQuantized,
  kEmpty,
  kScalars,
  kBranches
};
inline constexpr int kShapes = 11;
const char* NameOf(Shape shape);  // "perceptron"
Sample SampleOf(Shape shape);

}  // namespace ge::conform

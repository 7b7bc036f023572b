// How far two tensors of one type are apart. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ge/ir/dtype.h"

namespace ge::tool {

struct Difference {
  uint64_t elements = 0, differing = 0;  // those whose bits differ
  // Of floats: the greatest distance, the largest finite magnitude of `wanted`, and how many are
  // infinite or NaN on one side alone.
  double greatest = 0, largest = 0;
  uint64_t unlike = 0;
  bool equal() const { return differing == 0; }
  // By the largest magnitude; infinite where that is 0 and something differs.
  double relative() const;
};

// Both have the same size. Types below a byte count by bytes.
Difference DifferenceOf(DType dtype, std::span<const std::byte> found,
                        std::span<const std::byte> wanted);

// The bound of a float's relative difference on another machine or engine; 0: bits are compared.
// `rounds`: inputs of products were rounded to bfloat16, which float32 shows, too.
double RelativeBound(DType dtype, bool rounds = false);

}  // namespace ge::tool

// Inputs and outputs for the runs of a rehearsal: the caller's where there are any, else made-up
// ones.
#pragma once

#include <span>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/run/tensor_view.h"

namespace ge {

struct RehearsalBuffers {
  std::vector<TensorView> in, out;
  std::vector<AlignedBytes> memory;
  // False when memory is short.
  bool Fill(const Compiled& plan, std::span<const TensorView> inputs);
};

}  // namespace ge

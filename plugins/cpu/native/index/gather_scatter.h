// Reads or writes elements and tuples by index.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/units/index/gather_scatter.h"

namespace ge_engines::cpu::native {

// Shapes and dtypes of GatherElements, ScatterElements, GatherND and ScatterND.
struct IndexPlan {
  IndexSpec spec;
  Dims x, index;
  int32_t dtype = GE_F32;
  int64_t bytes = 4;  // of an element
  bool wide = true;   // indices are int64; otherwise int32
};

// Buffers: result, x, indices; scatters also updates. Where an index repeats all its updates count,
// in their order.
std::unique_ptr<Kernel> GatherScatterKernel(const IndexPlan& plan);

}  // namespace ge_engines::cpu::native

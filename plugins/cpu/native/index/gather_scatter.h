// Elements and tuples that integers name, read or written.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/units/index/gather_scatter.h"

namespace ge_engines::cpu::native {

// Of the tensors of GatherElements, ScatterElements, GatherND and ScatterND.
struct IndexPlan {
  IndexSpec spec;
  Dims x, index;
  int64_t bytes = 4;  // of an element
  bool wide = true;   // indices are int64; otherwise int32
};

// Buffers: result, x, indices; of scatters also updates, of which repeated places keep the last or
// add up all.
std::unique_ptr<Kernel> GatherScatterKernel(const IndexPlan& plan);

}  // namespace ge_engines::cpu::native

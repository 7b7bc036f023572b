// Comparisons and functions of bools, as bools or as 0 and 1.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/elementwise/relation.h"

namespace ge_engines::cpu::native {

// Buffers: result (bytes 0 or 1; with as_float 0.0f or 1.0f), x, z of one dtype; kNot reads x
// alone. A relation of order with NaN does not hold.
std::unique_ptr<Loop> RelationLoop(const Simd& simd, Relation op, int32_t dtype, bool as_float,
                                   const Dims& result, const Dims& x, const Dims& dims);

}  // namespace ge_engines::cpu::native

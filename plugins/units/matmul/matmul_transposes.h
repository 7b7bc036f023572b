// MatMul together with Transposes of its matrices, for engines that read transposed matrices. Pure;
// any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// Single operators: MatMul, which takes Transposes along, and a matrix's Transpose, as a
// TransposeSpec. Engines that take every Transpose name that kind before this one.
extern const UnitKind kMatMulTransposes;

}  // namespace ge_engines

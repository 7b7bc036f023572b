// MatMul together with Transposes of its matrices, for engines that read transposed matrices and
// take no other Transpose. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// Single operators: MatMul, which takes Transposes along, and a matrix's Transpose, as a
// TransposeSpec.
extern const UnitKind kMatMulTransposes;

}  // namespace ge_engines

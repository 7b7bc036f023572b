// MatMul together with Transposes of its matrices, for engines that read these as they lie and take
// a Transpose nowhere else. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

// Operators alone: MatMul, which widens by Transposes, and a matrix's Transpose, as a
// TransposeSpec.
extern const UnitKind kMatMulTransposes;

}  // namespace ge_engines

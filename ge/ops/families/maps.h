// Shared by the rules of operators on maps: building and checking their types. Not their execution
// (ge/control/host). Any thread may call.
#pragma once

#include "ge/ops/families/feature_rows.h"
#include "ge/ops/families/sequences.h"

namespace ge {

// A map from keys of one element type to scalars of another.
Type MapType(DType key, DType value);
// Input 0 must be a map from keys to values of these types; answers the values' type.
Result<DType> WantMap(InferContext& context, DTypeSet keys, DTypeSet values);

}  // namespace ge

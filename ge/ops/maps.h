// What the rules of operators on maps share: building and checking their types. Not their execution
// (ge/flow/host). Any thread may call.
#pragma once

#include "ge/ops/feature_rows.h"
#include "ge/ops/sequences.h"

namespace ge {

// Columns that a map's keys may ask for: more would be a damaged attribute.
inline constexpr int64_t kMostMapColumns = int64_t{1} << 28;

// A map from keys of one element type to scalars of another.
Type MapType(DType key, DType value);
// Input 0 must be a map from keys to values of these types; answers the values' type.
Result<DType> WantMap(InferContext& c, DTypeSet keys, DTypeSet values);

}  // namespace ge

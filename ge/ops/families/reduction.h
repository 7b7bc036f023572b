// Record and rule shared by the Reduce* operators (axes as an input). Any thread may call.
#pragma once

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {

Status InferReduce(InferContext& context);
OpDef Reduction(const char* name, int32_t since, DTypeSet types);

}  // namespace ge

// Record and rule shared by RNN, GRU and LSTM. Not the cells: those are the engines'. Any thread
// may call.
#pragma once

#include "ge/ops/infer_shapes.h"

namespace ge {

// gates: blocks of rows in W and R; activations: of one direction.
Status InferRecurrent(InferContext& context, int64_t gates, int64_t activations);
// X to initial_h, Y and Y_h, and the attributes of all three.
OpDef RecurrentRecord(const char* name, Status (*infer)(InferContext&));

}  // namespace ge

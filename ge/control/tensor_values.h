// Between a caller's tensors and the values of a flow. Thread-safe.
#pragma once

#include <span>
#include <vector>

#include "ge/base/status.h"
#include "ge/control/value.h"
#include "ge/ir/graph.h"
#include "ge/run/tensor_view.h"

namespace ge {

// Borrows the tensor's memory.
FlowValue ValueOf(const TensorView& t);

// Copies the results of `f` into the caller's buffers, or none of them; UNSUPPORTED where one is no
// tensor of numbers, INVALID_ARGUMENT where one does not fit or overlaps another buffer.
Status GiveOut(const Function& f, const std::vector<FlowValue>& results,
               std::span<const TensorView> inputs, std::span<TensorView> outputs);

}  // namespace ge

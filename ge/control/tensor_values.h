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

// Whether inputs have buffers of their bytes. INVALID_ARGUMENT.
Status CheckGiven(const Function& f, const std::string& entry, std::span<const TensorView> inputs);

// States as values behind `args`, borrowed from where they lie.
void AppendStates(const Graph& graph, std::span<const StateId> states,
                  std::span<const void* const> from, std::vector<FlowValue>* args);
// Copies the last of the results, which are what states are to hold, and drops them.
// INVALID_ARGUMENT where one is of another type than its state.
Status TakeStates(const Graph& graph, std::span<const StateId> states, std::span<void* const> to,
                  std::vector<FlowValue>* results);

// Copies the results of `f` into the caller's buffers, or none of them; UNSUPPORTED where one is no
// tensor of numbers, INVALID_ARGUMENT where one does not fit or overlaps another buffer.
Status GiveOut(const Function& f, const std::vector<FlowValue>& results,
               std::span<const TensorView> inputs, std::span<TensorView> outputs);

}  // namespace ge

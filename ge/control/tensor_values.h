// Converts between a caller's tensors and the values of a flow. Thread-safe.
#pragma once

#include <span>
#include <vector>

#include "ge/base/file_mapping.h"
#include "ge/base/status.h"
#include "ge/control/value.h"
#include "ge/ir/graph.h"
#include "ge/run/tensor_view.h"

namespace ge {

// Borrows the tensor's memory.
FlowValue ValueOf(const TensorView& view);

// Whether inputs have buffers of their bytes. INVALID_ARGUMENT.
Status CheckGiven(const Function& function, const std::string& entry,
                  std::span<const TensorView> inputs);

// Checks values against the declared parameters of `f`: kind, dtype, rank, and known sizes.
// INVALID_ARGUMENT naming the input.
Status CheckValues(const Graph& graph, const Entry& entry, std::span<const FlowValue> values);
// Whether all parameters are tensors; then *views are those of such values, without data.
bool TensorsOf(const Function& function, std::span<const FlowValue> values,
               std::vector<TensorView>* views);
// Makes a value independent of others: copies bytes that somebody else keeps (constants, states).
// RESOURCE_EXHAUSTED.
Status OwnValue(FlowValue* value);

// States as values behind `args`, borrowed from where they lie.
void AppendStates(const Graph& graph, std::span<const StateId> states,
                  std::span<const void* const> from, std::vector<FlowValue>* args);
// Copies the last results, the new contents of states, and drops them. INVALID_ARGUMENT where one
// is of another type than its state.
Status TakeStates(const Graph& graph, std::span<const StateId> states, std::span<void* const> to,
                  std::vector<FlowValue>* results);

// Copies the results of `function` into the caller's buffers, or none of them; UNSUPPORTED where
// one is no tensor of numbers, INVALID_ARGUMENT where one does not fit or overlaps another buffer,
// IO_ERROR where one lay in one of `files` and was read wrong.
Status GiveOut(const Function& function, const std::vector<FlowValue>& results,
               const MappedFiles& files, std::span<const TensorView> inputs,
               std::span<TensorView> outputs);

}  // namespace ge

// Whether a caller's buffers are those that a plan reads and writes. Thread-safe.
#pragma once

#include <span>

#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/run/tensor_view.h"

namespace ge {

// `name` empty = the first entry. INVALID_ARGUMENT listing the names there are.
Result<const Entry*> EntryOf(const Graph& graph, std::string_view name);

// As many as the entry has, of its dtypes; INVALID_ARGUMENT otherwise.
Status CheckInputs(const Graph& graph, const Entry& entry, std::span<const TensorView> inputs);

// Dtypes, sizes, and that nothing overlaps; INVALID_ARGUMENT otherwise. Allocates nothing when it
// is called again by the same thread. outputs[i].data may be null.
Status CheckBuffers(const Compiled& compiled, std::span<const TensorView> inputs,
                    std::span<const TensorView> outputs);

// The same, of as many inputs and outputs as the plan has, each with its data.
Status CheckAllBuffers(const Compiled& compiled, std::span<const TensorView> inputs,
                       std::span<const TensorView> outputs);

}  // namespace ge

// Checks a caller's buffers against those that a plan reads and writes. Thread-safe.
#pragma once

#include <span>

#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/run/tensor_view.h"

namespace ge {

// `name` empty = the first entry. INVALID_ARGUMENT listing the present names.
Result<const Entry*> EntryOf(const Graph& graph, std::string_view name);

// Checks number and dtypes against the entry's; INVALID_ARGUMENT otherwise.
Status CheckInputs(const Graph& graph, const Entry& entry, std::span<const TensorView> inputs);

// Checks dtypes, sizes, and that nothing overlaps; INVALID_ARGUMENT otherwise. A later call by the
// same thread allocates nothing. outputs[i].data may be null.
Status CheckBuffers(const Compiled& compiled, std::span<const TensorView> inputs,
                    std::span<const TensorView> outputs);

// The same for as many inputs and outputs as the plan has, each with its data.
Status CheckAllBuffers(const Compiled& compiled, std::span<const TensorView> inputs,
                       std::span<const TensorView> outputs);

}  // namespace ge

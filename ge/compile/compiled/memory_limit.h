// What one run may take: arenas, outputs and expanded splats, and the values between the pieces of
// a flow. A small model with small inputs may not need much by default, whatever it asks for.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/run/tensor_view.h"

namespace ge {

struct BuildOptions;

// BuildOptions::memory_limit_bytes, or the default: 768 MiB and 64 bytes for each that the caller
// gave (payloads of the model, inputs of the run), at most three quarters of the machine's memory.
// The nets of tools/bench/models.json have arenas of at most 3 bytes for each given one.
uint64_t MemoryLimitOf(const BuildOptions& options);
// How a message tells the user to raise it.
inline constexpr const char* kRaiseMemoryLimit =
    "raise the limit (ge: --memory-limit, ge.h: memory_limit_bytes)";

// Bytes of payloads that came with the graph, not of splats.
uint64_t PayloadBytes(const Graph& graph);
// Those and the inputs of a run: what the default limit goes by.
uint64_t GivenBytes(uint64_t payload_bytes, std::span<const TensorView> inputs);
// Expands the splats that functions read, each once; LIMIT_EXCEEDED with the constant's name where
// they take more than the limit together with a copy that an engine may pack.
Status ExpandSplats(Graph* graph, uint64_t limit);
// Of those that the function reads.
uint64_t ExpandedBytes(const Graph& graph, const Function& function);

}  // namespace ge

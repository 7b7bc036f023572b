// The memory that one run may take: arenas, outputs, expanded splats, and the values between the
// pieces of a flow. The default bounds a small model with small inputs, even if it asks for more.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/run/tensor_view.h"

namespace ge {

struct BuildOptions;

// BuildOptions::memory_limit_bytes, or the default: 768 MiB and 64 bytes for each given byte
// (payloads of the model, inputs of the run), at most three quarters of the machine's memory. The
// nets of tools/bench/models.json have arenas of at most 3 bytes for each given one.
uint64_t MemoryLimitOf(const BuildOptions& options);
// How a message tells the user to raise it.
inline constexpr const char* kRaiseMemoryLimit =
    "raise the limit (ge: --memory-limit, ge.h: memory_limit_bytes)";

// Bytes of payloads that came with the graph, without splats.
uint64_t PayloadBytes(const Graph& graph);
// Payloads and the inputs of a run: the default limit depends on their sum.
uint64_t GivenBytes(uint64_t payload_bytes, std::span<const TensorView> inputs);
// Expands the splats read by functions, each once; LIMIT_EXCEEDED with the constant's name where
// they take more than the limit, together with a copy for an engine to pack.
Status ExpandSplats(Graph* graph, uint64_t limit);
// Bytes of the expanded splats read by `function`.
uint64_t ExpandedBytes(const Graph& graph, const Function& function);

}  // namespace ge

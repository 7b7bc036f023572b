// ScanWeights: walks the protobuf bytes of an ONNX model and takes the raw payloads of tensors out.
// It is not a parser: it knows only the fields with tensors, and checks framing strictly. The
// skeleton is the same model with each raw_data replaced by an index into the list of payloads, so
// libprotobuf, which copies bytes fields, never sees the weights. Pure; results belong to the
// caller; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"

namespace ge {

struct WeightPayload {
  uint64_t offset = 0, length = 0;  // into the scanned bytes
};

struct ModelSkeleton {
  std::string bytes;  // parses as onnx_wire::Model
  std::vector<WeightPayload> payloads;
};

struct ScanLimits {
  uint64_t max_skeleton_bytes = uint64_t{512} << 20;
  uint32_t max_graph_depth = 60;
  uint32_t max_message_depth = 224;  // a body takes three: graph, node, attribute
  // Empty items cost two bytes in a file and up to a hundred in memory.
  uint64_t max_empty_items = uint64_t{1} << 20;
};

// DATA_CORRUPT with the offset for framing errors, LIMIT_EXCEEDED for the limits.
Result<ModelSkeleton> ScanWeights(std::span<const std::byte> bytes, const ScanLimits& limits);

}  // namespace ge

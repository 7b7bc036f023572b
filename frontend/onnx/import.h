// ImportOnnx: bytes of an ONNX model -> Graph at the canonical opset.
// Not INFER: types are those that the file declares. Unknown operators pass; the operator table
// refuses them later. The Graph owns all that it names: constants point into the mapped file (or
// the owner's bytes), which the Graph keeps alive. The file must not be truncated by others
// meanwhile. Both functions may be called by several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Beyond a limit the import is refused with LIMIT_EXCEEDED.
struct ImportOptions {
  // Where external data may lie; nothing outside is opened. Empty: the folder of the file, and
  // for bytes no external data at all.
  std::string base_dir;
  uint64_t max_file_bytes = uint64_t{16} << 30;       // of the model and of each external file
  uint64_t max_skeleton_bytes = uint64_t{512} << 20;  // the model without its raw payloads
  uint64_t max_nodes = uint64_t{1} << 20;             // in all graphs together
  // What calls of the model's own functions may write out, nested ones included. 0: a small model
  // may not become a large graph, so 16,384 nodes and one more for each 16 bytes of the skeleton.
  uint64_t max_call_nodes = 0;
  // Names, attributes and records of these nodes. 0: 64 MiB and 16 for each byte of the skeleton.
  uint64_t max_call_bytes = 0;
  uint64_t max_tensor_bytes = uint64_t{1} << 44;
  uint32_t max_graph_depth = 16;    // bodies in bodies: each costs three of protobuf's levels
  uint32_t max_message_depth = 64;  // below protobuf's own limit of 100
  uint32_t max_rank = 16;
  uint32_t max_name_bytes = 4096;
};

struct ImportStats {
  uint64_t weight_bytes = 0;  // payload of all constants
  uint64_t copied_bytes = 0;  // of these, bytes that the import itself had to copy
};

Result<Graph> ImportOnnxFile(const std::string& path, const ImportOptions& options,
                             ImportStats* stats = nullptr);

// With an `owner` that keeps `bytes` alive, payloads stay where they are; without, they are copied
// once.
Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                              const ImportOptions& options, ImportStats* stats = nullptr);

}  // namespace ge

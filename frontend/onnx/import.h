// ImportOnnx: bytes of an ONNX model -> Graph at the canonical opset. Not INFER: types are the
// file's declared ones. Unknown operators pass; the operator table refuses them later. The Graph
// owns all its parts: constants point into the mapped file (or the owner's bytes), which the Graph
// keeps alive. Others must not truncate the file meanwhile. Several threads may call both functions
// at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Beyond a limit the import is refused with LIMIT_EXCEEDED.
struct ImportOptions {
  // Folder of external data; nothing outside is opened. Empty: the folder of the file, and for
  // bytes no external data at all.
  std::string base_dir;
  // Folders that symbolic links of external data may lead into, beside base_dir and the folder of
  // the model's own file (where a link to the model leads).
  std::vector<std::string> data_roots;
  // Initializers that are inputs too and become parameters; INVALID_ARGUMENT for any other name.
  std::vector<std::string> initializer_inputs;
  uint64_t max_file_bytes = uint64_t{16} << 30;       // of the model and of each external file
  uint64_t max_skeleton_bytes = uint64_t{512} << 20;  // the model without its raw payloads
  uint64_t max_nodes = uint64_t{1} << 20;             // in all graphs together
  // Nodes written by inlining calls of the model's own functions, nested ones included. 0: 16,384
  // and one for each 16 bytes of the skeleton: a small model stays a small graph.
  uint64_t max_call_nodes = 0;
  // Names, attributes and records of these nodes. 0: 64 MiB and 16 for each byte of the skeleton.
  uint64_t max_call_bytes = 0;
  uint64_t max_tensor_bytes = uint64_t{1} << 44;
  // Bodies in bodies, and calls in calls: an `elif` of a script is a body in a body. Verify takes
  // 64 levels, as each costs some kilobytes of the caller's stack.
  uint32_t max_graph_depth = 60;
  uint32_t max_rank = 16;
  uint32_t max_name_bytes = 65536;  // converters join the names of nodes that they fuse
};

// An initializer that is an input too: a default value which a caller may override.
struct DefaultInput {
  std::string name;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;  // of the default
};

// What the model says of an axis of an input or output, "" for nothing.
struct AxisWords {
  std::string size;        // its word for a size that varies
  std::string denotation;  // ONNX's, as "DATA_BATCH"
};
// By the names of those whose shapes are said.
using PortWords = std::map<std::string, std::vector<AxisWords>, std::less<>>;

struct ImportStats {
  uint64_t weight_bytes = 0;  // payload of all constants
  uint64_t copied_bytes = 0;  // bytes of these copied by the import itself
  std::vector<DefaultInput> defaults;
  PortWords words;
};

Result<Graph> ImportOnnxFile(const std::string& path, const ImportOptions& options,
                             ImportStats* stats = nullptr);

// An `owner` keeps `bytes` alive, and payloads stay where they are; without one they are copied
// once.
Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                              const ImportOptions& options, ImportStats* stats = nullptr);

}  // namespace ge

// LOAD: reads the bytes of a model, in any format, into a Graph. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/onnx/import.h"
#include "ge/base/status.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/ir/graph.h"

namespace ge {

enum class Format { kAuto, kOnnx, kProto, kText, kCapsule };

struct LoadedModel {
  Graph graph;
  uint64_t copied_bytes = 0;  // of constants not usable in place
  std::vector<DefaultInput> defaults;
  PortWords words;  // of an ONNX model
  // Of a compiled model: where its plans lie. Its graph is the rewritten one.
  std::shared_ptr<const CapsuleReader> compiled;
};

struct LoadOptions {
  // Symbolic links of external data may lead into these folders, into the model's own, and into
  // that of the file behind a link to the model.
  std::vector<std::string> data_roots;
  // These initializers of an ONNX model become inputs of its entry, behind the others. Each must be
  // one of LoadedModel::defaults.
  std::vector<std::string> initializer_inputs;
};
// kAuto decides by the file's name, then by its bytes. Looks for files of external data beside
// it.
Result<LoadedModel> LoadModelFile(const std::string& path, Format format,
                                  const LoadOptions& options = {});
// INVALID_ARGUMENT where there are no bytes.
Result<LoadedModel> LoadModelBytes(std::string bytes, Format format,
                                   const LoadOptions& options = {});

}  // namespace ge

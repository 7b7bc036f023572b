// LOAD: the bytes of a model, in whatever format, as a Graph. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

enum class Format { kAuto, kOnnx, kProto, kText };

struct LoadedModel {
  Graph graph;
  uint64_t copied_bytes = 0;  // of constants that could not be used where they lie
};
// kAuto goes by the file's name, then by its bytes. Files of external data are looked for beside
// it.
Result<LoadedModel> LoadModelFile(const std::string& path, Format format);
// INVALID_ARGUMENT where there are no bytes.
Result<LoadedModel> LoadModelBytes(std::string bytes, Format format);

}  // namespace ge

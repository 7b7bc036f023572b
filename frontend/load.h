// LOAD: reads the bytes of a model, in any format, into a Graph. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

enum class Format { kAuto, kOnnx, kProto, kText };

struct LoadedModel {
  Graph graph;
  uint64_t copied_bytes = 0;  // of constants not usable in place
};
// kAuto decides by the file's name, then by its bytes. Looks for files of external data beside
// it.
Result<LoadedModel> LoadModelFile(const std::string& path, Format format);
// INVALID_ARGUMENT where there are no bytes.
Result<LoadedModel> LoadModelBytes(std::string bytes, Format format);

}  // namespace ge

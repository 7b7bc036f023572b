// Where this code lies on disk: the folder of libgraphengine.so, or of a program linked from the
// same objects. Engines and codecs installed beside it are found from there. Any thread may
// call.
#pragma once

#include <filesystem>

namespace ge {

// Canonical; empty when the system does not say.
std::filesystem::path OwnFolder();
// The file itself.
std::filesystem::path OwnFile();

}  // namespace ge

// Where this code lies on disk: the folder of libgraphengine.so, or of the program that holds the
// same objects. What is installed beside it (engines, codecs) is found from there. Any thread may
// call.
#pragma once

#include <filesystem>

namespace ge {

// Canonical; empty when it cannot be told.
std::filesystem::path OwnFolder();
// The file itself.
std::filesystem::path OwnFile();

}  // namespace ge

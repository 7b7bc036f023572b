// The mapped files of a graph's constants, to check after reading whether the bytes were the
// file's.
#pragma once

#include "ge/base/file_mapping.h"
#include "ge/ir/graph.h"

namespace ge {

// Adds the file of a mapped constant, or of all constants of a graph.
void AddFileOf(const Const& constant, MappedFiles* files);
MappedFiles MappedFilesOf(const Graph& graph);

}  // namespace ge

// The mapped files in which a graph's constants lie, to ask whether what was read of them is
// theirs.
#pragma once

#include "ge/base/file_mapping.h"
#include "ge/ir/graph.h"

namespace ge {

// Those of a constant that is mapped, and of all of a graph.
void AddFileOf(const Const& constant, MappedFiles* files);
MappedFiles MappedFilesOf(const Graph& graph);

}  // namespace ge

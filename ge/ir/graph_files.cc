#include "ge/ir/graph_files.h"

namespace ge {

void AddFileOf(const Const& c, MappedFiles* files) {
  if (c.mapped) files->Add(c.owner, c.data, c.bytes);
}

MappedFiles MappedFilesOf(const Graph& graph) {
  MappedFiles files;
  for (const Const& c : graph.consts) AddFileOf(c, &files);
  return files;
}

}  // namespace ge

#include "ge/ir/graph_files.h"

namespace ge {

void AddFileOf(const Const& constant, MappedFiles* files) {
  if (constant.mapped) files->Add(constant.owner, constant.data, constant.bytes);
}

MappedFiles MappedFilesOf(const Graph& graph) {
  MappedFiles files;
  for (const Const& c : graph.consts) AddFileOf(c, &files);
  return files;
}

}  // namespace ge

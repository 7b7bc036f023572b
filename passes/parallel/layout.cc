#include "passes/parallel/layout.h"

#include <algorithm>

namespace ge::parallel {
namespace {

std::string Names(const Mesh& mesh, const std::vector<uint32_t>& axes) {
  std::string text;
  for (const uint32_t axis : axes) text += (text.empty() ? "" : "*") + mesh.axes()[axis].name;
  return text;
}

}  // namespace

bool Layout::whole() const {
  return terms.empty() && std::all_of(dims.begin(), dims.end(), [](auto& d) { return d.empty(); });
}

std::vector<Part> BoxOf(const Mesh& mesh, const Layout& layout, const std::vector<int64_t>& dims,
                        int64_t rank) {
  std::vector<Part> box;
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::vector<uint32_t>& axes = layout.dims[i];
    box.push_back(ShareOf(dims[i], mesh.Shares(axes), mesh.Share(rank, axes)));
  }
  return box;
}

std::vector<int64_t> LocalDims(const Mesh& mesh, const Layout& layout,
                               const std::vector<int64_t>& dims, int64_t rank) {
  std::vector<int64_t> local;
  for (const Part& part : BoxOf(mesh, layout, dims, rank)) local.push_back(part.size);
  return local;
}

std::string TextOf(const Mesh& mesh, const Layout& layout) {
  std::string text;
  for (const std::vector<uint32_t>& axes : layout.dims) {
    text += (text.empty() ? "" : ",") + (axes.empty() ? std::string("-") : Names(mesh, axes));
  }
  text = "[" + text + "]";
  return layout.terms.empty() ? text : text + " sum of " + Names(mesh, layout.terms);
}

}  // namespace ge::parallel

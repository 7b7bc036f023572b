#include "passes/parallel/layout.h"

#include <algorithm>

#include "passes/parallel/factors.h"

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

bool IsTerm(int place) { return place == kTerm || place == kMaxTerm || place == kMinTerm; }

Layout LayoutOf(const Places& places, size_t rank) {
  Layout layout = Layout::Whole(rank);
  for (uint32_t axis = 0; axis < places.size(); ++axis) {
    const int place = places[axis];
    if (place >= 0) layout.dims[static_cast<size_t>(place)].push_back(axis);
    if (IsTerm(place)) layout.terms.push_back(axis);
  }
  return layout;
}

std::vector<uint32_t> AxesOf(const Places& places, int dim) {
  std::vector<uint32_t> axes;
  for (uint32_t axis = 0; axis < places.size(); ++axis) {
    if (places[axis] == dim) axes.push_back(axis);
  }
  return axes;
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

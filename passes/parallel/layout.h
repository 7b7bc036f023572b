// Layout: how a tensor lies over the ranks of a mesh. A rank holds a box of it; or, of a tensor
// that is the sum of the ranks' tensors along some axes, its term. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "passes/parallel/mesh.h"

namespace ge::parallel {

struct Layout {
  std::vector<std::vector<uint32_t>> dims;  // by dim, the mesh's axes that split it, major first
  std::vector<uint32_t> terms;              // axes along which each rank holds a term of the sum
  static Layout Whole(size_t rank) { return {std::vector<std::vector<uint32_t>>(rank), {}}; }
  bool whole() const;
  bool operator==(const Layout&) const = default;
};

// The same by axis of the mesh: a dim that is split, kWhole, or a term (factors.h). Axes that split
// one dim do so in the mesh's order.
using Places = std::vector<int>;
Layout LayoutOf(const Places& places, size_t rank);
// The axes that split the dim, rising.
std::vector<uint32_t> AxesOf(const Places& places, int dim);
bool IsTerm(int place);

// The rank's box of a tensor of these dims: its part of each. The axes of a dim split it at once,
// as one axis of all their shares.
std::vector<Part> BoxOf(const Mesh& mesh, const Layout& layout, const std::vector<int64_t>& dims,
                        int64_t rank);
std::vector<int64_t> LocalDims(const Mesh& mesh, const Layout& layout,
                               const std::vector<int64_t>& dims, int64_t rank);
// "[data,-]", "[-,-] sum of data"; for people.
std::string TextOf(const Mesh& mesh, const Layout& layout);

}  // namespace ge::parallel

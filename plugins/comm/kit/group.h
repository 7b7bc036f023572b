// Group: the ranks of a mesh that meet in a collective: those that agree in all coordinates but
// those on its axes. Also how an extent is shared among them. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"

namespace ge_engines::comm {

struct Group {
  std::string mesh;              // its text, "data=2,model=2"
  std::vector<int64_t> sizes;    // of its axes
  uint32_t axes = 0;             // a bit for each axis of the group, by its place in the mesh
  int64_t rank = -1, ranks = 1;  // this rank of the mesh, -1: the node does not say; all
  std::vector<int64_t> members;  // ranks of the mesh, by their coordinates on the axes, first major
  size_t place = 0;              // of this rank among the members
};

// From the attributes mesh, axes and rank. A reason, empty where the node states a group.
std::string ReadGroup(const ge_node& node, Group* group);
// The members and this rank's place, for this rank of the mesh.
void Place(int64_t rank, Group* group);
// Splits the mesh's ranks into the groups of the axes: ranks of one group have one color, which is
// its first member.
int64_t ColorOf(const Group& group);

struct Share {
  int64_t first = 0, size = 0;
};
// Rounded up; the last ones are smaller or empty.
Share ShareOf(int64_t n, size_t shares, size_t share);

}  // namespace ge_engines::comm

// Read-only walks over a function: producers and readers of values. Results are snapshots: an edit
// of the function makes them stale.
#pragma once

#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

struct Use {
  uint32_t node_index;  // into Function::nodes
  uint32_t slot;        // input slot
};

struct DefUse {
  // By ValueId: index into Function::nodes of the producer, or -1 for params, constants, absent.
  std::vector<int32_t> producer;
  // By ValueId: readers in node order.
  std::vector<std::vector<Use>> uses;
  // By ValueId: how often it is a result of the function.
  std::vector<uint32_t> result_uses;
};
DefUse BuildDefUse(const Function& function);
// Only the producers, at a tenth of the allocations.
std::vector<int32_t> BuildProducers(const Function& function);

// The position of each node of a function.
class NodePositions {
 public:
  explicit NodePositions(const Function& function);
  // Index into Function::nodes; the node is one of them.
  uint32_t of(NodeId id) const;

 private:
  std::vector<std::pair<NodeId, uint32_t>> places_;  // ascending by id
};

// Pairs of nodes with a fixed order although they exchange no value: (earlier, later), indices into
// Function::nodes, each pair once, by later ones. Effects of one object chain in node order, and
// `after` edges count. Pairs already ordered by values or other such edges are left out as far as a
// short walk finds them. Needs nodes in topological order.
std::vector<std::pair<uint32_t, uint32_t>> OrderEdges(const Function& function);

// Puts nodes in topological order, stable in the present order. Effects of one object and `after`
// edges are kept. INVALID_GRAPH printing the cycle ("a -> b -> a") when there is one.
Status SortNodes(Function* function);

}  // namespace ge

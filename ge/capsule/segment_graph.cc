#include "ge/capsule/segment_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ge/ir/cut.h"

namespace ge {

std::vector<NodeId> NodesOf(const PlanSegment& segment) {
  std::vector<NodeId> nodes;
  for (const PlanOffer& o : segment.offers) {
    nodes.insert(nodes.end(), o.nodes.begin(), o.nodes.end());
  }
  return nodes;
}

Result<Graph> NodesGraph(const Graph& graph, FunctionId fn, std::span<const NodeId> nodes,
                         std::span<const ValueId> inputs, std::span<const ValueId> outputs) {
  if (fn >= graph.functions.size()) {
    return Status(Code::kInvalidGraph, fmt::format("the graph has no function {}", fn));
  }
  Graph out = graph;
  Function& f = out.fn(fn);
  const std::set<NodeId> wanted(nodes.begin(), nodes.end());
  std::vector<bool> keep;
  std::set<ValueId> known(inputs.begin(), inputs.end());
  size_t found = 0;
  for (const Node& n : f.nodes) {
    keep.push_back(wanted.count(n.id) != 0);
    if (!keep.back()) continue;
    ++found;
    for (const ValueId in : n.inputs) {
      if (in == 0 || f.value(in).constant != 0 || known.count(in) != 0) continue;
      return Status(Code::kInvalidGraph,
                    fmt::format("node {} reads value '{}', which is no input of its segment", n.id,
                                f.value(in).name));
    }
    known.insert(n.outputs.begin(), n.outputs.end());
  }
  if (found != wanted.size()) {
    return Status(Code::kInvalidGraph, fmt::format("the graph has {} of the {} nodes of a segment",
                                                   found, wanted.size()));
  }
  CutFunction(&f, keep, {outputs.begin(), outputs.end()});
  f.params.assign(inputs.begin(), inputs.end());
  for (const auto* ports : {&f.params, &f.results}) {  // those of an entry have names
    for (const ValueId v : *ports) {
      if (f.value(v).name.empty()) f.values[v].name = fmt::format("#{}", v);
    }
  }
  out.entries = {Entry{"main", fn}};
  return out;
}

}  // namespace ge

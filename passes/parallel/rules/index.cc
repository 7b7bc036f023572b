// Operators that read or write elements where indices say. The dim that indices count in stays
// whole; what is written over zeros, and added, may be terms.
#include "passes/parallel/rules/rule_text.h"

namespace ge::parallel {

std::string Gather(const RuleNode& node) {
  const size_t rank = node.in(0).size(), axis = node.Axis("axis", 0, rank);
  const size_t more = node.in(1).size();
  if (axis >= rank || rank + more > kMostDims) return {};
  const std::string front = Letters(axis), indices = Letters(more, rank),
                    behind = Letters(rank - axis - 1, axis + 1);
  return front + "." + behind + "," + indices + "->" + front + indices + behind;
}

// Letters of the dims that all have the same size, but for the axis.
static std::string Beside(const RuleNode& node, size_t axis) {
  std::string dims = Letters(node.in(0).size());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d == axis || node.in(0)[d] != node.in(1)[d]) dims[d] = '.';
  }
  return dims;
}

std::string GatherElements(const RuleNode& node) {
  const size_t rank = node.in(0).size(), axis = node.Axis("axis", 0, rank);
  if (axis >= rank || rank > kMostDims) return {};
  std::string data = Beside(node, axis), indices = data;
  indices[axis] = 'z';
  return data + "," + indices + "->" + indices;
}

std::string GatherND(const RuleNode& node) {
  const auto batch = static_cast<size_t>(node.Int("batch_dims", 0));
  const size_t rank = node.in(0).size(), more = node.in(1).size();
  if (more == 0 || rank + more > kMostDims) return {};
  const auto depth = static_cast<size_t>(node.in(1)[more - 1]);
  if (batch + depth > rank || batch >= more) return {};
  const std::string front = Letters(batch), indices = Letters(more - 1 - batch, rank),
                    behind = Letters(rank - batch - depth, batch + depth);
  return front + std::string(depth, '.') + behind + "," + front + indices + ".->" + front +
         indices + behind;
}

std::string ScatterElements(const RuleNode& node) {
  const size_t rank = node.in(0).size(), axis = node.Axis("axis", 0, rank);
  if (axis >= rank || rank > kMostDims) return {};
  const std::string data = Beside(node, axis);
  std::string indices = data;
  const bool adds = node.Text("reduction") == "add" && node.IsZero(0);
  if (adds) indices[axis] = 'z';
  return (adds ? "~" : "") + data + "," + indices + "," + indices + "->" + data;
}

// Rows of data; depth of its dims are counted in by the indices.
static std::string ScatterRows(const RuleNode& node, bool adds, size_t depth, const char* place) {
  const size_t rank = node.in(0).size();
  const size_t more = node.in(1).size() - (*place == 0 ? 0 : 1);
  if (depth > rank || rank + more > kMostDims) return {};
  const bool terms = adds && node.IsZero(0);
  const std::string data = std::string(depth, '.') + Letters(rank - depth, depth),
                    indices = terms ? Letters(more, rank) : std::string(more, '.');
  return (terms ? "~" : "") + data + "," + indices + place + "," + indices +
         Letters(rank - depth, depth) + "->" + data;
}

std::string ScatterND(const RuleNode& node) {
  if (node.in(1).empty()) return {};
  const auto depth = static_cast<size_t>(node.in(1).back());
  return ScatterRows(node, node.Text("reduction") == "add", depth, ".");
}

std::string AddRows(const RuleNode& node) { return ScatterRows(node, true, 1, ""); }

std::string OneHot(const RuleNode& node) {
  const size_t rank = node.out().size(), axis = node.Axis("axis", -1, rank);
  if (axis >= rank || rank > kMostDims) return {};
  std::string out = Letters(rank), in = out;
  in.erase(axis, 1);
  out[axis] = '.';
  return in + ",-,- ->" + out;
}

}  // namespace ge::parallel

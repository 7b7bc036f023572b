// Plan: where every value of a step lies over the ranks of a mesh, decided by shapes alone, so that
// all ranks decide alike: node by node, axis by axis the way that moves least, the first of equals.
// Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "passes/parallel/factors.h"
#include "passes/parallel/layout.h"
#include "passes/parallel/mesh.h"
#include "passes/parallel/redistribute.h"
#include "passes/parallel/rules.h"

namespace ge::parallel {

struct Asked {
  std::vector<Places> inputs;         // of the picture's inputs, by position
  std::map<uint32_t, Places> states;  // by index, of those that are split
  std::map<uint32_t, Places> values;  // pins, by value of the picture
  // Axis along which states lie in shares: what reads them for more than the optimizer gathers them
  // at once.
  std::optional<uint32_t> shared;
};

struct PlannedNode {
  std::vector<Way> ways;  // by axis
  bool of_shape = false;  // made of the shape of its input, by PutShape
  Places In(size_t i) const;
  Places Out(size_t i) const;
  bool Keeps(size_t i, uint32_t axis) const;  // kKept
  bool Reads(size_t i) const;                 // its i-th input
  bool ReadsShape(size_t i) const;            // kShape
};

struct Plan {
  std::vector<Places> made;              // by value: where it is made
  std::vector<PlannedNode> node;         // by node of the picture
  std::vector<std::vector<Step>> moves;  // by value, each from where it is by then
  std::vector<std::string> gathered;     // what operators without a rule gather; for people
};

// All sizes of the picture are known.
Plan PlanOf(const ge_graph* graph, const Mesh& mesh, const Asked& asked, const Rules& rules);

}  // namespace ge::parallel

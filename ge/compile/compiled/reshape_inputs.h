// ReshapeInputs: what a plan shaped like another one needs while it is made and not behind that,
// handed in with the function to build and back to who wants to build it at other sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ge/engine/view.h"
#include "ge/ir/graph.h"

namespace ge {

struct ReshapeInputs {
  // Handed in where it is known, and back where classes count: ShapeClasses::KeyOf of the function.
  std::optional<uint64_t> shape_class;
  // Of the function to build, at its sizes; null: one is made.
  std::unique_ptr<GraphView> view;
  // Back alone: without functions where the plan keeps its graph, or has changed it.
  Graph graph;

  bool is_back() const { return graph.functions.size() > 1; }
};

}  // namespace ge

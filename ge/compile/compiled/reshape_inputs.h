// ReshapeInputs: data for making a plan shaped like another one, used only while it is made. The
// caller hands it in with the function to build and takes it back to build at other sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ge/engine/view.h"
#include "ge/ir/graph.h"

namespace ge {

struct ReshapeInputs {
  // In: where it is known; out: where classes count. ShapeClasses::KeyOf of the function.
  std::optional<uint64_t> shape_class;
  // In: of the function to build, at its sizes; null: one is made.
  std::unique_ptr<GraphView> view;
  // Out alone: without functions where the plan keeps its graph, or has changed it.
  Graph graph;

  bool is_back() const { return graph.functions.size() > 1; }
};

}  // namespace ge

// Pins: where a user wants states, constants and values to lie, and where states lie in shares. Any
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ge/ge_plugin_pass.h"
#include "passes/parallel/layout.h"
#include "passes/parallel/mesh.h"
#include "passes/parallel/rules.h"

namespace ge::parallel {

struct Pin {
  std::string name;
  std::string text;  // behind the name, for people
  std::vector<std::string> dims;
};
// "w1=-,model|w2=model,-": by dim an axis, several joined by *, or - for none; + stands for a
// comma. Throws a Refusal.
std::vector<Pin> ReadPins(const std::string& text);
// Of a tensor of these dims. Throws a Refusal: another number of dims, an unknown axis or one given
// twice, a rank without a share.
Places PlacesOf(const Pin& pin, const Mesh& mesh, const std::vector<int64_t>& dims);

// The states of a step that are split, by index: those that are pinned, slots of an optimizer as
// what it calculates for them, averages as their weights; with `shared`, weights that are trained,
// slots and averages in shares along that axis: of their first dim where each rank gets some, else
// of the largest such dim.
std::map<uint32_t, Places> PlacesOfStates(const ge_model* model, const ge_graph* step,
                                          const Mesh& mesh,
                                          const std::map<uint32_t, Places>& pinned,
                                          const std::map<uint32_t, Places>& values,
                                          std::optional<uint32_t> shared, const Rules& rules);

}  // namespace ge::parallel

#include "passes/parallel/wants.h"

#include <algorithm>

#include "ge/ge_plugin.hpp"
#include "passes/parallel/rules.h"

namespace ge::parallel {
namespace {

int64_t CountOf(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

class Reader {
 public:
  Reader(const ge_graph* graph, const Mesh& mesh, const Rules& rules)
      : g_(graph), mesh_(mesh), rules_(rules) {
    wants_.places.assign(g_->n_value, Places(mesh.axes().size(), kWhole));
    wants_.readers.assign(g_->n_value, 0);
  }
  Wants Run(const std::map<uint32_t, Places>& states, const std::map<uint32_t, Places>& values);

 private:
  void Want(uint32_t value, const Places& places);
  bool HandOn(const ge_node& n, uint32_t axis, std::vector<bool>* told);

  const ge_graph* g_;
  const Mesh& mesh_;
  const Rules& rules_;
  Wants wants_;
};

void Reader::Want(uint32_t value, const Places& places) {
  for (size_t axis = 0; axis < places.size(); ++axis) {
    if (places[axis] >= 0) wants_.places[value][axis] = places[axis];
  }
}

// What a node makes element by element is wanted as its inputs are. True: something is.
bool Reader::HandOn(const ge_node& n, uint32_t axis, std::vector<bool>* told) {
  int dim = kWhole;
  for (uint32_t k = 0; k < n.n_out && dim < 0; ++k) dim = wants_.places[n.out[k]][axis];
  if (dim < 0) return false;
  const std::vector<int64_t> dims = DimsOf(g_, n.out[0]);
  const int64_t all = CountOf(dims);
  for (const Way& way : rules_(n, mesh_.axes()[axis].size).ways) {
    bool alike = std::all_of(way.out.begin(), way.out.end(), [&](int p) { return p == dim; });
    for (uint32_t i = 0; i < n.n_in && alike; ++i) {
      const std::vector<int64_t> in = DimsOf(g_, n.in[i]);
      alike = n.in[i] == 0 || (way.in[i] >= 0 ? in == dims || CountOf(in) < all
                                              : way.in[i] != kWhole || CountOf(in) < all);
    }
    if (!alike) continue;
    for (uint32_t i = 0; i < n.n_in; ++i) {
      if (way.in[i] != dim || n.in[i] == 0 || DimsOf(g_, n.in[i]) != dims) continue;
      wants_.places[n.in[i]][axis] = dim;
      (*told)[i] = true;
    }
    for (uint32_t k = 0; k < n.n_out; ++k) wants_.places[n.out[k]][axis] = dim;
    return true;
  }
  return false;
}

Wants Reader::Run(const std::map<uint32_t, Places>& states,
                  const std::map<uint32_t, Places>& values) {
  for (const auto& [value, places] : values) Want(value, places);
  for (uint32_t i = g_->n_node; i-- > 0;) {
    const ge_node& n = *GE_NODE(g_, i);
    std::vector<bool> told(n.n_in, false);
    const auto state = states.find(StateOf(n));
    if (state != states.end()) {
      for (uint32_t k = 0; k < n.n_in; ++k) Want(n.in[k], state->second);
      told.assign(n.n_in, true);
    } else if (n.n_effect == 0 && n.n_out > 0) {
      for (uint32_t axis = 0; axis < mesh_.axes().size(); ++axis) {
        if (mesh_.axes()[axis].size > 1) (void)HandOn(n, axis, &told);
      }
    }
    for (uint32_t k = 0; k < n.n_in; ++k) wants_.readers[n.in[k]] += told[k] ? 0 : 1;
  }
  return std::move(wants_);
}

}  // namespace

uint32_t StateOf(const ge_node& node) {
  const bool plain = plugin::View(node.op) == "Read" || plugin::View(node.op) == "Assign";
  if (!plain || plugin::View(node.domain) != "ge" || node.n_effect != 1) return 0;
  return node.effect[0].kind == GE_EFFECT_STATE ? node.effect[0].object : 0;
}

Wants WantsOf(const ge_graph* graph, const Mesh& mesh, const std::map<uint32_t, Places>& states,
              const std::map<uint32_t, Places>& values, const Rules& rules) {
  return Reader(graph, mesh, rules).Run(states, values);
}

}  // namespace ge::parallel

#include "passes/parallel/pins.h"

#include <algorithm>

#include "ge/ge_plugin.hpp"
#include "passes/kit/options.h"
#include "passes/kit/refusal.h"
#include "passes/parallel/factors.h"
#include "passes/parallel/rules.h"
#include "passes/parallel/wants.h"

namespace ge::parallel {
namespace {

using passes::Refusal;

std::vector<std::string> Apart(const std::string& text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) parts.emplace_back();
    if (c != by) parts.back() += c;
  }
  return parts;
}

Refusal Wrong(const Pin& pin, const std::string& what) {
  return {GE_INVALID_ARGUMENT, "pin '" + pin.name + "=" + pin.text + "': " + what};
}

std::vector<int64_t> DimsOfType(const ge_type& t) { return {t.dims, t.dims + std::max(0, t.rank)}; }

bool HasShares(const Mesh& mesh, int64_t n, const std::vector<uint32_t>& axes) {
  const int64_t shares = mesh.Shares(axes);
  return ShareOf(n, shares, shares - 1).size > 0;
}

bool Splits(const Places& places) {
  return std::any_of(places.begin(), places.end(), [](int place) { return place >= 0; });
}

// In shares along the axis, by a dim that nothing splits yet.
void Share(const Mesh& mesh, const std::vector<int64_t>& dims, uint32_t axis, Places* places) {
  if (mesh.axes()[axis].size == 1 || (*places)[axis] != kWhole) return;
  int best = kWhole;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int dim = static_cast<int>(d);
    if (!AxesOf(*places, dim).empty() || !HasShares(mesh, dims[d], {axis})) continue;
    if (best == kWhole || (best > 0 && dims[d] > dims[static_cast<size_t>(best)])) best = dim;
  }
  (*places)[axis] = best;
}

// Where something that the value is made of element by element is wanted in shares, as an average
// of a weight, a few nodes back: these places.
class MadeOf {
 public:
  MadeOf(const ge_graph* graph, const Wants& wants) : g_(graph), wants_(wants) {
    maker_.assign(g_->n_value, nullptr);
    for (uint32_t i = 0; i < g_->n_node; ++i) {
      const ge_node& n = *GE_NODE(g_, i);
      for (uint32_t k = 0; k < n.n_out; ++k) maker_[n.out[k]] = &n;
    }
  }
  const Places* Find(uint32_t value, int nodes) const {
    if (Splits(wants_.places[value])) return &wants_.places[value];
    const ge_node* n = maker_[value];
    if (n == nullptr || nodes == 0) return nullptr;
    const std::vector<int64_t> dims = DimsOf(g_, value);
    for (uint32_t k = 0; k < n->n_in; ++k) {
      if (n->in[k] == 0 || DimsOf(g_, n->in[k]) != dims) continue;
      if (const Places* found = Find(n->in[k], nodes - 1)) return found;
    }
    return nullptr;
  }

 private:
  const ge_graph* g_;
  const Wants& wants_;
  std::vector<const ge_node*> maker_;  // by value
};

constexpr int kAverage = 4;  // nodes from a weight to its average: a product, a sum, a choice

// What an optimizer writes to its slots is wanted as the weight is: so the slots lie there, and
// averages as what they are averages of.
void Follow(const ge_model* model, const ge_graph* step, const Mesh& mesh,
            const std::map<uint32_t, Places>& values, const Rules& rules,
            std::map<uint32_t, Places>* states) {
  for (bool more = true; more;) {
    more = false;
    const Wants wants = WantsOf(step, mesh, *states, values, rules);
    const MadeOf made(step, wants);
    for (uint32_t i = 0; i < step->n_node; ++i) {
      const ge_node& n = *GE_NODE(step, i);
      const uint32_t state = StateOf(n);
      if (state == 0 || n.n_in != 1 || states->count(state) != 0) continue;
      const uint32_t kind = GE_STATE(model, state)->kind;
      if (kind != GE_STATE_OPT && kind != GE_STATE_BUFFER) continue;
      const Places* places = made.Find(n.in[0], kind == GE_STATE_BUFFER ? kAverage : 0);
      if (places == nullptr) continue;
      (*states)[state] = *places;
      more = true;
    }
  }
}

}  // namespace

std::vector<Pin> ReadPins(const std::string& text) {
  std::vector<Pin> pins;
  for (const std::string& one : Apart(text, '|')) {
    if (one.empty()) continue;
    const size_t equals = one.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      throw Refusal{GE_INVALID_ARGUMENT, "pin '" + one +
                                             "' has no name and layout; write NAME=model,- with an "
                                             "axis of the mesh or - for each dim"};
    }
    Pin pin{one.substr(0, equals), one.substr(equals + 1), {}};
    pin.dims = passes::Listed(pin.text);
    std::replace(pin.text.begin(), pin.text.end(), '+', ',');  // as users write it
    pins.push_back(std::move(pin));
  }
  return pins;
}

Places PlacesOf(const Pin& pin, const Mesh& mesh, const std::vector<int64_t>& dims) {
  if (pin.dims.size() != dims.size()) {
    throw Wrong(pin, "it has " + std::to_string(pin.dims.size()) + " dims, wanted the " +
                         std::to_string(dims.size()) +
                         " of the tensor, with - for one that stays "
                         "whole");
  }
  Places places(mesh.axes().size(), kWhole);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (pin.dims[d] == "-") continue;
    std::vector<uint32_t> axes;
    for (const std::string& name : Apart(pin.dims[d], '*')) {
      const auto axis = mesh.Find(name);
      if (!axis) {
        throw Wrong(
            pin, "there is no axis '" + name + "', wanted one of the mesh '" + mesh.Text() + "'");
      }
      if (places[*axis] != kWhole || (!axes.empty() && axes.back() >= *axis)) {
        throw Wrong(pin, "axis '" + name +
                             "' is given twice or out of order; give each axis once, "
                             "in the order of the mesh '" +
                             mesh.Text() + "'");
      }
      axes.push_back(*axis);
      places[*axis] = static_cast<int>(d);
    }
    if (!HasShares(mesh, dims[d], axes)) {
      throw Wrong(pin, "dim " + std::to_string(d) + " has " + std::to_string(dims[d]) +
                           " elements, too few to give some to each of " +
                           std::to_string(mesh.Shares(axes)) + " ranks; split another dim");
    }
  }
  for (uint32_t axis = 0; axis < places.size(); ++axis) {
    if (mesh.axes()[axis].size == 1) places[axis] = kWhole;
  }
  return places;
}

std::map<uint32_t, Places> PlacesOfStates(const ge_model* model, const ge_graph* step,
                                          const Mesh& mesh,
                                          const std::map<uint32_t, Places>& pinned,
                                          const std::map<uint32_t, Places>& values,
                                          std::optional<uint32_t> shared, const Rules& rules) {
  std::map<uint32_t, Places> states = pinned;
  Follow(model, step, mesh, values, rules, &states);
  for (uint32_t i = 1; shared && i < model->n_state; ++i) {
    const ge_state& s = *GE_STATE(model, i);
    const bool slot = s.kind == GE_STATE_OPT || s.kind == GE_STATE_BUFFER;  // or an average
    if (!slot && (s.flags & GE_STATE_TRAINABLE) == 0) continue;
    Places places(mesh.axes().size(), kWhole);
    if (const auto found = states.find(i); found != states.end()) places = found->second;
    Share(mesh, DimsOfType(s.type), *shared, &places);
    states[i] = places;
  }
  std::erase_if(states, [](const auto& one) { return !Splits(one.second); });
  return states;
}

}  // namespace ge::parallel

#include "ge/place/pins.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <unordered_map>

namespace ge {
namespace {

// "#12" -> 12, 0 for anything else; ids begin at 1.
NodeId IdOf(const std::string& text) {
  if (text.size() < 2 || text[0] != '#') return 0;
  char* end = nullptr;
  const unsigned long long id = std::strtoull(text.c_str() + 1, &end, 10);
  return *end == 0 && id <= UINT32_MAX ? static_cast<NodeId>(id) : 0;
}

Status Unknown(const Function& f, const std::string& name) {
  std::string some;
  for (size_t i = 0; i < std::min<size_t>(f.nodes.size(), 5); ++i) {
    some += (some.empty() ? "" : ", ") + NodeLabel(f.nodes[i]);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("a pin names the node '{}', which the graph that is placed does not "
                            "have; it begins with: {}; ge explain lists all",
                            name, some.empty() ? "no node" : some));
}

// Positions of nodes by what a pin may call them: a move of a rehearsal pins thousands.
struct NodeNames {
  explicit NodeNames(const Function& f) {
    for (uint32_t i = 0; i < f.nodes.size(); ++i) {
      by_label[NodeLabel(f.nodes[i])].push_back(i);
      by_id[f.nodes[i].id].push_back(i);
    }
  }
  std::unordered_map<std::string, std::vector<uint32_t>> by_label;
  std::unordered_map<NodeId, std::vector<uint32_t>> by_id;
};

// Those of one label or id.
std::vector<uint32_t> Named(const NodeNames& names, const std::string& name) {
  if (const auto it = names.by_label.find(name); it != names.by_label.end()) return it->second;
  const NodeId id = IdOf(name);
  const auto it = id ? names.by_id.find(id) : names.by_id.end();
  return it == names.by_id.end() ? std::vector<uint32_t>() : it->second;
}

// * and ? alone: names of nodes hold brackets and backslashes.
bool Matches(const std::string& pattern, const std::string& text) {
  std::string escaped;
  for (char c : pattern) {
    if (c == '[' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return fnmatch(escaped.c_str(), text.c_str(), 0) == 0;
}

// Those that an operator or a pattern fits.
std::vector<uint32_t> Fitting(const Function& f, const std::string& pattern) {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < f.nodes.size(); ++i) {
    const Node& n = f.nodes[i];
    if (Matches(pattern, n.op) || Matches(pattern, NodeLabel(n))) found.push_back(i);
  }
  return found;
}

Status CheckOnly(const Function& f, const std::string& name, const std::vector<uint32_t>& found) {
  if (found.size() == 1) return {};
  std::string ids;
  for (uint32_t n : found) {
    ids += fmt::format("{}#{} ({})", ids.empty() ? "" : ", ", f.nodes[n].id, f.nodes[n].op);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("a pin names '{}', which {} nodes are called; name one by its id: {}",
                            name, found.size(), ids));
}

Result<std::vector<DeviceId>> FindDevices(const Plan& plan, const std::string& target) {
  std::vector<DeviceId> found;
  std::string names;
  for (DeviceId d = 1; d < plan.devices.size(); ++d) {
    const PlanDevice& device = plan.devices[d];
    const std::string& engine = plan.engines[device.engine].name;
    if (target == device.name || target == engine) found.push_back(d);
    names += (names.empty() ? "" : ", ") + device.name;
  }
  if (!found.empty()) return found;
  return Status(Code::kInvalidArgument,
                fmt::format("a pin names the engine '{}', which this session does not have; it has "
                            "the devices: {}",
                            target, names));
}

// Those that a pin may name for the offer.
void AddLayoutNames(const Offer& offer, const Plan& plan, std::set<std::string>* names) {
  for (const OfferChoice& choice : offer.choices) {
    bool plain = true;
    for (const auto& [value, layout] : choice.layouts) {
      if (layout != 0) {
        names->insert(LayoutName(plan.layouts[layout]));
        plain = false;
      }
    }
    if (plain) names->insert("plain");
  }
}

}  // namespace

Result<std::vector<NodePin>> ResolvePins(const Function& f, const Plan& plan,
                                         const PlaceOptions& options) {
  std::vector<NodePin> out(f.nodes.size());
  if (options.pins.empty()) return out;
  const NodeNames names(f);
  std::vector<const PlacePin*> by(f.nodes.size());  // whose pin binds the node
  std::vector<const PlacePin*> wide;                // pins that name no one node
  for (const PlacePin& pin : options.pins) {
    const std::vector<uint32_t> found = Named(names, pin.node);
    if (found.empty()) wide.push_back(&pin);
    if (found.empty()) continue;
    GE_RETURN_IF_ERROR(CheckOnly(f, pin.node, found));
    GE_ASSIGN_OR_RETURN(std::vector<DeviceId> devices, FindDevices(plan, pin.target));
    if (by[found[0]] != nullptr) {
      return Status(Code::kInvalidArgument,
                    fmt::format("two pins name the node '{}'; keep one of them", pin.node));
    }
    out[found[0]] = {std::move(devices), pin.layout, &pin};
    by[found[0]] = &pin;
  }
  const std::vector<const PlacePin*> exact = by;
  for (const PlacePin* pin : wide) {
    const std::vector<uint32_t> found = Fitting(f, pin->node);
    const bool may_miss = options.pins_may_miss || pin->may_miss;
    if (found.empty() && !may_miss) return Unknown(f, pin->node);
    GE_ASSIGN_OR_RETURN(const std::vector<DeviceId> devices, FindDevices(plan, pin->target));
    for (uint32_t n : found) {
      if (exact[n] != nullptr) continue;
      if (by[n] != nullptr) {
        return Status(
            Code::kInvalidArgument,
            fmt::format("the pins '{}={}' and '{}={}' both fit the node '{}'; name it in "
                        "a pin of its own",
                        by[n]->node, by[n]->target, pin->node, pin->target, NodeLabel(f.nodes[n])));
      }
      out[n] = {devices, pin->layout, pin};
      by[n] = pin;
    }
  }
  return out;
}

std::vector<NodeId> PinnedNodes(const Function& f, const std::vector<PlacePin>& pins) {
  std::vector<NodeId> out;
  if (pins.empty()) return out;
  const NodeNames names(f);
  for (const PlacePin& pin : pins) {
    std::vector<uint32_t> found = Named(names, pin.node);
    if (found.empty()) found = Fitting(f, pin.node);
    for (uint32_t n : found) out.push_back(f.nodes[n].id);
  }
  return out;
}

Status CheckPins(const Graph& graph, const std::vector<PlacePin>& pins) {
  for (const PlacePin& pin : pins) {
    bool found = false;
    for (FunctionId fn = 1; fn < graph.functions.size() && !found; ++fn) {
      found = !PinnedNodes(graph.fn(fn), {pin}).empty();
    }
    if (found) continue;
    return Status(
        Code::kInvalidArgument,
        fmt::format("a pin names '{}', which is no node or operator of the model; ge dump "
                    "--to rewrite shows them",
                    pin.node));
  }
  return {};
}

bool InPinnedLayout(const std::vector<std::pair<ValueId, LayoutId>>& layouts,
                    std::string_view wanted, const Plan& plan) {
  bool met = wanted == "plain";
  for (const auto& [value, layout] : layouts) {
    if (layout == 0) continue;
    if (LayoutName(plan.layouts[layout]) != wanted) return false;
    met = true;
  }
  return met;
}

Status NoOfferForPin(const Function& f, const Plan& plan, uint32_t node, const NodePin& pin,
                     const OfferSet& offers) {
  const PlanDevice& device = plan.devices[pin.devices[0]];
  const std::string& engine = plan.engines[device.engine].name;
  std::string why = "it gave no reason";
  std::set<std::string> layouts;
  for (const Offer& o : offers.offers) {
    if (o.engine + 1 != device.engine) continue;
    if (std::find(o.nodes.begin(), o.nodes.end(), node) != o.nodes.end()) {
      why = "what it offered could not be compiled, or is for another device or a pattern alone";
      AddLayoutNames(o, plan, &layouts);
    }
  }
  if (!layouts.empty() && !pin.layout.empty() && !layouts.count(std::string(pin.layout))) {
    return Status(Code::kUnsupported,
                  fmt::format("the node is pinned to '{}' in the layout '{}', in which it makes no "
                              "offer for this {}; it has: {}",
                              engine, pin.layout, f.nodes[node].op, fmt::join(layouts, ", ")))
        .AtNode(NodeLabel(f.nodes[node]));
  }
  for (const Refusal& r : offers.refusals) {
    if (r.engine + 1 != device.engine || r.node != node) continue;
    why = std::string(WhyName(r.why)) + (r.text.empty() ? "" : ": " + r.text);
  }
  const std::string& target = pin.devices.size() == 1 ? device.name : engine;
  if (pin.pin != nullptr && !pin.pin->part_of.empty()) {
    return Status(
               Code::kUnsupported,
               fmt::format("the node is pinned to '{}', which makes no offer for it, nor for all "
                           "of its parts: for this {} it makes none ({}); pin it to an engine "
                           "that takes it or them (ge explain lists them)",
                           target, f.nodes[node].op, why))
        .AtNode(pin.pin->part_of);
  }
  return Status(Code::kUnsupported,
                fmt::format("the node is pinned to '{}', which makes no offer for this {} ({}); "
                            "pin it to an engine that does (ge explain lists them)",
                            target, f.nodes[node].op, why))
      .AtNode(NodeLabel(f.nodes[node]));
}

}  // namespace ge

// Model: a PlaceProblem checked once and indexed for the solver: readers of each value by place,
// and costs of bringing a value from one place to another. It is not a cover and holds no choice.
// Owned by SolvePlacement or CoverCost for the length of one call; immutable, any thread may read.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/place/place.h"

namespace ge::place {

inline constexpr uint32_t kNone = ~0u;  // no offer, no group
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One value at one place; `place` indexes ModelValue::places.
struct Touch {
  uint32_t value = 0;
  uint32_t place = 0;
};

// Values that one node of an offer reads from outside the offer, and values it gives.
struct OfferPart {
  uint32_t node = 0;
  std::vector<Touch> reads, gives;  // ascending values
};
// The touch of a value; nullptr when it is not among them.
const Touch* TouchOf(const std::vector<Touch>& touches, uint32_t value);

struct ModelOffer {
  std::vector<OfferPart> parts;  // in the model's order of nodes
  uint32_t device = 0;
  bool growable = false;
  bool usable = true;                                           // finite price and convex
  double setup = 0, marginal = 0, launch = 0, edge_saving = 0;  // ns
  double Alone() const { return setup + marginal + launch; }
};

struct ModelValue {
  int32_t producer = -1;
  std::vector<uint32_t> users;
  bool is_output = false;
  std::vector<std::pair<uint32_t, uint32_t>> places;  // (domain, layout); [0] = home, plain
  std::vector<double> cost;                           // [from * places.size() + to], ns
  double Cost(uint32_t from, uint32_t to) const { return cost[from * places.size() + to]; }
};

struct Model {
  uint32_t n_node = 0, n_device = 0;
  std::vector<ModelOffer> offers;  // same indices as PlaceProblem::offers
  std::vector<ModelValue> values;
  std::vector<std::vector<uint32_t>> node_offers;             // usable ones covering the node
  std::vector<std::vector<uint32_t>> node_reads, node_gives;  // values
  std::vector<uint32_t> order;     // topological, chosen to keep few values live at once
  std::vector<uint32_t> position;  // of each node in `order`
  std::vector<uint32_t> domain;    // of each device: the lowest device that shares its memory
};

// The offer's part for one of its nodes. By bisection, since patterns of a whole graph exist.
const OfferPart& PartAt(const Model& model, const ModelOffer& offer, uint32_t node);
// The number of the offer's parts at or before `position` of the order.
size_t PartsUpTo(const Model& model, const ModelOffer& offer, uint32_t position);
// Whether both cover some node.
bool ShareNode(const Model& model, const ModelOffer& left, const ModelOffer& right);

// INTERNAL naming the inconsistency (index out of range, price not a number, cyclic graph). Two
// devices are one domain when bringing plain bytes between them costs 0 both ways; prices of a
// domain are asked under the name of its lowest device.
Result<Model> BuildModel(const PlaceProblem& problem);

// A topological order of the nodes with few values live at once. Empty when cyclic.
std::vector<uint32_t> ChooseOrder(const Model& model);

}  // namespace ge::place

// PLACE: offers + link costs -> for every node the offer that makes the whole plan cheapest. The
// solver knows neither graphs nor engines: PlaceProblem is all numbers, so tests can make random
// ones and compare with brute force. ge/place/from_offers.h makes it from a graph's offers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/base/status.h"

namespace ge {

// One way to execute a set of nodes on one device with given border layouts.
struct PlaceOffer {
  std::vector<uint32_t> nodes;  // ascending; more than one = pattern
  uint32_t device = 0;
  bool growable = false;  // may join connected growable offers of its device in one group
  double setup = 0, marginal = 0, launch = 0;  // ns
  double edge_saving = 0;  // per value staying inside a group, for growable offers
  // The offer's layout for a value it reads from / gives to outside; absent = 0 (plain).
  std::vector<std::pair<uint32_t, uint32_t>> layout;  // (value, layout)
};

struct PlaceValue {
  int32_t producer = -1;        // node, -1 = graph input, which lies at home
  std::vector<uint32_t> users;  // nodes, each once
  double bytes = 0;
  bool is_output = false;  // wanted at home
  uint32_t home = 0;       // device: where an input comes from and an output goes to, plain
  bool order = false;      // no value: its users run after its producer. It costs nothing anywhere
};

// Cost of bringing a value of b bytes from (device a, layout l) to (device b, layout m).
struct PlaceBoundary {
  virtual ~PlaceBoundary() = default;
  // Infinity when impossible. Same device class (domain) and layout costs 0. The answer depends on
  // a device only through its domain: devices between which plain bytes cost 0 both ways are one
  // domain, and the solver asks for it under the name of its lowest device.
  virtual double Cost(double bytes, uint32_t from_device, uint32_t from_layout, uint32_t to_device,
                      uint32_t to_layout) const = 0;
  // Of a graph input or output: at the host it lies in the caller's memory.
  virtual double CallersCost(double bytes, uint32_t from_device, uint32_t from_layout,
                             uint32_t to_device, uint32_t to_layout) const {
    return Cost(bytes, from_device, from_layout, to_device, to_layout);
  }
  double CostOf(const PlaceValue& value, uint32_t from_device, uint32_t from_layout,
                uint32_t to_device, uint32_t to_layout) const {
    const bool callers = value.producer < 0 || value.is_output;
    return callers ? CallersCost(value.bytes, from_device, from_layout, to_device, to_layout)
                   : Cost(value.bytes, from_device, from_layout, to_device, to_layout);
  }
};

struct PlaceProblem {
  uint32_t n_node = 0, n_device = 0;  // device 0 = the host
  std::vector<PlaceValue> values;     // constants are not among them
  std::vector<PlaceOffer> offers;
  const PlaceBoundary* boundary = nullptr;
  double effort = 1;  // the factor on the usual budgets of a search
};

struct PlaceGroup {
  uint32_t device = 0;
  std::vector<uint32_t> offers;  // more than one only when all are growable
};

struct PlaceSolution {
  double cost = 0;                 // ns: groups + boundaries
  std::vector<PlaceGroup> groups;  // in a runnable order
  std::string method;              // "exact-dp", "branch-and-bound", "moves" ... for explain
};

// The cost of a placement is that of its groups (marginals - savings of internal values +
// greatest setup + greatest launch) plus boundaries: a value is brought once to each
// distinct (domain, layout) reading it outside its group. A value saves its producing
// offer's edge_saving, once, when another offer of the same group reads it. The quotient
// graph of the groups, and that of the offers inside each, must be acyclic; both come
// back in a runnable order. Exact on chains, series-parallel graphs and small cores;
// never worse than the best single device. UNSUPPORTED naming the first node without an
// offer.
Result<PlaceSolution> SolvePlacement(const PlaceProblem& problem);

// The cost of a given cover, by the same rule; used by PARTITION's check and by the solver's tests.
// INTERNAL when the cover is not legal (node missing or twice, cyclic quotient, group not
// connected).
Result<double> CoverCost(const PlaceProblem& problem, const std::vector<PlaceGroup>& groups);

}  // namespace ge

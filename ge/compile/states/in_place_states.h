// In-place states: which states a plan overwrites where they lie, instead of beside them with both
// exchanged at the end. A state is overwritten when its new value is made by one node that reads
// the old one, nobody reads what that node makes (which may be new values of several states), and
// the engine neither fails at it nor minds the place; and when it is appended to (ge.KvAppend),
// whoever reads the new one. Functions only; the plan is the caller's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ge/ir/graph.h"
#include "ge/plan/plan.h"

namespace ge {

// A state of a lifted function (lift_states.h): positions among its parameters and its results.
struct StatePair {
  uint32_t param = 0, result = 0;
  StateId state = 0;
};

// Those that a function both reads and writes. `in` are its parameters behind `params` of its own,
// `out` its results behind `results`.
std::vector<StatePair> PairStates(std::span<const StateId> in, std::span<const StateId> out,
                                  size_t params, size_t results);

// States below this are written beside: a second copy of them costs less than a launch of its own.
inline constexpr uint64_t kLeastInPlaceBytes = 1 << 16;

// Indices of nodes that may overwrite a state: each has to be a segment of its own.
std::vector<uint32_t> OverwritingNodes(const Function& function, std::span<const StatePair> states,
                                       uint64_t least_bytes);

// For a plan of `function` whose segments are compiled: outputs claim the places of their inputs
// where that is permitted. STREAMS puts their launches behind a commit, but for those that append.
void OverwriteInPlace(const Function& function, std::span<const StatePair> states,
                      uint64_t least_bytes, Plan* plan);

}  // namespace ge

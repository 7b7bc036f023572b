// In-place states: states that a plan overwrites where they lie, instead of writing beside them and
// exchanging both at the end. A state is overwritten when one node both reads the old value and
// makes the new one, nobody reads that node's outputs (which may be new values of several states),
// and the engine neither fails at it nor minds the place. A state appended to (ge.KvAppend) is
// overwritten whoever reads the new value. Functions only; the plan is the caller's.
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

// The states that a function both reads and writes. `in` are its parameters behind `params` of its
// own, `out` its results behind `results`.
std::vector<StatePair> PairStates(std::span<const StateId> in, std::span<const StateId> out,
                                  size_t params, size_t results);

// The same, and those that it only reads or only writes, whose other position is kNoPosition.
inline constexpr uint32_t kNoPosition = UINT32_MAX;
std::vector<StatePair> AllStates(std::span<const StateId> in, std::span<const StateId> out,
                                 size_t params, size_t results);

// Smaller states are not overwritten: a second copy of them costs less than a launch of its own.
inline constexpr uint64_t kLeastInPlaceBytes = 1 << 16;

// Indices of nodes that may overwrite a state: each has to be a segment of its own.
std::vector<uint32_t> OverwritingNodes(const Function& function, std::span<const StatePair> states,
                                       uint64_t least_bytes);

// For a plan of `function` with compiled segments: outputs claim the places of their inputs where
// permitted. STREAMS puts their launches behind a commit, except for appending ones.
void OverwriteInPlace(const Function& function, std::span<const StatePair> states,
                      uint64_t least_bytes, Plan* plan);

}  // namespace ge

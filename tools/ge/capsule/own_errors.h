// Whose error is it: a node's own, or one that it inherits? A piece of a recorded run on the
// reference engine, each node on what was recorded of its inputs. Any thread may call; every trial
// has a process of its own.
#pragma once

#include <string>
#include <vector>

#include "ge/base/status.h"
#include "tools/ge/capsule/compared.h"
#include "tools/ge/capsule/piece.h"
#include "tools/ge/capsule/trial.h"

namespace ge::tool {

// A recorded value beside what the reference makes of the recorded values that it comes from.
struct OwnError {
  Compared compared;
  std::vector<NodeId> ids;         // between those values and this one, in their order
  std::vector<std::string> nodes;  // the same by name
};

// Of all recorded values of a piece, in the order of their making. `options`: of the reference.
// `bound` below 0: by the type. `rounds`: as RelativeBound takes it.
Result<std::vector<OwnError>> OwnErrorsOf(const Recorded& r, const Piece& piece,
                                          const Options& options, double bound, bool rounds);

// The nodes of `among` that are wrong by themselves on `engine`: the first one whose outputs differ
// from the reference's on the same inputs; empty where each is right alone, or cannot be run so.
Result<std::vector<std::string>> WrongAlone(const Recorded& r, const Piece& piece,
                                            const std::vector<NodeId>& among,
                                            const Options& reference, const Options& engine,
                                            double bound);

// The nodes that lead from params, constants and `known` values to `value`, in their order.
std::vector<NodeId> NodesBehind(const Function& fn, ValueId value,
                                const std::vector<ValueId>& known);

}  // namespace ge::tool

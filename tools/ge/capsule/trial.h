// A trial: one graph run once on given inputs in a process of its own, so that an engine that
// crashes or hangs fails the trial alone. The caller must have made no session: a process with
// threads cannot be forked safely.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/run/tensor_view.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/command.h"

namespace ge::tool {

using TrialAnswer = std::vector<std::vector<std::byte>>;

// What `work` answers in a process of its own. Else the child's own error; PLUGIN_ERROR where a
// signal ended it, DEADLINE_EXCEEDED after `seconds`.
Result<TrialAnswer> InChild(double seconds, const std::function<Result<TrialAnswer>()>& work);

// What is done otherwise than in a plain run.
struct TrialMemory {
  bool apart = false;                   // every value has a place of its own
  std::vector<PlanValueId> own_places;  // these values have
  bool red_zones = false;               // writes outside of places fail; see ge/run/red_zones.h
  bool packs_apart = false;             // no two segments share a pack
};
void Apply(const TrialMemory& memory, BuildOptions* build);

struct Trial {
  Graph graph;
  std::string entry;
  std::vector<TensorView> inputs;
  Options options;           // engines, threads and the like; no pass edits the graph
  bool with_states = false;  // the recorded ones
  TrialMemory memory = {};
};

// The outputs' bytes, by position; in this process, for engines that are trusted.
Result<TrialAnswer> RunTrialHere(const Recorded& r, const Trial& trial);
// The same in a process of its own.
Result<TrialAnswer> RunTrial(const Recorded& r, const Trial& trial, double seconds);

// The constants of the trial's graph of which its engines would ask packs; nothing is run.
Result<std::vector<ConstId>> PackedConstants(const Recorded& r, const Trial& trial, double seconds);

}  // namespace ge::tool

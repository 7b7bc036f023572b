// A trial: one graph run once on given inputs in a process of its own, so that an engine that
// crashes or hangs fails the trial alone. The caller must have made no session: a process with
// threads cannot be forked safely.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/run/tensor_view.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/command.h"

namespace ge::tool {

struct Trial {
  Graph graph;
  std::string entry;
  std::vector<TensorView> inputs;
  Options options;           // engines, threads and the like; no pass edits the graph
  bool with_states = false;  // the recorded ones
};

// The outputs' bytes, by position. Else the child's own error; PLUGIN_ERROR where a signal ended
// it, DEADLINE_EXCEEDED after `seconds`.
Result<std::vector<std::vector<std::byte>>> RunTrial(const Recorded& r, const Trial& trial,
                                                     double seconds);

}  // namespace ge::tool

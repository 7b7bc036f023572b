// The fewest nodes of a function that still fail: halves by their order, what a wrong value needs,
// then ever smaller groups. Any nodes may be asked for: values between them and others are inputs.
// It knows no engine and runs nothing. One thread.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ge/ir/graph.h"

namespace ge::tool {

struct NodeChoice {
  std::vector<bool> keep;        // by position in Function::nodes
  std::vector<ValueId> results;  // that are looked at
  size_t size() const;
};

// Runs the chosen nodes. Nothing: they do not fail, or for another reason, or there is no time
// left. Else the results that are wrong; none where the run ended otherwise.
using FailureTest = std::function<std::optional<std::vector<ValueId>>(const NodeChoice&)>;

// `whole` fails, with `wrong` as the test would answer; the answer has failed, too.
NodeChoice FewestNodes(const Function& function, NodeChoice whole, std::vector<ValueId> wrong,
                       const FailureTest& test);

}  // namespace ge::tool

// Optimizers: how a parameter and its slots follow its gradient, each written once as a function of
// values in the graph. PyTorch's forms where it has them; lamb and lars are those of their papers
// (arXiv 1904.00962 and 1708.03888). One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "passes/grad/fn.h"
#include "passes/grad/train/settings.h"

namespace ge::grad {

struct OptimizerDefaults {
  double beta2 = 0.999, eps = 1e-8;
};
std::vector<std::string> OptimizerNames();
OptimizerDefaults DefaultsOf(const std::string& optimizer);

// One parameter at one update.
struct Update {
  const TrainSettings& s;
  Val p, g;     // the parameter and its gradient
  Val rate;     // of p's dtype
  Val updates;  // float64: how many there are with this one
  // A slot of p's shape that begins with zeros: what it holds, and what it will hold.
  std::function<Val(const char* slot)> old;
  std::function<void(const char* slot, Val)> keep;
};
// What the parameter becomes.
Val Apply(const Update& u);

}  // namespace ge::grad

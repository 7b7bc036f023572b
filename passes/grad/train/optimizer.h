// Optimizers: how a parameter and its slots follow its gradient, each written once as a function of
// values in the graph; those of Adam and of sgd with a momentum as an operator, which an engine may
// compute where the states lie. PyTorch's forms where it has them; lamb and lars are those of their
// papers (arXiv 1904.00962 and 1708.03888). One thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "passes/grad/kit.h"
#include "passes/grad/train/rows.h"
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
  Val p, g;                         // the parameter and its gradient
  Val rate;                         // of p's dtype
  Val updates;                      // float64: how many there are with this one
  Val when;                         // boolean: whether anything moves at all; absent = it does
  std::optional<RowGradient> rows;  // what g is made of, where MovesByRows
  // A slot of p's shape that begins with zeros: what it holds, and what it will hold.
  std::function<Val(const char* slot)> old;
  std::function<void(const char* slot, Val)> keep;
};
// Whether rows without a gradient stay what they are, and those with one follow it alone.
bool MovesByRows(const TrainSettings& settings);
// What the parameter becomes.
Val Apply(const Update& update);

}  // namespace ge::grad

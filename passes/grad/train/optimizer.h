// Optimizers: update a parameter and its slots by its gradient, each written once as a function of
// values in the graph; Adam and sgd with a momentum as an operator, which an engine may compute
// where the states lie. PyTorch's forms where it has them; lamb and lars follow their papers (arXiv
// 1904.00962 and 1708.03888). One thread.
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
  std::optional<RowGradient> rows;  // the parts of g, where MovesByRows
  // A slot of p's shape that begins with zeros: its old and its new value.
  std::function<Val(const char* slot)> old;
  std::function<void(const char* slot, Val)> keep;
};
// Whether rows without a gradient stay unchanged, and the others follow it alone.
bool MovesByRows(const TrainSettings& settings);
// The new value of the parameter.
Val Apply(const Update& update);

}  // namespace ge::grad

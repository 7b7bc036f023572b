// ToInferenceForm: makes the loaded model a trained net for inference. It gives shared constants
// separate weights where training split them. One thread.
#pragma once

#include <map>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "tools/ge/command.h"

namespace ge::tool {

using StatesByName = std::map<std::string, const Tensor*>;

// The state for the weight of this name, its average if there is one; null = none.
const Tensor* StateOf(const StatesByName& states, const std::string& name);

// Copies the state into the constant.
void PutState(const Tensor& state, Const* constant);

// The second reader of a constant NAME gets the state NAME@2, if there is one, counted in the
// order of nodes and inputs as the pass `train` does. An Identity of a constant has the state
// of the Identity's output. BatchNormalization uses its running statistics, and Dropout
// passes its input on. UNSUPPORTED if a net reads the statistics output of a node in training
// mode.
Status ToInferenceForm(const StatesByName& states, Graph* graph, FunctionId fn);

}  // namespace ge::tool

// What a trained net is given away as: the model as it was loaded, with weights of their own where
// training made several of one constant, and as for inference. One thread.
#pragma once

#include <map>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "tools/ge/command.h"

namespace ge::tool {

using StatesByName = std::map<std::string, const Tensor*>;

// The state that stands for a weight of this name: its average where there is one; null = none.
const Tensor* StateOf(const StatesByName& states, const std::string& name);

// A constant that holds a copy of what the state does.
void PutState(const Tensor& state, Const* constant);

// Of the places that read a constant NAME, the second reads the state NAME@2 where there is one, in
// the order of nodes and inputs, as the pass `train` counts them; what an Identity makes of a
// constant is the state of the Identity's output. BatchNormalization is left with its running
// statistics, and Dropout hands on what it is given. UNSUPPORTED where a net reads the statistics
// that a node in training mode makes.
Status ToInferenceForm(const StatesByName& states, Graph* graph, FunctionId fn);

}  // namespace ge::tool

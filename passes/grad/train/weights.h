// Weights: the constants of an inference net turned into states for training, and the reading and
// writing of states. One thread, for one run of the pass.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "passes/grad/kit.h"
#include "passes/grad/train/weight_uses.h"

namespace ge::grad {

struct Weight {
  Found found;  // its numbers hold in every copy of the function
  uint32_t state;
  uint32_t average = 0;  // the state of its moving average, 0 = none
  const std::string& name() const { return found.name; }  // of its state
  bool trained() const { return found.trained; }          // false: running statistics
};

// Makes a state of each: initialisers of floats with an axis at least, unless a pattern freezes
// them, and statistics of BatchNormalization. `graph`: a picture of the function. Throws a Refusal.
std::vector<Weight> MakeWeights(const ge_edit* edit, const ge_graph* graph,
                                const TrainSettings& settings);

// Reads the state ahead of all nodes of `graph`, a picture of the function as it was copied, and
// replaces the constant by it.
Val ReadWeight(Fn& fn, const ge_graph* graph, const Weight& weight, uint32_t state);

// A state with first value `data`, NULL = zeros.
uint32_t MakeState(const ge_edit* edit, const std::string& name, const ge_type& type, uint32_t kind,
                   const void* data, uint64_t bytes);
Val ReadState(Fn& fn, uint32_t state, uint32_t before);
void AssignState(Fn& fn, uint32_t state, Val value);

}  // namespace ge::grad

// Operators that behave otherwise in training than in inference: BatchNormalization takes the
// statistics of the batch and keeps running ones, Dropout drops. One thread.
#pragma once

#include <vector>

#include "passes/grad/train/weights.h"

namespace ge::grad {

// `reads`: the copy's input for each weight, by place. Assigns the statistics among them.
void NormalizeByBatch(Fn& fn, const std::vector<Weight>& weights, const std::vector<Val>& reads);

// The other way: turns a model exported in training mode into one for inference. BatchNormalization
// takes its running statistics, and Dropout hands its input on.
void ForInference(Fn& fn);

// Each Dropout becomes a product with a mask. A hash of an element's place, of the node's place
// among the Dropouts, of `seed` and of `done` (int64, updates so far) decides whether it drops: the
// same on every engine, and again after a restart.
void DropAtRandom(Fn& fn, int64_t seed, Val done);

}  // namespace ge::grad

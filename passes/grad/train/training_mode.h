// What behaves otherwise in training than in inference: BatchNormalization takes the statistics of
// the batch and keeps running ones, Dropout drops. One thread.
#pragma once

#include <vector>

#include "passes/grad/train/weights.h"

namespace ge::grad {

// `reads`: what the copy reads for each weight, by place. The statistics among them are assigned.
void NormalizeByBatch(Fn& fn, const std::vector<Weight>& weights, const std::vector<Val>& reads);

// The other way: what was exported in training mode is as for inference. BatchNormalization takes
// its running statistics, and Dropout hands on what it is given.
void ForInference(Fn& fn);

// Each Dropout becomes a product with a mask. Which elements it drops is a hash of their place, of
// the node's place among the Dropouts, of `seed` and of `done` (int64, updates so far): the same on
// every engine, and again after a restart.
void DropAtRandom(Fn& fn, int64_t seed, Val done);

}  // namespace ge::grad

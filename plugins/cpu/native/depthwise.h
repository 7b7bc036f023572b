// Depth-wise convolutions: each channel by windows of its own. Lines of a channel are copied with
// their padding, those and the columns that a stride leaves out apart, so that every tap reads
// whole vectors side by side. Lines that fit into the first caches make a strip; strips are shared
// among OpenMP's threads. Nothing here owns tensors; a loop is immutable, any number of threads may
// run it. Source: ONNX Conv with one input channel a group.
#pragma once

#include <memory>
#include <vector>

#include "plugins/cpu/kit/conv_pieces.h"
#include "plugins/cpu/kit/engine.h"

namespace ge_native {

using namespace ge_cpu;

// One input channel a group and at most two spatial axes.
bool IsDepthwise(const ConvSpec& c);

struct DepthwisePlan {
  DepthwisePlan(const ConvSpec& c, const Machine& m);
  ConvShape s;
  int threads = 1;
  int64_t width = 0;        // of a copied line, less what other phases of the stride have
  int64_t lines = 1;        // of the result in a strip
  int64_t strips = 1;       // a channel
  std::vector<int64_t> at;  // of each tap: where it reads for the strip's first number

  int64_t rows() const;               // copied lines of a phase
  uint64_t workspace_floats() const;  // of one thread
  double ns(const Machine& m) const;  // analytic
};

// Places: result, x, weights as ONNX has them, bias, workspace of all threads. Dense.
std::unique_ptr<Loop> DepthwiseLoop(const Simd& simd, const DepthwisePlan& plan);

}  // namespace ge_native

// One operator of a plugin, asked outside of any session: what its infer says of a node, and what
// its kernel computes in buffers between red zones. One thread.
#pragma once

#include <string>
#include <vector>

#include "ge/ge_plugin_op.h"
#include "sdk/conform/net.h"

namespace ge::conform {

// One node of the operator alone, and numbers for its inputs.
struct OpSample {
  Sample sample;  // its node's outputs have no type before Infer
  bool sized_by_data = false;
};

// Samples of an operator: element types that its ports take, by a few sets of shapes; attributes
// that are required get simple values. Operators may refuse each of them.
std::vector<OpSample> SamplesOf(const ge_op_def& op, uint64_t seed);

// Fills in the types of the node's outputs. False where infer refuses, with its text in *why; what
// it does against the contract the host complains of. An output may be left without sizes.
bool Infer(const ge_op_def& op, mock::Host& host, OpSample* sample, std::string* why);

// Runs the kernel once; outputs hold `garbage` before, and are given in *out.
bool RunKernel(const ge_op_def& op, mock::Host& host, const OpSample& sample, unsigned char garbage,
               std::vector<Tensor>* out, std::string* why);

}  // namespace ge::conform

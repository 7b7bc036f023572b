// Asks one operator of a plugin outside of any session: its infer about a node, and its kernel on
// buffers between red zones. One thread.
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

// Samples of an operator: its ports' element types, each with a few sets of shapes; required
// attributes get simple values. Operators may refuse any sample.
std::vector<OpSample> SamplesOf(const ge_op_def& op, uint64_t seed);

// Sets the types of the node's outputs. False with infer's text in *why if it refuses; the host
// reports breaches of the contract. An output may be left without sizes.
bool Infer(const ge_op_def& op, mock::Host& host, OpSample* sample, std::string* why);

// Runs the kernel once; outputs hold `garbage` before and go to *out.
bool RunKernel(const ge_op_def& op, mock::Host& host, const OpSample& sample, unsigned char garbage,
               std::vector<Tensor>* out, std::string* why);

}  // namespace ge::conform

// Losses: turn a net's output and its label into one number, and give that number's derivative by
// the net's output, written down directly: softmax and cross entropy together are exact where
// either alone is not. One thread.
#pragma once

#include <string>

#include "passes/grad/kit.h"

namespace ge::grad {

struct Loss {
  Val of;       // the value with a known derivative: the output, or the logits under it
  Val label;    // the new parameter, absent for "none"
  Val value;    // a scalar
  Val change;   // of `value` with `of`
  Val correct;  // int64: how many labels are the greatest class; absent where there are no classes
};

// Puts the loss behind value `output` of `fn`, with a new parameter `label`; `first_input` gives
// the number of samples where the output does not. Throws a Refusal.
Loss AddLoss(Fn& fn, const std::string& loss, uint32_t output);

}  // namespace ge::grad

// Losses: from what a net gives and what it should have given to one number, and how that number
// changes with the net's output, written down directly: softmax and cross entropy together are
// exact where either alone is not. One thread.
#pragma once

#include <string>

#include "passes/grad/kit.h"

namespace ge::grad {

struct Loss {
  Val of;       // the value whose change is known: the output, or the logits under it
  Val label;    // the new parameter, absent for "none"
  Val value;    // a scalar
  Val change;   // of `value` with `of`
  Val correct;  // int64: how many labels are the greatest class; absent where there are no classes
};

// Puts the loss behind value `output` of `fn`, with a new parameter `label`; `first_input` says the
// number of samples where the output does not. Throws a Refusal.
Loss AddLoss(Fn& fn, const std::string& loss, uint32_t output);

}  // namespace ge::grad

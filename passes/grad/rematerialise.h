// Rematerialise: less memory for more work. What the way back reads of the way there is computed
// again, a stretch at a time, instead of being kept. One thread.
#pragma once

#include <vector>

#include "passes/grad/reverse.h"

namespace ge::grad {

// Cuts the forward nodes of a function whose way back is built into `stretches` of about the same
// bytes that the way back reads. Of each but the last only what later stretches and `kept` read is
// kept; the rest is computed once more when the way back gets there. 0 and 1 change nothing.
// Answers how many nodes stand there twice.
size_t Rematerialise(Fn& fn, const Reverse& sweep, size_t stretches, const std::vector<Val>& kept);

}  // namespace ge::grad

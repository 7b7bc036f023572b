// The pass `parallel`: the step that `train` made, as one rank of a mesh runs it. Any thread.
#pragma once

#include "ge/ge_plugin_pass.h"

namespace ge::parallel {

ge_pass_def ParallelPass();

}  // namespace ge::parallel

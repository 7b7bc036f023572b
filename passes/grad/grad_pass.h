// The passes of this plugin, as records for plugin.cc.
#pragma once

#include "ge/ge_plugin_pass.h"

namespace ge::grad {

ge_pass_def ExpandGradientsPass();
ge_pass_def GradPass();
ge_pass_def TrainPass();

}  // namespace ge::grad

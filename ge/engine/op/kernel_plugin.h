// The engine that the host makes of a plugin's kernels (ge_plugin_op.h): it offers the nodes of its
// operators whose sizes are known, at the price of their work, and runs each as a segment of its
// own. It is an engine as every other, through the same table of functions. Its name is the
// plugin's, with "_ops" behind it where the plugin is an engine too. Thread-safe.
#pragma once

#include <memory>

#include "ge/engine/plugin/plugin.h"
#include "ge/ge_plugin_op.h"

namespace ge {

// Null where no operator of the plugin has a kernel that an engine can run. One for each plugin.
Result<std::shared_ptr<const Plugin>> KernelPlugin(const std::shared_ptr<const Plugin>& of);

}  // namespace ge

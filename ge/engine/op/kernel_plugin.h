// The engine that the host makes of a plugin's kernels (ge_plugin_op.h). It offers nodes of the
// plugin's operators with known sizes, at the price of their work, and runs each as a segment of
// its own. It is called through the table of functions, like every other engine. Its name is the
// plugin's, with "_ops" behind it where the plugin is an engine too. Thread-safe.
#pragma once

#include <memory>

#include "ge/engine/plugin/plugin.h"
#include "ge/ge_plugin_op.h"

namespace ge {

// Null where no operator of the plugin has a kernel that an engine can run. One for each plugin.
Result<std::shared_ptr<const Plugin>> KernelPlugin(const std::shared_ptr<const Plugin>& of);

}  // namespace ge

// Operators whose kernels are functions of Python: this extension is a plugin of them, which
// exports ge_plugin_query as any other. graphengine.custom_ops has the functions by their names.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace graphengine {

// The file of this plugin, once there are such operators; else empty. With the GIL held.
const std::string& CustomPlugin();

void AddCustom(nanobind::module_& m);

}  // namespace graphengine

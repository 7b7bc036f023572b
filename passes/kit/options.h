// Options of passes: their records for the host, and their values in a run. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/ge_plugin_pass.h"

namespace ge::passes {

// An option of a pass with its default; names and texts have to live as long as the plugin.
ge_attr_def TextSetting(const char* name, const char* otherwise);
ge_attr_def NumberSetting(const char* name, double otherwise);
ge_attr_def CountSetting(const char* name, int64_t otherwise);
std::string TextOption(const ge_edit* edit, uint32_t i);
std::vector<std::string> Listed(const std::string& text);  // by + or comma

}  // namespace ge::passes

// Entries of the model to derive others from, and values by name. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ge/ge_plugin_pass.h"

namespace ge::passes {

struct Source {
  uint32_t fn = 0;
  std::string name;
};
// The entry of this name, "" = the first.
Source EntryOf(const ge_edit* edit, const std::string& name);
// For names of new functions: the greatest number behind `prefix` in the model.
uint32_t LastName(const ge_edit* edit, std::string_view prefix);
// A copy of it, free to be derived.
uint32_t CopyOf(const ge_edit* edit, const Source& source, const std::string& name);

std::string NameOf(const ge_graph* graph, uint32_t value);

}  // namespace ge::passes

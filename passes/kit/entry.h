// Entries of the model that a pass derives others of, and values by name. One thread.
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
// For names of functions that are made: the greatest number behind `prefix` that the model has.
uint32_t LastName(const ge_edit* edit, std::string_view prefix);
// A copy of it that may be derived.
uint32_t CopyOf(const ge_edit* edit, const Source& source, const std::string& name);

std::string NameOf(const ge_graph* graph, uint32_t value);

}  // namespace ge::passes

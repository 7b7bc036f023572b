// What the passes of this plugin have in common: which entry is derived, and values by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/grad/reverse.h"

namespace ge::grad {

// Thrown by no one else's code, caught where the host's call enters: a refusal for the user.
struct Refusal {
  ge_rc rc;
  std::string text;
};

// An option of a pass with its default; names and texts have to live as long as the plugin.
ge_attr_def TextSetting(const char* name, const char* otherwise);
ge_attr_def NumberSetting(const char* name, double otherwise);
ge_attr_def CountSetting(const char* name, int64_t otherwise);
std::string TextOption(const ge_edit* e, uint32_t i);
std::vector<std::string> Listed(const std::string& text);  // by + or comma

struct Source {
  uint32_t fn = 0;
  std::string name;
};
// The entry of this name, "" = the first.
Source EntryOf(const ge_edit* e, const std::string& name);
// For names of functions that are made: the greatest number behind "grad." that the model has.
uint32_t LastName(const ge_edit* e);
// A copy of it that may be derived.
uint32_t CopyOf(const ge_edit* e, const Source& source, const std::string& name);

// An output by name or position; a float one.
uint32_t OutputOf(const ge_graph* g, const std::string& name);
// Inputs and weights by name; "*inputs" and "*weights" are all float ones.
std::vector<uint32_t> WantedOf(const ge_graph* g, const std::vector<std::string>& names);
std::string NameOf(const ge_graph* g, uint32_t value);
// Every reason, with what may be done; does not return.
[[noreturn]] void RefuseProblems(const Context& context);
// Runs `body` and turns what it throws into *err.
ge_rc Guard(ge_err* err, void (*body)(const ge_edit*), const ge_edit* e);

}  // namespace ge::grad

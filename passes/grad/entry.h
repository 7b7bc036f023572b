// Shared by the passes of this plugin: the values to derive, and by which others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/grad/reverse.h"

namespace ge::grad {

// An output by name or position; a float one.
uint32_t OutputOf(const ge_graph* graph, const std::string& name);
// Inputs and weights by name; "*inputs" and "*weights" are all float ones.
std::vector<uint32_t> WantedOf(const ge_graph* graph, const std::vector<std::string>& names);
// Throws every reason, with remedies; does not return.
[[noreturn]] void RefuseProblems(const Context& context);
// Runs `body` and turns an exception into *err.
ge_rc Guard(ge_err* err, void (*body)(const ge_edit*), const ge_edit* edit);

}  // namespace ge::grad

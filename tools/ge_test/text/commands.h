// The commands of `--- run`: each is a function named in commands.def and defined in any .cc of
// this folder. Commands share one CaseState and run in the order of the case. Used by one thread.
#pragma once

#include <any>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge::test {

struct CaseState {
  std::string file;                   // path of the case file
  std::string graph_text;             // the body of its graph section, with lines as in the file
  std::optional<Graph> graph;         // as the commands so far left it
  std::optional<std::string> output;  // what the last command printed; else the graph is compared
  std::map<std::string, std::string> inputs;  // "f32[2] = [1, 2]" by name; see ParseConst
  std::map<std::string, std::any> things;     // what commands leave for later ones: "plan", ...
};

// The text of the graph for comparison.
std::string CurrentText(const CaseState& state);

using Command = Status (*)(CaseState* state, const std::vector<std::string>& args);

#define GE_TEST_COMMAND(name, function, summary) \
  Status function(CaseState* state, const std::vector<std::string>& args);
#include "tools/ge_test/text/commands.def"
#undef GE_TEST_COMMAND

struct CommandInfo {
  const char* name;
  Command run;
  const char* summary;
};
const std::vector<CommandInfo>& AllCommands();

// Compares output `name` of the last `run run` with the tensor in `text`. A difference is a
// CaseError.
Status ExpectValue(const CaseState& state, const std::string& name, const std::string& text);

// A failure of the case itself, not of its subject: a `refuse` section does not catch it.
Status CaseError(const std::string& what);
bool IsCaseError(const Status& status);

}  // namespace ge::test

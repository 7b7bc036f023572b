// ge plugin new: copies a small plugin from the templates of share/graphengine/scaffold into a new
// folder. The plugin builds, has tests and runs. The command compiles nothing.
#pragma once

#include <string>

namespace ge::tool {

struct NewPlugin {
  std::string kind;       // "engine", "device", "op" or "pass": a folder of the templates
  std::string name;       // of the folder, the file and the plugin
  std::string language;   // "c" or "cpp"; empty: c, or the only one of the kind
  std::string dir = ".";  // where the folder is made
};

// Makes the folder, whole or not at all, and prints the commands to build, test and run it. Returns
// the exit code.
int MakeNewPlugin(const NewPlugin& wanted);

}  // namespace ge::tool

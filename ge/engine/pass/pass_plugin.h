// The passes of a plugin (ge_plugin_pass.h) as passes of the runner. Each record is checked and
// copied once; the Pass objects made of it are cheap. Any thread may read and make.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/plugin/plugin.h"
#include "ge/ge_plugin_pass.h"
#include "ge/stage/pass.h"

namespace ge {

struct PluginPass {
  ge_pass_def def{};
  std::string plugin, name, summary;
  PassKind kind = PassKind::kCanonicalise;
  uint8_t phases = 0;
  std::vector<std::string> before, after;
};

// All passes of a plugin. PLUGIN_ERROR where a record is not legal. The plugin's code stays loaded.
Result<std::vector<std::shared_ptr<const PluginPass>>> ReadPasses(const Plugin& plugin);
std::unique_ptr<Pass> MakePass(std::shared_ptr<const PluginPass> record);

}  // namespace ge

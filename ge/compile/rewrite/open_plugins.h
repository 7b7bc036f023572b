// Opens the other parts of a session's plugins: operators for the graph, engines for operators with
// kernels, and passes. Thread-safe.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/engine_list.h"
#include "ge/engine/pass/pass_plugin.h"
#include "ge/ops/op_table.h"

namespace ge {

struct OpenedPlugins {
  std::shared_ptr<const OpTable> ops;  // null: none
  EngineList kernels;
  std::vector<std::shared_ptr<const PluginPass>> passes;
};
// `list` as FindPlugins takes it; operators and passes of `engines` count too. `open` as in
// OpenEngines.
Result<OpenedPlugins> OpenPlugins(std::string_view list, const EngineList& engines,
                                  const OpenEngine& open);

}  // namespace ge

// What a session's plugins bring beside engines: operators for the graph, and engines for those of
// them that have kernels. Thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "ge/base/status.h"
#include "ge/engine/engine_list.h"
#include "ge/ops/op_table.h"

namespace ge {

struct OpenedPlugins {
  std::shared_ptr<const OpTable> ops;  // null: none
  EngineList kernels;
};
// `list` as FindPlugins takes it; the operators of `engines` count too. `open` as in OpenEngines.
Result<OpenedPlugins> OpenPlugins(std::string_view list, const EngineList& engines,
                                  const OpenEngine& open);

}  // namespace ge

#include "ge/compile/rewrite/open_operators.h"

#include <utility>

#include "ge/engine/op/op_plugin.h"
#include "ge/engine/plugin/discovery.h"
#include "ge/infer/infer.h"

namespace ge {

Result<std::shared_ptr<const OpTable>> OpenOperators(std::string_view list) {
  GE_ASSIGN_OR_RETURN(const auto plugins, FindPlugins(list));
  auto ops = std::make_shared<OpTable>();
  for (const auto& plugin : plugins) {
    if (!(plugin->desc->kinds & GE_KIND_OPS)) continue;
    GE_RETURN_IF_ERROR(AddOps(*plugin, InferNode, ops.get()));
  }
  if (ops->all().empty()) return std::shared_ptr<const OpTable>();
  return std::shared_ptr<const OpTable>(std::move(ops));
}

}  // namespace ge

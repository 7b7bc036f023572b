#include "ge/compile/rewrite/open_plugins.h"

#include <algorithm>
#include <vector>

#include "ge/engine/op/kernel_plugin.h"
#include "ge/engine/op/op_plugin.h"
#include "ge/engine/plugin/discovery.h"
#include "ge/infer/infer.h"

namespace ge {

Result<OpenedPlugins> OpenPlugins(std::string_view list, const EngineList& engines,
                                  const OpenEngine& open) {
  GE_ASSIGN_OR_RETURN(std::vector<std::shared_ptr<const Plugin>> plugins, FindPlugins(list));
  for (const auto& e : engines) {
    const auto same = [&](const auto& p) { return p->path == e->plugin().path; };
    if (!(e->plugin().desc->kinds & (GE_KIND_OPS | GE_KIND_PASSES))) continue;
    if (std::any_of(plugins.begin(), plugins.end(), same)) continue;
    GE_ASSIGN_OR_RETURN(auto plugin, LoadPlugin(e->plugin().path));
    plugins.push_back(std::move(plugin));
  }
  OpenedPlugins out;
  auto ops = std::make_shared<OpTable>();
  for (const auto& plugin : plugins) {
    GE_ASSIGN_OR_RETURN(const auto passes, ReadPasses(*plugin));
    out.passes.insert(out.passes.end(), passes.begin(), passes.end());
    if (!(plugin->desc->kinds & GE_KIND_OPS)) continue;
    GE_RETURN_IF_ERROR(AddOps(*plugin, InferNode, ops.get()));
    GE_ASSIGN_OR_RETURN(const auto kernels, KernelPlugin(plugin));
    if (!kernels) continue;
    GE_ASSIGN_OR_RETURN(auto engine, open(kernels, ""));
    out.kernels.push_back(std::move(engine));
  }
  if (!ops->all().empty()) out.ops = std::move(ops);
  return out;
}

}  // namespace ge

#include "ge/engine/engine_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/base/log.h"
#include "ge/engine/plugin.h"

namespace ge {

Result<std::vector<EngineSpec>> ParseEngineList(std::string_view list) {
  std::vector<EngineSpec> out;
  size_t begin = 0;
  while (begin <= list.size() && !list.empty()) {
    size_t end = std::min(list.find(',', begin), list.size());
    std::string item(list.substr(begin, end - begin));
    begin = end + 1;
    size_t colon = item.find(':');
    EngineSpec spec{item.substr(0, colon),
                    colon == std::string::npos ? "" : item.substr(colon + 1)};
    if (spec.name.empty()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("engine list '{}' has an empty item; write names separated by "
                                "commas, as in onednn,ref",
                                list));
    }
    out.push_back(std::move(spec));
  }
  return out;
}

Result<Numerics> NumericsFromName(std::string_view name, std::string_view what) {
  if (name == "fast") return Numerics::kFast;
  if (name == "exact") return Numerics::kExact;
  return Status(Code::kInvalidArgument,
                fmt::format("{} is '{}', wanted fast or exact", what, name));
}

Result<EngineList> OpenEngines(const std::vector<EngineSpec>& list, const OpenEngine& open) {
  EngineList engines;
  std::vector<std::pair<std::shared_ptr<const Plugin>, std::string>> wanted;
  for (const EngineSpec& spec : list) {
    GE_ASSIGN_OR_RETURN(auto plugin, FindPlugin(spec.name));
    if (!(plugin->desc->kinds & GE_KIND_ENGINE)) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("plugin '{}' has no engine; name it in the list of plugins, which "
                                "bring operators and passes",
                                plugin->path));
    }
    wanted.emplace_back(std::move(plugin), spec.options);
  }
  if (list.empty()) {
    std::string why;
    for (const Found& f : DiscoverPlugins()) {
      const bool engine = f.plugin && (f.plugin->desc->kinds & GE_KIND_ENGINE);
      if (engine) wanted.emplace_back(f.plugin, "");
      if (!f.plugin) why += fmt::format("; {}: {}", f.path, f.why);
    }
    if (wanted.empty()) {
      return Status(
          Code::kFailedPrecondition,
          "no engine plugin was found; set GE_PLUGIN_PATH to the folder of the engines" + why);
    }
  }
  Status refusal;
  for (auto& [plugin, text] : wanted) {
    auto engine = open(plugin, text);
    if (engine.ok()) {
      engines.push_back(std::move(*engine));
    } else if (!list.empty()) {
      return engine.status();
    } else {  // Nobody asked for this one: its library or device may not be here.
      refusal = engine.status();
      LogLine(1, refusal.ToString());
    }
  }
  if (engines.empty()) return refusal;
  return engines;
}

}  // namespace ge

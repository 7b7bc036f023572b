// Which plugins there are: what the search path holds, what of it is usable and why the rest is
// not. A manifest is believed about what is in a plugin, and its checks come before anything is
// opened; what opens is plugin.h. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/plugin/manifest.h"
#include "ge/engine/plugin/plugin.h"

namespace ge {

struct Found {
  enum class State : uint8_t {
    kFound,
    kSkipped,  // it could be loaded, but is not wanted, is the second of its name, or does not fit
               // this machine or host, as its manifest says
    kRefused,  // it must not be loaded, or is no plugin
  };
  std::string path;    // of the plugin; of the manifest where that cannot be read
  std::string origin;  // where it was found: "$GE_PLUGIN_EXTRA", "built in" ...
  State state = State::kFound;
  std::string why;         // of what is not kFound
  bool is_folder = false;  // one that cannot be read
  std::optional<Manifest> manifest;
  std::shared_ptr<const Plugin> plugin;  // null when it was not opened
  // As the plugin calls itself; as its manifest or file is called where it was not opened.
  std::string name() const;
  // It was opened, and brings more than operators and passes.
  bool HasEngine() const { return plugin && (plugin->desc->kinds & GE_KIND_ENGINE) != 0; }
};

// Every candidate of the search path (search_path.h), in order, opened as far as it is found.
std::vector<Found> DiscoverPlugins();
// The same of these files and folders, or with none of the search path; what a manifest describes
// is opened only with `open`.
std::vector<Found> ListPlugins(const std::vector<std::string>& paths, bool open);

// The one that an engine list names, by the engine's name or by a path with a slash. Of the search
// path it opens what a manifest says to hold the engine, or is called after, and files that are
// called NAME.so; others without a manifest only where there is none such, or it holds another
// engine, saying so at GE_LOG_LEVEL=2, since to open a plugin is to run its constructors. `what` it
// is called in refusals.
Result<std::shared_ptr<const Plugin>> FindPlugin(const std::string& name,
                                                 std::string_view what = "engine");
// The same for a list of plugins with operators or passes, "acme_ops,./mine.so".
// FAILED_PRECONDITION where one has neither.
Result<std::vector<std::shared_ptr<const Plugin>>> FindPlugins(std::string_view list);

}  // namespace ge

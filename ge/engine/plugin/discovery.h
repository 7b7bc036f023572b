// Lists plugins: candidates of the search path, usable ones among them and why the rest is not. The
// manifest says what a plugin contains, and its checks come before anything is opened; plugin.h
// opens. Thread-safe.
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
    kSkipped,  // could be loaded, but is not wanted, is the second of its name, or does not fit
               // this machine or host by its manifest
    kRefused,  // must not be loaded, or is no plugin
  };
  std::string path;    // of the plugin; of the manifest if that cannot be read
  std::string origin;  // where it was found: "$GE_PLUGIN_EXTRA", "built in" ...
  State state = State::kFound;
  std::string why;         // of anything but kFound
  bool is_folder = false;  // one that cannot be read
  std::optional<Manifest> manifest;
  std::shared_ptr<const Plugin> plugin;  // null when it was not opened
  // The plugin's own name; the name of its manifest or file where it was not opened.
  std::string name() const;
  // It was opened, and brings more than operators and passes.
  bool HasEngine() const { return plugin && (plugin->desc->kinds & GE_KIND_ENGINE) != 0; }
};

// Whether DiscoverPlugins may find an engine, as far as files and manifests tell: one may still be
// refused when it is opened.
bool MayFindEngine();
// Every candidate of the search path (search_path.h), in order, opened as far as it is found. One
// whose manifest tells of no engine stays closed.
std::vector<Found> DiscoverPlugins();
// The same for these files and folders, or without the search path; opens plugins with a manifest
// only if `open`.
std::vector<Found> ListPlugins(const std::vector<std::string>& paths, bool open);

// The plugin named in an engine list, by the engine's name or by a path with a slash. On the
// search path it opens plugins whose manifest lists the engine or has its name, and files NAME.so.
// It opens others without a manifest only if there are none such, or they hold another engine, and
// says so at GE_LOG_LEVEL=2, since opening a plugin runs its constructors. Refusals call it
// `what`. `options` as LoadForEngine takes them.
Result<std::shared_ptr<const Plugin>> FindPlugin(const std::string& name,
                                                 std::string_view what = "engine",
                                                 std::string_view options = {});
// The same for a list of plugins with operators or passes, "acme_ops,./mine.so".
// FAILED_PRECONDITION where one has neither.
Result<std::vector<std::shared_ptr<const Plugin>>> FindPlugins(std::string_view list);

}  // namespace ge

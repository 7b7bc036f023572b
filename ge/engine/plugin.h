// Finds, loads and, where need be, refuses plugins. Loaded code stays for the life of the
// process (RTLD_NODELETE); a second load of the same file answers the same Plugin.
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/ge_plugin.h"

namespace ge {

struct Plugin {
  std::string path, hash;  // hash: hex build id, else SHA-256 of the file
  std::string name, version, vendor;
  ge_plugin_desc record{};               // a copy of what the file says, as long as it is
  const ge_plugin_desc* desc = nullptr;  // of `record`
  // Of the engine that the host makes of a plugin's kernels (kernel_plugin.h): that plugin.
  std::shared_ptr<const Plugin> kernels_of;
};

// Opens one shared object and checks it: a file that strangers may not write (plugin_file.h),
// symbol, magic, version, header hash, sanitizer, tables, required functions. Refusals name the
// file, what was found, what is wanted and the fix.
Result<std::shared_ptr<const Plugin>> LoadPlugin(const std::string& path);

struct Found {
  std::string path;
  std::shared_ptr<const Plugin> plugin;  // null when refused
  std::string why;                       // the refusal, or why it is skipped (a duplicate name)
};
// Every candidate of the search path, in order: $GE_PLUGIN_PATH when set (colon-separated files or
// folders) replaces the built-in folder; $GE_PLUGIN_EXTRA adds. The built-in folder is
// `graphengine/` beside this library, or ../lib/graphengine from a program.
// Opens them all.
std::vector<Found> DiscoverPlugins();
// The one that an engine list names, by the engine's name or by a path with a slash. Opens files of
// the search path that are called NAME.so; others only where none is called so, or it holds another
// engine, saying so at GE_LOG_LEVEL=2, since to open a plugin is to run its constructors.
// `what` it is called in refusals.
Result<std::shared_ptr<const Plugin>> FindPlugin(const std::string& name,
                                                 std::string_view what = "engine");
// The same for a list of plugins with operators or passes, "acme_ops,./mine.so".
// FAILED_PRECONDITION where one has neither.
Result<std::vector<std::shared_ptr<const Plugin>>> FindPlugins(std::string_view list);

// The table that every engine gets.
const ge_host_api* HostApi();

}  // namespace ge

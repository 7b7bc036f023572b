// Loads plugins or refuses them; discovery.h finds them. Loaded code stays for the life of the
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
  ge_plugin_desc record{};               // a copy of the file's record, of the record's own length
  const ge_plugin_desc* desc = nullptr;  // of `record`
  // For the engine made of a plugin's kernels (kernel_plugin.h): that plugin.
  std::shared_ptr<const Plugin> kernels_of;
};

// ge_create_args.next for engine_create of such an engine: a tag of the host's own.
inline constexpr uint16_t kTagKernelsOf = 0xff01;
struct KernelsOf {
  ge_hdr h;
  const Plugin* plugin;
};

// Opens one shared object, by its path or its manifest's (manifest.h), and checks it: a manifest
// beside it fits, strangers may not write the file (plugin_file.h), the user allows it
// (plugin_filter.h), symbol, magic, version, header hash, sanitizer, tables, required functions.
// Refusals name the file, the found and the wanted value and the fix.
Result<std::shared_ptr<const Plugin>> LoadPlugin(const std::string& path);
// Makes those of the checks above that need not open it.
Status CheckPlugin(const std::string& path);

// The table given to every engine.
const ge_host_api* HostApi();

}  // namespace ge

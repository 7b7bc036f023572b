// Loads and, where need be, refuses plugins; discovery.h finds them. Loaded code stays for
// the life of the process (RTLD_NODELETE); a second load of the same file answers the same Plugin.
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

// What engine_create of such an engine gets in ge_create_args.next: a tag of the host's own.
inline constexpr uint16_t kTagKernelsOf = 0xff01;
struct KernelsOf {
  ge_hdr h;
  const Plugin* plugin;
};

// Opens one shared object, by its path or that of its manifest (manifest.h), and checks it: a
// manifest beside it that fits, a file that strangers may not write (plugin_file.h) and that is
// allowed (plugin_filter.h), symbol, magic, version, header hash, sanitizer, tables, required
// functions. Refusals name the file, what was found, what is wanted and the fix.
Result<std::shared_ptr<const Plugin>> LoadPlugin(const std::string& path);
// Of these checks those that need not open it.
Status CheckPlugin(const std::string& path);

// The table that every engine gets.
const ge_host_api* HostApi();

}  // namespace ge

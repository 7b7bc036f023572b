// Finds, loads and, where need be, refuses engine plugins. Loaded code stays for the life of the
// process (RTLD_NODELETE); a second load of the same file answers the same Plugin.
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/probe.h"
#include "ge/ge_plugin.h"

namespace ge {

struct Plugin {
  std::string path, hash;  // hash: hex build id, else SHA-256 of the file
  std::string name, version, vendor;
  const ge_plugin_desc* desc = nullptr;
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
Result<std::shared_ptr<const Plugin>> FindPlugin(const std::string& name);

// Process-wide facts, fixed when the first engine is created; a second value is refused.
struct ProcessFacts {
  uint32_t threads = 0;  // 0 = the cores that the process may use
  uint32_t isa_cap = 0;  // GE_ISA_*; 0 = what $GE_MAX_ISA names, else all that the host has
  // Measure the machine (or read what was measured), for prices that follow it. Else, and for every
  // later session of the process, the machine is the fixed one of the tests; see probe.h.
  bool probe = false;
};
// GE_ISA_* of native, sse4.2, avx2 or avx512; INVALID_ARGUMENT, saying that `what` is another word.
Result<uint32_t> IsaFromName(std::string_view name, std::string_view what);
Status FixProcessFacts(const ProcessFacts& wanted);
ProcessFacts CurrentProcessFacts();  // What is fixed now, defaults filled in.
// The record that engines get through ge_host_api; the fixed one before any session exists.
const MachineRecord& HostMachine();
// A line on stderr, when $GE_LOG_LEVEL (default 1) is at least `level`: 0 error .. 4 trace.
void LogLine(uint32_t level, std::string_view text);
// The table that every engine gets.
const ge_host_api* HostApi();

}  // namespace ge

// NAME.geplugin.json beside a plugin: its contents, the hosts it was built for and its needs, so it
// can be listed, and left out, without being opened. docs/plugin-guide.md lists the fields. It
// opens no plugin. Values; any thread may read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/plugin/plugin_file.h"

namespace ge {

struct AbiVersion {
  uint32_t major = 0, minor = 0;
  friend auto operator<=>(const AbiVersion&, const AbiVersion&) = default;
};

// A requirement on the machine for the plugin to be of use.
struct DriverProbe {
  enum class Kind : uint8_t { kFile, kLibrary, kEnvironment } kind = Kind::kFile;
  std::string name;  // an absolute path; or a library's path or soname, as the linker looks for it
  std::vector<std::string> variables = {};  // of kEnvironment, of which one is set
  // Of kLibrary: where it may lie, too, ahead of where the linker looks. $NAME at the begin of one
  // is an environment variable; the folder counts where that is set.
  std::vector<std::string> folders = {};
  // Of kLibrary: the engine's option that names its folder. Where it is given, no other counts.
  std::string option = {};
};

struct Manifest {
  std::string path;                    // of the manifest
  std::string file;                    // of the plugin: an absolute path
  std::string name;                    // NAME
  std::string sha256;                  // lower-case hex; empty = not said
  AbiVersion abi_least;                // the least host version ...
  std::optional<AbiVersion> abi_most;  // ... and the greatest; not set: all later of this major one
  std::vector<std::string> kinds;      // "engine", "ops", "passes"
  std::vector<std::string> engines, ops, passes;  // names of its contents
  std::string vendor, version, licence;
  std::vector<DriverProbe> probes;
};

constexpr std::string_view kManifestEnding = ".geplugin.json";
// Bytes of one manifest. They hold names; this is far more than the longest of them needs.
constexpr size_t kMostManifestBytes = size_t{1} << 18;

// `path`: of the manifest, absolute. DATA_CORRUPT naming the file, the field, the found and the
// wanted value.
Result<Manifest> ParseManifest(std::string_view text, const std::string& path);
// Reads it from a file that strangers may not write.
Result<Manifest> ReadManifest(const std::string& path, const WritersRule& rule);
// The manifest beside a plugin file, if any.
Result<std::optional<Manifest>> ManifestBeside(const std::string& plugin, const WritersRule& rule);

// Why the plugin is of no use in a host of this version on this machine; empty where it is.
// `options`: those that its engine will be given, as the user wrote them.
std::string WhyNotHere(const Manifest& manifest, AbiVersion host, std::string_view options = {});

}  // namespace ge

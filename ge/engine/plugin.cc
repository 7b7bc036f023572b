#include "ge/engine/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

#include "ge/base/log.h"
#include "ge/base/own_folder.h"
#include "ge/base/sha256.h"
#include "ge/engine/build_id.h"
#include "ge/engine/plugin_file.h"
#include "ge/engine/record.h"
#include "ge/host/library_environment.h"

namespace ge {
namespace {

namespace fs = std::filesystem;

Status Refuse(const std::string& path, const std::string& text) {
  return Status(Code::kFailedPrecondition, fmt::format("plugin '{}' is refused: {}", path, text));
}

constexpr uint32_t kSanitizer = GE_SANITIZER_HERE;

Status CheckName(const std::string& path, ge_str name) {
  bool good = name.p != nullptr && name.n > 0 && name.n <= 64;
  for (uint64_t i = 0; good && i < name.n; ++i) {
    char c = name.p[i];
    good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  }
  if (good) return {};
  return Refuse(path, "its descriptor has no legal name; wanted 1 to 64 characters of [a-z0-9_]");
}

Status CheckDescriptor(const std::string& path, const ge_plugin_desc& d) {
  if (d.magic != GE_PLUGIN_MAGIC) {
    return Refuse(path, fmt::format("its descriptor begins with {:#x}, wanted the magic number "
                                    "{:#x}; is it an engine plugin?",
                                    d.magic, GE_PLUGIN_MAGIC));
  }
  if (d.abi_major != GE_ABI_MAJOR) {
    return Refuse(path, fmt::format("it was built for ABI {}.{}, this host speaks {}.{}; use a "
                                    "plugin and a host of the same major version",
                                    d.abi_major, d.abi_minor, GE_ABI_MAJOR, GE_ABI_MINOR));
  }
  if (d.header_hash != GE_HEADER_HASH) {
    return Refuse(path, fmt::format("it was built from another ge_plugin.h (hash {:#x}, wanted "
                                    "{:#x}); rebuild it with this host's sdk/include",
                                    d.header_hash, static_cast<uint64_t>(GE_HEADER_HASH)));
  }
  for (const Status& s : {WantFirstSize(d.h, kFirstSize<ge_plugin_desc>, "its descriptor"),
                          WantUnderstood(d.h, "its descriptor")}) {
    if (!s.ok()) return Refuse(path, s.message());
  }
  GE_RETURN_IF_ERROR(CheckName(path, d.name));
  if (!(d.kinds & (GE_KIND_ENGINE | GE_KIND_OPS | GE_KIND_PASSES))) {
    return Refuse(path, fmt::format("its kinds are {:#x}; this host loads engines ({:#x}), "
                                    "operators ({:#x}) and passes ({:#x})",
                                    d.kinds, static_cast<uint32_t>(GE_KIND_ENGINE),
                                    static_cast<uint32_t>(GE_KIND_OPS),
                                    static_cast<uint32_t>(GE_KIND_PASSES)));
  }
  if (d.sanitizer != kSanitizer) {
    return Refuse(path, fmt::format("it was built with sanitizer {}, the host with {}; build both "
                                    "alike",
                                    d.sanitizer, kSanitizer));
  }
  return {};
}

Status CheckTables(const std::string& path, const ge_plugin_desc& d) {
  if (!(d.kinds & GE_KIND_ENGINE)) return {};
  if (d.engine_create == nullptr) return Refuse(path, "engine_create is NULL; it is required");
  if (d.engine == nullptr) return Refuse(path, "its engine table is NULL; point it to one");
  const char* table = "its engine table (query, compile, enqueue)";
  for (const Status& s : {WantFirstSize(d.engine->h, kFirstSize<ge_engine_api>, table),
                          WantUnderstood(d.engine->h, table)}) {
    if (!s.ok()) return Refuse(path, s.message());
  }
  const char* missing = !d.engine->query     ? "query"
                        : !d.engine->compile ? "compile"
                        : !d.engine->enqueue ? "enqueue"
                                             : nullptr;
  if (missing) return Refuse(path, fmt::format("the required function {} is NULL", missing));
  return {};
}

Result<std::shared_ptr<const Plugin>> Open(const std::string& path) {
  static const WritersRule rule = SystemWritersRule();
  GE_RETURN_IF_ERROR(CheckPluginFile(path, rule));
  void* handle = nullptr;
  {
    const LibraryEnvironment environment;
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
  if (!handle) {
    const char* text = dlerror();
    return Refuse(path, fmt::format("it cannot be loaded: {}", text ? text : "no reason given"));
  }
  auto query =
      reinterpret_cast<const ge_plugin_desc* (*)(ge_query_args*)>(dlsym(handle, "ge_plugin_query"));
  if (!query) return Refuse(path, "it exports no ge_plugin_query; that one symbol is required");
  ge_query_args args{};
  args.h = GE_HDR(ge_query_args, GE_TAG_QUERY_ARGS);
  args.host_major = GE_ABI_MAJOR, args.host_minor = GE_ABI_MINOR;
  args.host_header_hash = GE_HEADER_HASH;
  const ge_plugin_desc* desc = query(&args);
  if (!desc) {
    args.refusal[sizeof args.refusal - 1] = 0;
    return Refuse(path, args.refusal[0] ? fmt::format("it says: {}", args.refusal)
                                        : "ge_plugin_query answered NULL and gave no reason");
  }
  GE_RETURN_IF_ERROR(CheckDescriptor(path, *desc));
  GE_RETURN_IF_ERROR(CheckTables(path, *desc));
  auto plugin = std::make_shared<Plugin>();
  plugin->path = path;
  plugin->hash = BuildIdAt(reinterpret_cast<const void*>(query));
  if (plugin->hash.empty()) {
    GE_ASSIGN_OR_RETURN(plugin->hash, Sha256OfFile(path));
  }
  auto text = [](ge_str s) { return s.p ? std::string(s.p, std::min<uint64_t>(s.n, 256)) : ""; };
  plugin->name = text(desc->name);
  plugin->version = text(desc->version);
  plugin->vendor = text(desc->vendor);
  std::memcpy(&plugin->record, desc,
              std::min<size_t>(offsetof(ge_plugin_desc, h) + desc->h.size, sizeof plugin->record));
  plugin->desc = &plugin->record;
  return std::shared_ptr<const Plugin>(std::move(plugin));
}

std::string BuiltInFolder() {
  std::error_code ec;
  const fs::path own = OwnFolder();
  if (own.empty()) return "";
  for (const char* relative : {"graphengine", "../lib/graphengine"}) {
    const fs::path folder = own / relative;
    if (fs::is_directory(folder, ec)) return folder.lexically_normal().string();
  }
  return "";
}

void AddCandidates(const std::string& list, std::vector<std::string>* out) {
  size_t begin = 0;
  while (begin <= list.size()) {
    size_t end = std::min(list.find(':', begin), list.size());
    std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    if (item.empty()) continue;
    std::error_code ec;
    if (!fs::is_directory(item, ec)) {
      out->push_back(item);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(item, ec)) {
      if (entry.path().extension() == ".so") inside.push_back(entry.path().string());
    }
    std::sort(inside.begin(), inside.end());
    out->insert(out->end(), inside.begin(), inside.end());
  }
}

std::vector<std::string> SearchPath() {
  std::vector<std::string> paths;
  const char* replace = secure_getenv("GE_PLUGIN_PATH");
  const char* extra = secure_getenv("GE_PLUGIN_EXTRA");
  AddCandidates(replace ? replace : BuiltInFolder(), &paths);
  if (extra) AddCandidates(extra, &paths);
  return paths;
}

}  // namespace

Result<std::shared_ptr<const Plugin>> LoadPlugin(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Plugin>> loaded;
  std::error_code ec;
  std::string canonical = fs::canonical(path, ec).string();
  std::lock_guard<std::mutex> lock(mutex);
  if (auto it = loaded.find(canonical); !ec && it != loaded.end()) return it->second;
  GE_ASSIGN_OR_RETURN(auto plugin, Open(ec ? path : canonical));
  loaded[canonical] = plugin;
  return plugin;
}

std::vector<Found> DiscoverPlugins() {
  std::vector<Found> out;
  std::map<std::string, std::string> first;  // name -> path
  for (const std::string& path : SearchPath()) {
    Found found{path, nullptr, ""};
    auto plugin = LoadPlugin(path);
    if (!plugin.ok()) {
      found.why = plugin.status().message();
    } else if (auto [it, fresh] = first.emplace((*plugin)->name, path);
               !fresh && it->second != path) {
      found.why =
          fmt::format("skipped: engine '{}' was found first in '{}'", (*plugin)->name, it->second);
    } else {
      found.plugin = *plugin;
    }
    out.push_back(std::move(found));
  }
  return out;
}

Result<std::shared_ptr<const Plugin>> FindPlugin(const std::string& name, std::string_view what) {
  if (name.find('/') != std::string::npos) return LoadPlugin(name);
  // A plugin's constructors run when it is opened, and its name is known only then.
  std::vector<std::string> paths = SearchPath();
  const auto others = std::stable_partition(
      paths.begin(), paths.end(), [&](const auto& path) { return fs::path(path).stem() == name; });
  std::string names, refusals;
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    if (path == others) {
      if (!refusals.empty()) break;
      LogLine(2, fmt::format("{} '{}' is in no file '{}.so' of the search path: the other plugins "
                             "are opened to look for it",
                             what, name, name));
    }
    auto plugin = LoadPlugin(*path);
    if (plugin.ok() && (*plugin)->name == name) return plugin;
    if (plugin.ok()) names += (names.empty() ? "" : ", ") + (*plugin)->name;
    if (!plugin.ok() && path < others) refusals += "; " + plugin.status().message();
  }
  std::error_code ec;
  if (fs::is_regular_file(name, ec)) refusals += fmt::format("; for the file write ./{}", name);
  return Status(
      Code::kFailedPrecondition,
      fmt::format("{} '{}' is not loaded; found: {}; ge plugins tells what was refused and "
                  "why{}",
                  what, name, names.empty() ? "none" : names, refusals));
}

Result<std::vector<std::shared_ptr<const Plugin>>> FindPlugins(std::string_view list) {
  std::vector<std::shared_ptr<const Plugin>> out;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string item(list.substr(begin, end - begin));
    begin = end + 1;
    if (item.empty()) continue;
    GE_ASSIGN_OR_RETURN(auto plugin, FindPlugin(item, "plugin"));
    if (!(plugin->desc->kinds & (GE_KIND_OPS | GE_KIND_PASSES))) {
      return Refuse(plugin->path,
                    "it brings neither operators nor passes; an engine is named in "
                    "the list of engines");
    }
    if (std::find(out.begin(), out.end(), plugin) == out.end()) out.push_back(std::move(plugin));
  }
  return out;
}

}  // namespace ge

#include "ge/engine/plugin/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include "ge/base/no_throw.h"
#include "ge/engine/plugin/build_id.h"
#include "ge/engine/plugin/load_for_engine.h"
#include "ge/engine/plugin/manifest.h"
#include "ge/engine/plugin/plugin_file.h"
#include "ge/engine/plugin/plugin_filter.h"
#include "ge/engine/plugin/record.h"
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
  // Structs only grow, and their sizes tell how far: minors and hashes are not compared.
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

// Slots that come together or not at all: what is wrong with them, else empty.
std::string HalfOfGroup(const ge_engine_api& api) {
  const auto half = [](int filled, std::string_view names) -> std::string {
    if (filled == 0 || filled == 4) return "";
    return fmt::format("it fills {} of its four slots {}; fill all four or none", filled, names);
  };
  std::string text = half((api.stamps_create != nullptr) + (api.stamps_destroy != nullptr) +
                              (api.stream_stamp != nullptr) + (api.stamps_read != nullptr),
                          "stamps_create, stamps_destroy, stream_stamp and stamps_read");
  if (!text.empty()) return text;
  return half((api.capture_begin != nullptr) + (api.capture_end != nullptr) +
                  (api.capture_launch != nullptr) + (api.capture_destroy != nullptr),
              "capture_begin, capture_end, capture_launch and capture_destroy");
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
  GE_ASSIGN_OR_RETURN(const ge_engine_api api, ReadRecord(d.engine, table));
  const std::string half = HalfOfGroup(api);
  return half.empty() ? Status() : Refuse(path, half);
}

const WritersRule& OwnRule() {
  static const WritersRule rule = SystemWritersRule();
  return rule;
}

// Opens the file and checks all that can be told without running it.
Result<TrustedFile> OpenChecked(const std::string& path, const Manifest* manifest) {
  GE_ASSIGN_OR_RETURN(TrustedFile file, TrustedFile::Open("plugin", path, OwnRule()));
  GE_RETURN_IF_ERROR(CheckAllowed(file, path, OwnRule()));
  if (manifest == nullptr || manifest->sha256.empty()) return file;
  GE_ASSIGN_OR_RETURN(const std::string digest, file.Sha256());
  if (digest == manifest->sha256) return file;
  return Status(Code::kDataCorrupt,
                fmt::format("plugin '{}' is refused: its SHA-256 is {}, but its manifest '{}' says "
                            "{}; install both again",
                            path, digest, manifest->path, manifest->sha256));
}

Status CheckManifest(const std::string& path, const Manifest* manifest, const ge_plugin_desc& d) {
  if (manifest == nullptr || !(d.kinds & GE_KIND_ENGINE)) return {};
  const std::string name(d.name.p, d.name.n);
  const auto& said = manifest->engines;
  if (std::find(said.begin(), said.end(), name) != said.end()) return {};
  return Refuse(path, fmt::format("it holds engine '{}', but its manifest '{}' says '{}'; correct "
                                  "\"engines\" there",
                                  name, manifest->path, fmt::join(said, ", ")));
}

Result<std::shared_ptr<const Plugin>> Open(const std::string& path, const Manifest* manifest) {
  GE_ASSIGN_OR_RETURN(const TrustedFile file, OpenChecked(path, manifest));
  void* handle = nullptr;
  ReadyToCatch();
  {
    const LibraryEnvironment environment;
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
  if (!handle) {
    const char* text = dlerror();
    return Refuse(path, fmt::format("it cannot be loaded: {}", text ? text : "no reason given"));
  }
  // The linker opens files by name; plugins find their own data by it, so it gets no other.
  GE_RETURN_IF_ERROR(file.CheckStill());
  auto query =
      reinterpret_cast<const ge_plugin_desc* (*)(ge_query_args*)>(dlsym(handle, "ge_plugin_query"));
  if (!query) return Refuse(path, "it exports no ge_plugin_query; that one symbol is required");
  ge_query_args args{};
  args.h = GE_HDR(ge_query_args, GE_TAG_QUERY_ARGS);
  args.host_major = GE_ABI_MAJOR;
  args.host_minor = GE_ABI_MINOR;
  args.host_header_hash = GE_HEADER_HASH;
  const ge_plugin_desc* desc = nullptr;
  ge_err thrown{};
  if (NoThrow<ge_rc>(1, 1, &thrown, [&] { return desc = query(&args), 0; }) != 0) {
    return Refuse(path, "of ge_plugin_query: " + std::string(thrown.msg, thrown.msg_len));
  }
  if (!desc) {
    args.refusal[sizeof args.refusal - 1] = 0;
    return Refuse(path, args.refusal[0] ? fmt::format("it says: {}", args.refusal)
                                        : "ge_plugin_query answered NULL and gave no reason");
  }
  GE_RETURN_IF_ERROR(CheckDescriptor(path, *desc));
  GE_RETURN_IF_ERROR(CheckTables(path, *desc));
  GE_RETURN_IF_ERROR(CheckManifest(path, manifest, *desc));
  auto plugin = std::make_shared<Plugin>();
  plugin->path = path;
  plugin->hash = BuildIdAt(reinterpret_cast<const void*>(query));
  if (plugin->hash.empty()) {
    GE_ASSIGN_OR_RETURN(plugin->hash, file.Sha256());
  }
  auto text = [](ge_str s) { return s.p ? std::string(s.p, std::min<uint64_t>(s.n, 256)) : ""; };
  plugin->name = text(desc->name);
  plugin->version = text(desc->version);
  plugin->vendor = text(desc->vendor);
  std::memcpy(static_cast<void*>(&plugin->record), desc,
              std::min<size_t>(desc->h.size, sizeof plugin->record));
  plugin->desc = &plugin->record;
  return std::shared_ptr<const Plugin>(std::move(plugin));
}

// A plugin by the name of its file or its manifest.
struct Target {
  std::string file;  // absolute
  std::optional<Manifest> manifest;
};

Result<Target> TargetOf(const std::string& path) {
  std::error_code ec;
  if (fs::status(path, ec).type() == fs::file_type::not_found) {  // as the user wrote it
    return Status(Code::kIoError, fmt::format("plugin '{}' cannot be read: No such file or "
                                              "directory; give the path of an existing .so file",
                                              path));
  }
  const fs::path given = fs::absolute(path, ec).lexically_normal();
  // The file itself may be a link, beside which its manifest lies.
  const fs::path folder = fs::weakly_canonical(given.parent_path(), ec);
  Target target{(folder / given.filename()).string(), std::nullopt};
  if (target.file.ends_with(kManifestEnding)) {
    GE_ASSIGN_OR_RETURN(target.manifest, ReadManifest(target.file, OwnRule()));
    target.file = target.manifest->file;
  } else {
    GE_ASSIGN_OR_RETURN(target.manifest, ManifestBeside(target.file, OwnRule()));
  }
  const fs::path real = fs::weakly_canonical(target.file, ec);
  if (!ec) target.file = real.string();
  return target;
}

Status FitsHere(const Target& target, std::string_view options) {
  if (!target.manifest) return {};
  const std::string unfit = WhyNotHere(*target.manifest, {GE_ABI_MAJOR, GE_ABI_MINOR}, options);
  return unfit.empty() ? Status() : Refuse(target.file, unfit);
}

}  // namespace

Status CheckPlugin(const std::string& path) {
  GE_ASSIGN_OR_RETURN(const Target target, TargetOf(path));
  GE_RETURN_IF_ERROR(FitsHere(target, {}));
  auto file = OpenChecked(target.file, target.manifest ? &*target.manifest : nullptr);
  return file.ok() ? Status() : std::move(file).status();
}

Result<std::shared_ptr<const Plugin>> LoadPlugin(const std::string& path) {
  return LoadForEngine(path, {});
}

Result<std::shared_ptr<const Plugin>> LoadForEngine(const std::string& path,
                                                    std::string_view options) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Plugin>> loaded;
  GE_ASSIGN_OR_RETURN(const Target target, TargetOf(path));
  std::lock_guard<std::mutex> lock(mutex);
  if (auto it = loaded.find(target.file); it != loaded.end()) return it->second;
  GE_RETURN_IF_ERROR(FitsHere(target, options));
  GE_ASSIGN_OR_RETURN(auto plugin,
                      Open(target.file, target.manifest ? &*target.manifest : nullptr));
  loaded[target.file] = plugin;
  return plugin;
}

}  // namespace ge

#include "ge/engine/plugin/manifest.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ge/base/text/json_text.h"
#include "ge/engine/plugin/driver_probe.h"
#include "ge/ge_plugin.hpp"

namespace ge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMostText = 4096, kMostNames = 4096;

// Reads the fields of one manifest; the first fault counts.
class Reader {
 public:
  Reader(const json& object, const std::string& path) : object_(object), path_(path) {}

  std::string Text(const char* key, bool required = false) {
    const json* found = Find(key, required);
    if (found == nullptr) return "";
    return TextOf(*found, key);
  }
  std::vector<std::string> Texts(const char* key) {
    std::vector<std::string> out;
    const json* found = Find(key, false);
    if (found == nullptr) return out;
    if (!found->is_array() || found->size() > kMostNames) {
      Fail(key, *found, "a list of names");
      return out;
    }
    for (const json& item : *found) out.push_back(TextOf(item, key));
    return out;
  }
  std::optional<AbiVersion> Version(const json& object, const char* key, bool required) {
    const auto it = object.find(key);
    if (it == object.end()) {
      if (required) Fail(key, json(), "\"MAJOR.MINOR\"");
      return std::nullopt;
    }
    AbiVersion v;
    const std::string text = it->is_string() ? it->get<std::string>() : "";
    const char* end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, v.major);
    const bool dot = major.ec == std::errc() && major.ptr != end && *major.ptr == '.';
    const auto minor = dot ? std::from_chars(major.ptr + 1, end, v.minor) : major;
    if (!dot || minor.ec != std::errc() || minor.ptr != end) Fail(key, *it, "\"MAJOR.MINOR\"");
    return v;
  }
  const json* Find(const char* key, bool required) {
    const auto it = object_.find(key);
    if (it != object_.end()) return &*it;
    if (required) Fail(key, json(), "it to be there");
    return nullptr;
  }
  void Fail(std::string_view key, const json& found, std::string_view wanted) {
    if (!status_.ok()) return;
    const std::string text =
        found.is_null() ? "nothing"
                        : found.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 200);
    status_ = Status(Code::kDataCorrupt, fmt::format("manifest '{}': \"{}\" holds {}, wanted {}",
                                                     path_, key, text, wanted));
  }
  const Status& status() const { return status_; }

 private:
  std::string TextOf(const json& value, const char* key) {
    if (value.is_string() && value.get_ref<const std::string&>().size() <= kMostText) {
      return value.get<std::string>();
    }
    Fail(key, value, fmt::format("text of at most {} bytes", kMostText));
    return "";
  }
  const json& object_;
  const std::string& path_;
  Status status_;
};

void ReadFile(Reader* r, Manifest* m) {
  const std::string file = r->Text("file", true);
  const bool plain = !file.empty() && file != "." && file != ".." &&
                     file.find('/') == std::string::npos && file.find('\0') == std::string::npos;
  if (!plain) r->Fail("file", file, "the name of a file in the manifest's own folder");
  m->file = (fs::path(m->path).parent_path() / file).string();
}

void ReadDigest(Reader* r, Manifest* m) {
  m->sha256 = r->Text("sha256");
  for (char& c : m->sha256) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  const bool hex = m->sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!m->sha256.empty() && (m->sha256.size() != 64 || !hex)) {
    r->Fail("sha256", m->sha256, "64 hexadecimal digits, as sha256sum prints them");
  }
}

void ReadAbi(Reader* r, Manifest* m) {
  const json* abi = r->Find("abi", true);
  if (abi == nullptr) return;
  if (!abi->is_object()) {
    return r->Fail("abi", *abi, "{\"least\": \"MAJOR.MINOR\"}, and \"most\" where there is one");
  }
  m->abi_least = r->Version(*abi, "least", true).value_or(AbiVersion{});
  m->abi_most = r->Version(*abi, "most", false);
  if (m->abi_most && *m->abi_most < m->abi_least) {
    r->Fail("abi", *abi, "\"most\" not below \"least\"");
  }
}

void ReadKinds(Reader* r, Manifest* m) {
  m->kinds = r->Texts("kinds");
  m->engines = r->Texts("engines");
  m->ops = r->Texts("ops");
  m->passes = r->Texts("passes");
  const char* known[] = {"engine", "ops", "passes"};
  for (const std::string& kind : m->kinds) {
    if (std::find(std::begin(known), std::end(known), kind) == std::end(known)) {
      r->Fail("kinds", kind, "engine, ops or passes");
    }
  }
  if (m->kinds.empty()) r->Fail("kinds", json(m->kinds), "one at least of engine, ops, passes");
  const bool engine = std::find(m->kinds.begin(), m->kinds.end(), "engine") != m->kinds.end();
  if (engine && m->engines.empty()) m->engines = {m->name};
}

// The texts of a list; empty where one of them is none, or empty.
std::vector<std::string> TextsOf(const json& list) {
  std::vector<std::string> texts;
  for (const json& item : list) {
    if (!item.is_string() || item.get<std::string>().empty()) return {};
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

bool ReadLibrary(Reader* r, const json& item, DriverProbe* probe) {
  probe->kind = DriverProbe::Kind::kLibrary;
  probe->name = item["library"].get<std::string>();
  if (item.contains("folders")) {
    probe->folders = TextsOf(item["folders"]);
    const bool rooted =
        std::all_of(probe->folders.begin(), probe->folders.end(),
                    [](const std::string& f) { return f[0] == '/' || f[0] == '$'; });
    if (probe->folders.empty() || !rooted) {
      r->Fail("probe", item, "folders that begin with / or with $NAME, an environment variable");
      return false;
    }
  }
  if (item.contains("option")) {
    probe->option = item["option"].is_string() ? item["option"].get<std::string>() : "";
    if (probe->option.empty() || probe->option.find_first_of("=;,") != std::string::npos) {
      r->Fail("probe", item, "the name of an option of the engine's");
      return false;
    }
  }
  return true;
}

// False where it has failed.
bool ReadProbe(Reader* r, const json& item, DriverProbe* probe) {
  // An object with this key and no others than `more`.
  const auto is = [&](const char* key, const std::vector<std::string>& more = {}) {
    if (!item.is_object() || !item.contains(key)) return false;
    const auto there = [&](const std::string& k) { return item.contains(k); };
    return item.size() == 1 + static_cast<size_t>(std::count_if(more.begin(), more.end(), there));
  };
  if (is("environment")) {
    probe->kind = DriverProbe::Kind::kEnvironment;
    probe->variables = TextsOf(item["environment"]);
    if (!probe->variables.empty()) return true;
    r->Fail("probe", item, "a list of names of environment variables");
    return false;
  }
  const bool library = is("library", {"folders", "option"});
  const bool file = is("file");
  if (!(library && item["library"].is_string()) && !(file && item["file"].is_string())) {
    r->Fail("probe", item,
            "{\"file\": PATH} or {\"library\": NAME, \"folders\": [...], \"option\": KEY} or "
            "{\"environment\": [NAME, ...]}, or a list of such");
    return false;
  }
  if (library && !ReadLibrary(r, item, probe)) return false;
  if (file) probe->name = item["file"].get<std::string>();
  if (!probe->name.empty() && (library || probe->name[0] == '/')) return true;
  r->Fail("probe", item, "an absolute path, or the name of a library");
  return false;
}

void ReadProbes(Reader* r, Manifest* m) {
  const json* probes = r->Find("probe", false);
  if (probes == nullptr) return;
  const json one = probes->is_array() ? json() : json::array({*probes});
  for (const json& item : probes->is_array() ? *probes : one) {
    DriverProbe probe;
    if (!ReadProbe(r, item, &probe)) return;
    m->probes.push_back(std::move(probe));
  }
}

// Whether a library lies in one of these folders of a manifest.
bool LiesIn(const std::vector<std::string>& folders, const std::string& name) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& given) {
    std::string folder = given;
    if (folder[0] == '$') {
      const size_t end = std::min(folder.find('/'), folder.size());
      const char* value = std::getenv(folder.substr(1, end - 1).c_str());
      if (value == nullptr || *value == 0) return false;
      folder = value + folder.substr(end);
    }
    return access((folder + "/" + name).c_str(), R_OK) == 0;
  });
}

// The value of an engine's option; empty where it is not given.
std::string ValueOf(std::string_view options, const std::string& key) {
  for (plugin::OptionText o; !key.empty() && plugin::NextOption(&options, &o);) {
    if (o.key == key) return std::string(o.value);
  }
  return "";
}

// Why a library that the plugin needs is not there; empty where it is.
std::string WhyNoLibrary(const DriverProbe& p, std::string_view options) {
  const std::string folder = ValueOf(options, p.option);
  if (!folder.empty()) {
    if (access((folder + "/" + p.name).c_str(), R_OK) == 0) return "";
    return fmt::format("the library '{}' that it needs is not in the folder '{}' of its option {}",
                       p.name, folder, p.option);
  }
  if (LiesIn(p.folders, p.name) || LibraryIsThere(p.name)) return "";
  const std::string text =
      fmt::format("the library '{}' that it needs is not on this machine", p.name);
  return p.option.empty() ? text
                          : text + fmt::format("; the option {}=DIR names its folder", p.option);
}

}  // namespace

Result<Manifest> ParseManifest(std::string_view text, const std::string& path) {
  const auto read = ParseJson(text);
  if (!read.ok() && read.status().code() != Code::kDataCorrupt) return read.status();
  if (!read.ok() || !read->is_object()) {
    const std::string why = read.ok() ? "" : ": " + read.status().message();
    return Status(Code::kDataCorrupt, fmt::format("manifest '{}' is no JSON object{}; see "
                                                  "docs/plugin-guide.md",
                                                  path, why));
  }
  const json& parsed = *read;
  Manifest m;
  m.path = path;
  m.name = fs::path(path).filename().string();
  if (m.name.ends_with(kManifestEnding)) m.name.resize(m.name.size() - kManifestEnding.size());
  Reader r(parsed, path);
  // What only later hosts can read says so; other new fields are passed over.
  const json* format = r.Find("format", true);
  if (format != nullptr && *format != json(1)) r.Fail("format", *format, "1; use a newer host");
  ReadFile(&r, &m);
  ReadDigest(&r, &m);
  ReadAbi(&r, &m);
  ReadKinds(&r, &m);
  ReadProbes(&r, &m);
  m.vendor = r.Text("vendor");
  m.version = r.Text("version");
  m.licence = r.Text("licence");
  if (!r.status().ok()) return r.status();
  return m;
}

Result<Manifest> ReadManifest(const std::string& path, const WritersRule& rule) {
  std::error_code ec;
  const fs::path real = fs::canonical(path, ec);
  GE_ASSIGN_OR_RETURN(const TrustedFile file,
                      TrustedFile::Open("manifest", ec ? path : real.string(), rule));
  GE_ASSIGN_OR_RETURN(const std::string text, file.Read(kMostManifestBytes));
  return ParseManifest(text, path);
}

Result<std::optional<Manifest>> ManifestBeside(const std::string& plugin, const WritersRule& rule) {
  const fs::path file = plugin;
  const std::string path =
      (file.parent_path() / file.stem()).string() + std::string(kManifestEnding);
  std::error_code ec;
  if (!fs::exists(fs::symlink_status(path, ec))) return std::optional<Manifest>();
  GE_ASSIGN_OR_RETURN(Manifest m, ReadManifest(path, rule));
  if (m.file != plugin) {
    return Status(Code::kDataCorrupt,
                  fmt::format("manifest '{}' is about '{}', but lies beside '{}'; correct its "
                              "\"file\", or call it after that file",
                              path, m.file, plugin));
  }
  return std::optional<Manifest>(std::move(m));
}

std::string WhyNotHere(const Manifest& m, AbiVersion host, std::string_view options) {
  const bool fits =
      m.abi_least <= host && (m.abi_most ? host <= *m.abi_most : host.major == m.abi_least.major);
  if (!fits) {
    const std::string most = m.abi_most ? fmt::format("{}.{}", m.abi_most->major, m.abi_most->minor)
                                        : fmt::format("the last {}.x", m.abi_least.major);
    return fmt::format(
        "it runs in hosts of ABI {}.{} to {}, this one has {}.{}; use another "
        "version of either",
        m.abi_least.major, m.abi_least.minor, most, host.major, host.minor);
  }
  for (const DriverProbe& p : m.probes) {
    if (p.kind == DriverProbe::Kind::kLibrary) {
      if (std::string why = WhyNoLibrary(p, options); !why.empty()) return why;
    }
    if (p.kind == DriverProbe::Kind::kFile && access(p.name.c_str(), F_OK) != 0) {
      return fmt::format("the file '{}' that it needs is not on this machine", p.name);
    }
    const auto is_set = [](const std::string& v) { return std::getenv(v.c_str()) != nullptr; };
    if (p.kind == DriverProbe::Kind::kEnvironment &&
        std::none_of(p.variables.begin(), p.variables.end(), is_set)) {
      return fmt::format("none of the environment variables that it needs is set: {}",
                         fmt::join(p.variables, ", "));
    }
  }
  return "";
}

}  // namespace ge

// ge plugins: what was found, what is skipped or refused, and why.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "ge/engine/engine_list.h"
#include "ge/engine/pass/pass_plugin.h"
#include "ge/engine/plugin/discovery.h"
#include "ge/host/machine.h"
#include "tools/ge/command.h"
#include "tools/ge/inspect/engine_trial.h"

namespace ge::tool {
namespace {

// A plugin, and what became of its engine where that was tried.
struct TriedPlugin {
  Found found;
  std::optional<EngineTrial> trial;
  bool Usable() const {
    return found.state == Found::State::kFound &&
           (!trial || trial->state == EngineTrial::State::kReady);
  }
  std::string_view State() const;
  const std::string& Why() const { return found.why.empty() && trial ? trial->why : found.why; }
};

std::vector<Found> FindNamed(const std::vector<EngineSpec>& engines) {
  std::vector<Found> out;
  for (const EngineSpec& spec : engines) {
    Found f;
    f.path = spec.name;
    f.origin = "--engines";
    auto plugin = FindPlugin(spec.name);
    if (plugin.ok()) {
      f.path = (*plugin)->path;
      f.plugin = *plugin;
    } else {
      f.state = Found::State::kRefused;
      f.why = plugin.status().message();
    }
    out.push_back(std::move(f));
  }
  return out;
}

const char* StateName(Found::State state) {
  return state == Found::State::kFound     ? "found"
         : state == Found::State::kSkipped ? "skipped"
                                           : "refused";
}

std::string_view TriedPlugin::State() const {
  const bool shown = found.state == Found::State::kFound && !Usable();
  return shown ? NameOf(trial->state) : StateName(found.state);
}

// Tries the engines of what was opened; the options are those of an engine list, by position.
std::vector<TriedPlugin> WithTrials(std::vector<Found> found,
                                    const std::vector<EngineSpec>& specs) {
  std::vector<TriedPlugin> rows;
  for (size_t i = 0; i < found.size(); ++i) {
    TriedPlugin row{std::move(found[i]), std::nullopt};
    if (row.found.state == Found::State::kFound && row.found.HasEngine()) {
      row.trial = TryEngine(row.found.plugin, i < specs.size() ? specs[i].options : "");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> KindsOf(const Found& f) {
  if (!f.plugin) return f.manifest ? f.manifest->kinds : std::vector<std::string>();
  std::vector<std::string> kinds;
  const char* names[] = {"engine", "ops", "passes"};  // by bit of GE_KIND_*
  for (size_t bit = 0; bit < std::size(names); ++bit) {
    if (f.plugin->desc->kinds & (1u << bit)) kinds.emplace_back(names[bit]);
  }
  return kinds;
}

std::vector<std::string> PassesOf(const Found& f) {
  if (!f.plugin) return f.manifest ? f.manifest->passes : std::vector<std::string>();
  std::vector<std::string> names;
  const auto passes = ReadPasses(*f.plugin);
  for (size_t i = 0; passes.ok() && i < passes->size(); ++i) names.push_back((*passes)[i]->name);
  return names;
}

struct Described {
  std::string version, vendor, hash;
};
// What it says itself counts more than what its manifest says.
Described Describe(const Found& f) {
  if (f.plugin) return {f.plugin->version, f.plugin->vendor, f.plugin->hash};
  if (f.manifest) return {f.manifest->version, f.manifest->vendor, f.manifest->sha256};
  return {};
}

nlohmann::json RecordOf(const TriedPlugin& row) {
  const Found& f = row.found;
  nlohmann::json out = {{"path", f.path},
                        {"from", f.origin},
                        {"state", row.State()},
                        {"loaded", f.plugin != nullptr},
                        {"why", row.Why()}};
  if (row.trial) out["devices"] = row.trial->devices;
  if (f.plugin || f.manifest) {
    const Described d = Describe(f);
    out["name"] = f.name();
    out["kinds"] = KindsOf(f);
    for (const std::string& pass : PassesOf(f)) out["passes"].push_back(pass);
    out["version"] = d.version;
    out["vendor"] = d.vendor;
    out["hash"] = d.hash;
  }
  if (f.manifest) {
    const Manifest& m = *f.manifest;
    out["manifest"] = m.path;
    out["licence"] = m.licence;
    out["engines"] = m.engines;
    out["ops"] = m.ops;
    out["passes"] = m.passes;
  }
  return out;
}

constexpr size_t kColumns = 6;
using PluginRow = std::array<std::string, kColumns>;

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

PluginRow TextOf(const TriedPlugin& row) {
  const Found& f = row.found;
  const Described d = Describe(f);
  return {std::string(row.State()),
          f.name(),
          OrDash(fmt::format("{}", fmt::join(KindsOf(f), "+"))),
          OrDash(d.version),
          OrDash(d.vendor),
          OrDash(d.hash.substr(0, 12))};
}

void PrintTable(const std::vector<TriedPlugin>& plugins) {
  std::array<size_t, kColumns> width{};
  for (const TriedPlugin& row : plugins) {
    const PluginRow text = TextOf(row);
    for (size_t i = 0; i < kColumns; ++i) width[i] = std::max(width[i], text[i].size());
  }
  for (const TriedPlugin& row : plugins) {
    const PluginRow text = TextOf(row);
    for (size_t i = 0; i < kColumns; ++i) fmt::print("{:<{}}  ", text[i], width[i]);
    fmt::print("{}  ({})\n", row.found.path, row.found.origin);
    if (!row.Why().empty()) fmt::print("{:<{}}  {}\n", "", width[0], row.Why());
  }
}

}  // namespace

int Plugins(const Options& o) {
  auto options = SessionOptionsOf(o);
  if (!options.ok()) return Fail(options.status());
  const bool named = !options->engines.empty();
  if (named && !o.plugin_paths.empty()) {
    return Fail(Status(Code::kInvalidArgument,
                       "ge plugins takes files and folders, or --engines, and not both"));
  }
  Status fixed = FixProcessFacts(options->process);
  if (!fixed.ok()) return Fail(fixed);
  const std::vector<TriedPlugin> plugins =
      WithTrials(named ? FindNamed(options->engines) : ListPlugins(o.plugin_paths, o.open_plugins),
                 options->engines);
  const auto found = static_cast<size_t>(std::count_if(
      plugins.begin(), plugins.end(), [](const TriedPlugin& row) { return row.Usable(); }));
  if (o.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const TriedPlugin& row : plugins) list.push_back(RecordOf(row));
    fmt::print("{}\n", nlohmann::json{{"plugins", list}}.dump(
                           -1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    PrintTable(plugins);
    if (plugins.empty()) {
      fmt::print("no plugin was found; set GE_PLUGIN_PATH to the folder of the engines\n");
    }
  }
  // Of those that somebody asked for, none may be missing.
  return found > 0 && (!named || found == plugins.size()) ? 0 : 3;
}

}  // namespace ge::tool

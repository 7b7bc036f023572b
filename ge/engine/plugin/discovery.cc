#include "ge/engine/plugin/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "ge/base/log.h"
#include "ge/engine/plugin/load_for_engine.h"
#include "ge/engine/plugin/plugin_filter.h"
#include "ge/engine/plugin/search_path.h"

namespace ge {
namespace {

namespace fs = std::filesystem;

bool Holds(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string Absolute(const std::string& path) {
  std::error_code ec;
  const fs::path at = fs::absolute(path, ec);
  return ec ? path : at.lexically_normal().string();
}

std::string StemOf(const std::string& path) { return fs::path(path).stem().string(); }

// Of what is known without opening it.
std::vector<std::string> NamesOf(const Found& f) {
  std::vector<std::string> names = {StemOf(f.path)};
  if (!f.manifest) return names;
  for (const auto* list : {&f.manifest->engines, &f.manifest->ops, &f.manifest->passes}) {
    names.insert(names.end(), list->begin(), list->end());
  }
  if (!Holds(names, f.manifest->name)) names.push_back(f.manifest->name);
  return names;
}

void Turn(Found* f, Found::State state, std::string why) {
  f->state = state;
  f->why = std::move(why);
}

// What does not agree with its manifest is left out like what does not fit.
void Turn(Found* f, const Status& status) {
  Turn(f, status.code() == Code::kDataCorrupt ? Found::State::kSkipped : Found::State::kRefused,
       status.message());
}

// What can be said of a candidate without reading the plugin itself.
Found Describe(const Candidate& c) {
  Found f;
  f.path = c.path;
  f.origin = c.origin;
  if (!c.unreadable.empty()) {
    Turn(&f, Found::State::kRefused,
         fmt::format("the folder of plugins '{}' cannot be read: {}; let this user read it, or set "
                     "GE_PLUGIN_PATH to another",
                     c.path, c.unreadable));
    f.is_folder = true;
    return f;
  }
  if (!c.path.ends_with(kManifestEnding)) return f;
  static const WritersRule rule = SystemWritersRule();
  auto manifest = ReadManifest(Absolute(c.path), rule);
  if (!manifest.ok()) {
    Turn(&f, manifest.status());
    return f;
  }
  f.path = manifest->file;
  f.manifest = *std::move(manifest);
  return f;
}

// Turns away what nobody wants here; `named`: by its path, so that no filter counts.
void Filter(const PluginFilter& filter, bool named, Found* f, std::string_view options = {}) {
  if (f->state != Found::State::kFound) return;
  const std::string unwanted = named ? "" : filter.WhySkipped(NamesOf(*f));
  if (!unwanted.empty()) return Turn(f, Found::State::kSkipped, unwanted);
  if (!f->manifest) return;
  const std::string unfit = WhyNotHere(*f->manifest, {GE_ABI_MAJOR, GE_ABI_MINOR}, options);
  if (!unfit.empty()) Turn(f, Found::State::kSkipped, unfit);
}

void Open(const PluginFilter& filter, bool named, Found* f, std::string_view options = {}) {
  auto plugin = LoadForEngine(f->manifest ? f->manifest->path : f->path, options);
  if (!plugin.ok()) return Turn(f, plugin.status());
  f->plugin = *plugin;
  // Only now is it known how a plugin without a manifest calls itself.
  const PluginFilter disabled{{}, named ? std::vector<std::string>() : filter.disable};
  const std::string unwanted = disabled.WhySkipped({f->plugin->name});
  if (!unwanted.empty()) Turn(f, Found::State::kSkipped, unwanted);
}

// Checks the file as before loading it, and no more.
void Inspect(Found* f) {
  const Status status = CheckPlugin(f->manifest->path);
  if (!status.ok()) Turn(f, status);
}

// Each candidate once: a file of which a manifest speaks is no candidate of its own.
std::vector<Found> DescribeAll(const std::vector<Candidate>& candidates) {
  std::vector<Found> all;
  std::set<std::string> described;
  for (const Candidate& c : candidates) {
    all.push_back(Describe(c));
    if (all.back().manifest) described.insert(all.back().path);
  }
  std::erase_if(
      all, [&](const Found& f) { return !f.manifest && described.count(Absolute(f.path)) != 0; });
  return all;
}

// Which of those with a manifest are opened: none, those of engines, all.
enum class Looking { kList, kForEngines, kOpen };

std::vector<Found> Look(const std::vector<Candidate>& candidates, bool named, Looking how) {
  const PluginFilter filter = PluginFilter::OfEnvironment();
  std::vector<Found> all = DescribeAll(candidates);
  std::map<std::string, std::string> first;  // name -> path
  for (Found& f : all) {
    Filter(filter, named, &f);
    if (f.state == Found::State::kFound) {
      const bool opened = !f.manifest || how == Looking::kOpen ||
                          (how == Looking::kForEngines && Holds(f.manifest->kinds, "engine"));
      opened ? Open(filter, named, &f) : Inspect(&f);
    }
    if (f.state == Found::State::kFound) {
      auto [it, fresh] = first.emplace(f.name(), f.path);
      if (!fresh && it->second != f.path) {
        f.plugin = nullptr;
        Turn(&f, Found::State::kSkipped,
             fmt::format("plugin '{}' was found first in '{}'", f.name(), it->second));
      }
    } else {
      f.plugin = nullptr;
    }
  }
  return all;
}

// Candidates that may hold the engine, the likely ones first; which of them are likely.
struct Suspects {
  std::vector<Found> list;
  size_t likely = 0;
  std::vector<Found> others;  // of the same kind, by their manifests
};

// Whether a plugin with this manifest could stand in the place of such a one.
bool IsOfKind(const Manifest& m, uint32_t kinds) {
  return ((kinds & GE_KIND_ENGINE) != 0 && Holds(m.kinds, "engine")) ||
         ((kinds & GE_KIND_OPS) != 0 && Holds(m.kinds, "ops")) ||
         ((kinds & GE_KIND_PASSES) != 0 && Holds(m.kinds, "passes"));
}

Suspects SuspectsFor(const std::string& engine, uint32_t kinds, std::string_view options,
                     std::string* refusals) {
  const PluginFilter filter = PluginFilter::OfEnvironment();
  Suspects out;
  std::vector<Found> others;
  for (Found& f : DescribeAll(SearchPath())) {
    const bool called = f.manifest
                            ? f.manifest->name == engine || Holds(f.manifest->engines, engine)
                            : StemOf(f.path) == engine;
    if (f.manifest && !called && !Holds(NamesOf(f), engine)) {
      // Not asked for: what it needs of the machine is not looked for.
      if (IsOfKind(*f.manifest, kinds)) out.others.push_back(std::move(f));
      continue;
    }
    Filter(filter, false, &f, options);
    if (f.state == Found::State::kFound) {
      if (called)
        out.list.push_back(std::move(f));
      else if (!f.manifest)
        others.push_back(std::move(f));
    } else if (f.is_folder) {
      *refusals += "; " + f.why;
    } else if (called || Holds(NamesOf(f), engine)) {
      *refusals += fmt::format("; '{}' is left out: {}", f.path, f.why);
    }
  }
  out.likely = out.list.size();
  for (Found& f : others) out.list.push_back(std::move(f));
  return out;
}

}  // namespace

std::string Found::name() const {
  if (plugin) return plugin->name;
  return manifest ? manifest->name : StemOf(path);
}

bool MayFindEngine() {
  const PluginFilter filter = PluginFilter::OfEnvironment();
  // Manifests last: most engines have none, and the first one answers.
  std::vector<Candidate> candidates = SearchPath();
  std::stable_partition(candidates.begin(), candidates.end(),
                        [](const Candidate& c) { return !c.path.ends_with(kManifestEnding); });
  for (const Candidate& c : candidates) {
    Found f = Describe(c);
    Filter(filter, false, &f);
    if (f.state != Found::State::kFound) continue;
    if (f.manifest ? !f.manifest->engines.empty() : CheckPlugin(f.path).ok()) return true;
  }
  return false;
}

std::vector<Found> DiscoverPlugins() { return Look(SearchPath(), false, Looking::kForEngines); }

std::vector<Found> ListPlugins(const std::vector<std::string>& paths, bool open) {
  const Looking how = open ? Looking::kOpen : Looking::kList;
  if (paths.empty()) return Look(SearchPath(), false, how);
  std::vector<Candidate> candidates;
  for (const std::string& path : paths) {
    for (Candidate& c : CandidatesIn({path, "named"})) candidates.push_back(std::move(c));
  }
  return Look(candidates, true, how);
}

Result<std::shared_ptr<const Plugin>> FindPlugin(const std::string& name, std::string_view what,
                                                 std::string_view options) {
  if (name.find('/') != std::string::npos) return LoadForEngine(name, options);
  // A plugin's constructors run when it is opened, and without a manifest its name is known only
  // then.
  std::string names, refusals;
  // Those that could stand in its place: an engine's are engines.
  const uint32_t kinds = what == "engine" ? GE_KIND_ENGINE : GE_KIND_OPS | GE_KIND_PASSES;
  const Suspects suspects = SuspectsFor(name, kinds, options, &refusals);
  const PluginFilter filter = PluginFilter::OfEnvironment();
  for (size_t i = 0; i < suspects.list.size(); ++i) {
    if (i == suspects.likely) {
      if (!refusals.empty()) break;
      LogLine(2, fmt::format("{} '{}' is in no file '{}.so' of the search path: the other plugins "
                             "are opened to look for it",
                             what, name, name));
    }
    Found f = suspects.list[i];
    Open(filter, false, &f, options);
    if (f.state == Found::State::kFound && f.plugin->name == name) return f.plugin;
    if (f.plugin && (f.plugin->desc->kinds & kinds))
      names += (names.empty() ? "" : ", ") + f.plugin->name;
    const bool it = i < suspects.likely || (f.plugin && f.plugin->name == name);
    if (f.state != Found::State::kFound && it) refusals += "; " + f.why;
  }
  for (Found other : suspects.others) {
    Filter(filter, false, &other);
    if (other.state == Found::State::kFound) names += (names.empty() ? "" : ", ") + other.name();
  }
  std::error_code ec;
  if (const std::string why = WhyNoBuiltIn(); !why.empty() && names.empty()) refusals += "; " + why;
  if (fs::is_regular_file(name, ec)) refusals += fmt::format("; for the file write ./{}", name);
  return Status(Code::kFailedPrecondition,
                fmt::format("{} '{}' is not loaded; found: {}; ge plugins tells what was "
                            "refused and why{}",
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
      return Status(Code::kFailedPrecondition,
                    fmt::format("plugin '{}' is refused: it brings neither operators nor passes; "
                                "an engine is named in the list of engines",
                                plugin->path));
    }
    if (std::find(out.begin(), out.end(), plugin) == out.end()) out.push_back(std::move(plugin));
  }
  return out;
}

}  // namespace ge

#include "ge/engine/plugin/search_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "ge/base/own_folder.h"
#include "ge/engine/plugin/manifest.h"

namespace ge {
namespace {

namespace fs = std::filesystem;

// Or why there is none.
struct BuiltIn {
  std::string folder, why;
};
BuiltIn BuiltInFolder() {
  const fs::path own = OwnFolder();
  if (own.empty()) {
    return {"",
            "where this library or program lies is not known, since /proc/self/exe cannot be "
            "read (is /proc mounted?)"};
  }
  std::string looked;
  for (const char* relative : {"graphengine", "../lib/graphengine"}) {
    const std::string folder = (own / relative).lexically_normal().string();
    std::error_code ec;
    const fs::file_type type = fs::status(folder, ec).type();
    if (type == fs::file_type::directory) return {folder, ""};
    if (type != fs::file_type::not_found && ec) {  // it is there, or may be
      return {"", fmt::format("the folder '{}' cannot be read: {}", folder, ec.message())};
    }
    looked += (looked.empty() ? "'" : " nor '") + folder + "'";
  }
  return {"", "of what is installed with it there is neither " + looked};
}

void AddList(const std::string& list, const std::string& origin, std::vector<SearchPlace>* out) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end != begin) out->push_back({list.substr(begin, end - begin), origin});
    begin = end + 1;
  }
}

}  // namespace

std::vector<SearchPlace> SearchPlaces(
    const std::function<const char*(const char* name)>& environment) {
  std::vector<SearchPlace> places;
  const char* replace = environment("GE_PLUGIN_PATH");
  if (replace != nullptr) AddList(replace, "$GE_PLUGIN_PATH", &places);
  if (const char* extra = environment("GE_PLUGIN_EXTRA")) {
    AddList(extra, "$GE_PLUGIN_EXTRA", &places);
  }
  if (replace != nullptr) return places;
  const char* data = environment("XDG_DATA_HOME");
  const char* home = environment("HOME");
  // Relative ones are to be passed over, says the XDG specification.
  if (data != nullptr && data[0] == '/') {
    places.push_back({std::string(data) + "/graphengine/plugins.d", "the user's folder"});
  } else if (home != nullptr && home[0] == '/') {
    places.push_back(
        {std::string(home) + "/.local/share/graphengine/plugins.d", "the user's folder"});
  }
  places.push_back({"/usr/local/lib/graphengine/plugins.d", "the machine's folder"});
  places.push_back({"/usr/lib/graphengine/plugins.d", "the system's folder"});
  if (const BuiltIn own = BuiltInFolder(); own.why.empty()) {
    places.push_back({own.folder, "built in"});
  }
  return places;
}

std::string WhyNoBuiltIn() { return BuiltInFolder().why; }

std::vector<SearchPlace> SearchPlaces() {
  return SearchPlaces([](const char* name) -> const char* { return secure_getenv(name); });
}

std::vector<Candidate> CandidatesIn(const SearchPlace& place) {
  std::error_code ec;
  if (!fs::is_directory(place.path, ec)) {
    return {{place.path, place.origin, ""}};
  }
  std::set<std::string> manifests, plugins;  // in the order of their names
  fs::directory_iterator at(place.path, ec);
  for (const fs::directory_iterator end; !ec && at != end; at.increment(ec)) {
    const std::string path = at->path().string();
    if (path.ends_with(kManifestEnding)) manifests.insert(path);
    if (at->path().extension() == ".so") plugins.insert(path);
  }
  if (ec) return {{place.path, place.origin, ec.message()}};
  std::vector<Candidate> found;
  for (const std::string& m : manifests) {
    found.push_back({m, place.origin, ""});
    plugins.erase(m.substr(0, m.size() - kManifestEnding.size()) + ".so");
  }
  for (const std::string& p : plugins) found.push_back({p, place.origin, ""});
  return found;
}

std::vector<Candidate> SearchPath() {
  std::vector<Candidate> all;
  for (const SearchPlace& place : SearchPlaces()) {
    std::error_code ec;
    // The folders that we look into unasked need not be there.
    if (place.origin[0] != '$' && !fs::is_directory(place.path, ec)) continue;
    for (Candidate& c : CandidatesIn(place)) all.push_back(std::move(c));
  }
  return all;
}

}  // namespace ge

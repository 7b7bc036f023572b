// The places to look for plugins, and their candidate files. It opens none of them. Stateless; any
// thread may call.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ge {

struct SearchPlace {
  std::string path;    // a file or folder, which need not exist
  std::string origin;  // "$GE_PLUGIN_PATH", "the user's folder" ...
};
// First to last; of two plugins of one name the first counts:
//  $GE_PLUGIN_PATH, colon-separated, in the place of all folders below;
//  $GE_PLUGIN_EXTRA, colon-separated;
//  $XDG_DATA_HOME/graphengine/plugins.d, without it $HOME/.local/share/graphengine/plugins.d;
//  /usr/local/lib/graphengine/plugins.d, /usr/lib/graphengine/plugins.d;
//  the built-in folder: graphengine/ beside this library, or ../lib/graphengine from a program.
// `environment` answers NULL for variables not set; so does secure_getenv, in a setuid process for
// all.
std::vector<SearchPlace> SearchPlaces(
    const std::function<const char*(const char* name)>& environment);
std::vector<SearchPlace> SearchPlaces();  // of this process
// Why there is no built-in folder among them, in words; empty where there is one.
std::string WhyNoBuiltIn();

struct Candidate {
  std::string path;  // a manifest, or a .so file without one of its name
  std::string origin;
  std::string unreadable;  // of a folder: why it cannot be listed
};
// The candidates of a folder: first its manifests, then its .so files without one, each by name. A
// file is a candidate itself, and so is an unreadable folder.
std::vector<Candidate> CandidatesIn(const SearchPlace& place);
std::vector<Candidate> SearchPath();  // of all places of this process

}  // namespace ge

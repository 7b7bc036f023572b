// Where plugins are looked for, and which files of those places may be plugins. It opens none of
// them. Stateless; any thread may call.
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
// `environment` answers NULL for what is not set; secure_getenv does, and so does everything in a
// setuid process.
std::vector<SearchPlace> SearchPlaces(
    const std::function<const char*(const char* name)>& environment);
std::vector<SearchPlace> SearchPlaces();  // of this process
// Why there is no built-in folder among them, in words; empty where there is one.
std::string WhyNoBuiltIn();

struct Candidate {
  std::string path;  // a manifest, or a .so file beside which there is none of its name
  std::string origin;
  std::string unreadable;  // of a folder: why it cannot be listed
};
// Of a folder the manifests and then the .so files that no manifest is called after, each by name;
// a file is a candidate as it is, and so is a folder that cannot be read.
std::vector<Candidate> CandidatesIn(const SearchPlace& place);
std::vector<Candidate> SearchPath();  // of all places of this process

}  // namespace ge

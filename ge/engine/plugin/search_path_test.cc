// Where plugins are looked for, in which order, and what of a folder is a candidate.
#include "ge/engine/plugin/search_path.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace ge {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Places(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> out;
  for (const SearchPlace& p : SearchPlaces([&](const char* name) -> const char* {
         const auto it = environment.find(name);
         return it == environment.end() ? nullptr : it->second.c_str();
       })) {
    if (p.origin != "built in") out.push_back(p.path);  // wherever these tests lie
  }
  return out;
}

TEST(SearchPath, OrderOfPlaces) {
  const std::string local = "/usr/local/lib/graphengine/plugins.d",
                    system = "/usr/lib/graphengine/plugins.d";
  using Paths = std::vector<std::string>;
  EXPECT_EQ(Places({}), (Paths{local, system}));
  EXPECT_EQ(Places({{"HOME", "/h"}}),
            (Paths{"/h/.local/share/graphengine/plugins.d", local, system}));
  EXPECT_EQ(Places({{"HOME", "/h"}, {"XDG_DATA_HOME", "/x"}}),
            (Paths{"/x/graphengine/plugins.d", local, system}));
  EXPECT_EQ(Places({{"XDG_DATA_HOME", "x"}}), (Paths{local, system}));  // a relative one
  EXPECT_EQ(Places({{"XDG_DATA_HOME", "/x"}, {"GE_PLUGIN_EXTRA", "a:b"}}),
            (Paths{"a", "b", "/x/graphengine/plugins.d", local, system}));
  EXPECT_EQ(Places({{"HOME", "/h"}, {"GE_PLUGIN_PATH", "p::q"}, {"GE_PLUGIN_EXTRA", "e"}}),
            (Paths{"p", "q", "e"}));
  EXPECT_EQ(Places({{"HOME", "/h"}, {"GE_PLUGIN_PATH", ""}}), Paths{});
}

TEST(SearchPath, CandidatesOfAFolder) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("ge_search_{}", getpid());
  fs::create_directories(folder);
  for (const char* name :
       {"b.so", "a.so", "b.geplugin.json", "z.geplugin.json", "x.so.1", "y.txt"}) {
    std::ofstream(folder / name) << "x";
  }
  std::string names;
  for (const Candidate& c : CandidatesIn({folder.string(), "here"})) {
    names += fs::path(c.path).filename().string() + " ";
    EXPECT_EQ(c.origin, "here");
  }
  EXPECT_EQ(names, "b.geplugin.json z.geplugin.json a.so ");
  EXPECT_EQ(CandidatesIn({(folder / "y.txt").string(), ""}).size(), 1u);  // named, so it is one
  EXPECT_EQ(CandidatesIn({(folder / "nothing").string(), ""}).size(), 1u);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace
}  // namespace ge

// Manifests: what is read, what is refused and in which words, and whom they fit.
#include "ge/engine/plugin/manifest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ge {
namespace {

constexpr const char* kPath = "/p/acme.geplugin.json";
constexpr const char* kRest = R"("format": 1, "file": "libacme.so", "kinds": ["engine"])";

std::string With(const std::string& fields) {
  return fmt::format("{{{}, \"abi\": {{\"least\": \"1.2\"}}{}{}}}", kRest,
                     fields.empty() ? "" : ", ", fields);
}
std::string Fault(const std::string& text) {
  auto m = ParseManifest(text, kPath);
  if (m.ok()) return "none";
  EXPECT_EQ(m.status().code(), Code::kDataCorrupt);
  return m.status().message();
}
Manifest Read(const std::string& text) {
  auto m = ParseManifest(text, kPath);
  EXPECT_TRUE(m.ok()) << m.status().ToString();
  return m.ok() ? *m : Manifest{};
}

TEST(ManifestTest, Fields) {
  const std::string digest(64, 'A');
  const Manifest m = Read(R"({"format": 1, "file": "libacme.so", "sha256": ")" + digest + R"(",
    "abi": {"least": "1.2", "most": "1.7"}, "kinds": ["engine", "ops", "passes"],
    "engines": ["acme", "acme_gpu"], "ops": ["com.acme.Foo"], "passes": ["acme-fuse"],
    "vendor": "Acme", "version": "3.1", "licence": "MIT", "later": {"unknown": true},
    "probe": [{"file": "/dev/acme0"}, {"library": "libacme.so.1"}]})");
  EXPECT_EQ(m.name, "acme");
  EXPECT_EQ(m.file, "/p/libacme.so");
  EXPECT_EQ(m.sha256, std::string(64, 'a'));
  EXPECT_EQ(m.abi_least, (AbiVersion{1, 2}));
  EXPECT_EQ(m.abi_most, (AbiVersion{1, 7}));
  EXPECT_EQ(m.kinds.size(), 3u);
  EXPECT_EQ(m.engines, (std::vector<std::string>{"acme", "acme_gpu"}));
  EXPECT_EQ(m.ops, std::vector<std::string>{"com.acme.Foo"});
  EXPECT_EQ(m.passes, std::vector<std::string>{"acme-fuse"});
  EXPECT_EQ(m.vendor + m.version + m.licence, "Acme3.1MIT");
  ASSERT_EQ(m.probes.size(), 2u);
  EXPECT_EQ(m.probes[1].kind, DriverProbe::Kind::kLibrary);
  // An engine plugin that says no more holds the engine that it is called after.
  EXPECT_EQ(Read(With("")).engines, std::vector<std::string>{"acme"});
}

TEST(ManifestTest, Refusals) {
  const std::string begin = fmt::format("manifest '{}'", kPath);
  EXPECT_EQ(Fault("{"),
            begin + " is no JSON object: it is damaged at byte 2; see docs/plugin-guide.md");
  const std::string deep =
      With(R"("later": )" + std::string(90'000, '[') + std::string(90'000, ']'));
  EXPECT_NE(Fault(deep).find(": it nests deeper than 64 levels at byte"), std::string::npos);
  EXPECT_EQ(Fault("[]"), begin + " is no JSON object; see docs/plugin-guide.md");
  EXPECT_EQ(Fault("{}"), begin + ": \"format\" holds nothing, wanted it to be there");
  EXPECT_NE(Fault(R"({"format": 2})").find("\"format\" holds 2, wanted 1; use a newer host"),
            std::string::npos);
  EXPECT_NE(Fault(R"({"format": 1})").find("\"file\" holds nothing"), std::string::npos);
  EXPECT_NE(Fault(R"({"format": 1, "file": "x.so"})").find("\"abi\" holds nothing"),
            std::string::npos);
  for (const char* file : {"/x.so", "../x.so", "a/x.so", "", "..", "x\\u0000y"}) {
    EXPECT_NE(Fault(fmt::format(R"({{"format": 1, "file": "{}"}})", file))
                  .find("wanted the name of a file in the manifest's own folder"),
              std::string::npos)
        << file;
  }
  for (const auto& [field, wanted] :
       {std::pair(R"("sha256": "12")", "\"sha256\" holds \"12\", wanted 64 hexadecimal digits"),
        std::pair(R"("vendor": 3)", "\"vendor\" holds 3, wanted text"),
        std::pair(R"("ops": "x")", "\"ops\" holds \"x\", wanted a list of names"),
        std::pair(R"("passes": [1])", "\"passes\" holds 1, wanted text"),
        std::pair(R"("probe": {"file": "dev/x"})", "wanted an absolute path, or the name of a"),
        std::pair(R"("probe": {"environment": []})", "wanted a list of names of environment"),
        std::pair(R"("probe": {"environment": ["A", 3]})", "wanted a list of names of environment"),
        std::pair(R"("probe": ["x"])", "\"probe\" holds \"x\", wanted {\"file\": PATH} or"),
        std::pair(R"("probe": {"library": "b", "folders": ["lib"]})", "wanted folders that begin"),
        std::pair(R"("probe": {"library": "b", "folders": 3})", "wanted folders that begin"),
        std::pair(R"("probe": {"file": "/a", "folders": ["/b"]})", "wanted {\"file\": PATH} or"),
        std::pair(R"("probe": {"file": "/a", "option": "b"})", "wanted {\"file\": PATH} or"),
        std::pair(R"("probe": {"library": "b", "x": 1})", "wanted {\"file\": PATH} or"),
        std::pair(R"("probe": {"library": "b", "option": 3})", "wanted the name of an option"),
        std::pair(R"("probe": {"library": "b", "option": ""})", "wanted the name of an option"),
        std::pair(R"("probe": {"library": "b", "option": "a=b"})", "wanted the name of an option"),
        std::pair(R"("probe": {"file": "/a", "library": "b"})", "wanted {\"file\": PATH} or")}) {
    EXPECT_NE(Fault(With(field)).find(wanted), std::string::npos) << Fault(With(field));
  }
  for (const char* version : {"1", "1.", ".1", "1.2.3", "x.y", "-1.0", "99999999999.0", ""}) {
    const std::string text = fmt::format(R"({{{}, "abi": {{"least": "{}"}}}})", kRest, version);
    EXPECT_NE(Fault(text).find("\"least\" holds"), std::string::npos) << version;
  }
  EXPECT_NE(Fault(fmt::format(R"({{{}, "abi": {{"least": "1.2", "most": "1.1"}}}})", kRest))
                .find("wanted \"most\" not below \"least\""),
            std::string::npos);
  EXPECT_NE(Fault(R"({"format": 1, "file": "a", "abi": {"least": "1.0"}, "kinds": ["gpu"]})")
                .find("\"kinds\" holds \"gpu\", wanted engine, ops or passes"),
            std::string::npos);
  EXPECT_NE(
      Fault(R"({"format": 1, "file": "a", "abi": {"least": "1.0"}})").find("\"kinds\" holds []"),
      std::string::npos);
}

TEST(ManifestTest, HostsThatItFits) {
  const Manifest open = Read(With(""));
  EXPECT_NE(WhyNotHere(open, {1, 1}), "");
  EXPECT_EQ(WhyNotHere(open, {1, 2}), "");
  EXPECT_EQ(WhyNotHere(open, {1, 900}), "");
  EXPECT_EQ(WhyNotHere(open, {2, 0}),
            "it runs in hosts of ABI 1.2 to the last 1.x, this one has 2.0; use another version of "
            "either");
  const Manifest closed =
      Read(fmt::format(R"({{{}, "abi": {{"least": "0.9", "most": "1.1"}}}})", kRest));
  EXPECT_NE(WhyNotHere(closed, {0, 8}), "");
  EXPECT_EQ(WhyNotHere(closed, {0, 9}), "");
  EXPECT_EQ(WhyNotHere(closed, {0, 10}), "");
  EXPECT_EQ(WhyNotHere(closed, {1, 1}), "");
  EXPECT_NE(WhyNotHere(closed, {1, 2}), "");
}

TEST(ManifestTest, WhatMustBeThere) {
  EXPECT_EQ(WhyNotHere(Read(With(R"("probe": {"file": "/proc/self/exe"})")), {1, 2}), "");
  EXPECT_EQ(WhyNotHere(Read(With(R"("probe": [{"library": "libc.so.6"}])")), {1, 2}), "");
  EXPECT_EQ(WhyNotHere(Read(With(R"("probe": [{"library": "libc.so.6"}, {"file": "/dev/acme"}])")),
                       {1, 2}),
            "the file '/dev/acme' that it needs is not on this machine");
  EXPECT_EQ(WhyNotHere(Read(With(R"("probe": {"library": "libacme-driver.so.9"})")), {1, 2}),
            "the library 'libacme-driver.so.9' that it needs is not on this machine");
  const char* folders = R"("probe": {"library": "manifest.txt", "folders": ["$GE_HOME_HERE/lib"]})";
  ASSERT_EQ(unsetenv("GE_HOME_HERE"), 0);
  EXPECT_NE(WhyNotHere(Read(With(folders)), {1, 2}), "");
  const std::string home = testing::TempDir() + "manifest_home";
  std::filesystem::create_directories(home + "/lib");
  std::ofstream(home + "/lib/manifest.txt") << "here";
  ASSERT_EQ(setenv("GE_HOME_HERE", home.c_str(), 1), 0);
  EXPECT_EQ(WhyNotHere(Read(With(folders)), {1, 2}), "");
  ASSERT_EQ(unsetenv("GE_HOME_HERE"), 0);
  EXPECT_EQ(WhyNotHere(Read(With(R"("probe": {"environment": ["GE_NO_SUCH", "PATH"]})")), {1, 2}),
            "");
  EXPECT_EQ(WhyNotHere(Read(With(R"("probe": {"environment": ["GE_NO_SUCH", "GE_NOR"]})")), {1, 2}),
            "none of the environment variables that it needs is set: GE_NO_SUCH, GE_NOR");
}

// An option of the engine's names the library's folder, and then no other counts.
TEST(ManifestTest, FoldersOfOptions) {
  const std::string here = testing::TempDir() + "manifest;option";
  std::filesystem::create_directories(here);
  std::ofstream(here + "/manifest_option.txt") << "here";
  const std::string missing = "the library 'manifest_option.txt' that it needs is not ";
  const Manifest m =
      Read(With(R"("probe": {"library": "manifest_option.txt", "option": "libraries"})"));
  for (const std::string_view options : {"", "other=1", "libraries=", "folder=libraries"}) {
    EXPECT_EQ(WhyNotHere(m, {1, 2}, options),
              missing + "on this machine; the option libraries=DIR names its folder");
  }
  EXPECT_EQ(WhyNotHere(m, {1, 2}, "device=1;libraries=\"" + here + "\""), "");
  EXPECT_EQ(WhyNotHere(m, {1, 2}, "libraries=/nowhere;device=1"),
            missing + "in the folder '/nowhere' of its option libraries");
  const Manifest found = Read(With(R"("probe": {"library": "libc.so.6", "option": "libraries"})"));
  EXPECT_EQ(WhyNotHere(found, {1, 2}, "device=1"), "");
  EXPECT_NE(WhyNotHere(found, {1, 2}, "libraries=/nowhere"), "");
}

}  // namespace
}  // namespace ge

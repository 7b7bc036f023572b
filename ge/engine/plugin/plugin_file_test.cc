// Who may have written a plugin: each kind of stranger by itself, and the places that Debian, a
// build folder and a container make.
#include "ge/engine/plugin/plugin_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "ge/base/own_folder.h"

namespace ge {
namespace {

constexpr uid_t kRoot = 0, kMe = 1000, kBuilder = 1001, kStranger = 1002;
constexpr gid_t kMine = 1000, kBuilders = 1001, kShared = 100;

WritersRule RuleOf(uid_t user, WritersRule::Facts library = {S_IFREG | 0755, kRoot, 0}) {
  WritersRule rule;
  rule.user = user;
  rule.library = library;
  rule.is_private = [](gid_t g) { return g == 0 || g == kMine; };
  return rule;
}
std::string Refused(const WritersRule& rule, mode_t mode, uid_t owner, gid_t group,
                    bool folder = false) {
  return rule.Refusal({mode, owner, group}, folder);
}
constexpr bool kFolder = true;

TEST(PluginFileTest, PlacesThatAreUsual) {
  const WritersRule rule = RuleOf(kMe);
  EXPECT_EQ(Refused(rule, 0644, kRoot, 0), "");             // /usr/lib, as Debian installs
  EXPECT_EQ(Refused(rule, 0755, kRoot, 0, kFolder), "");    // its folders
  EXPECT_EQ(Refused(rule, 01777, kRoot, 0, kFolder), "");   // /tmp: all is its owner's
  EXPECT_EQ(Refused(rule, 0664, kMe, kMine), "");           // built with a umask of 002
  EXPECT_EQ(Refused(rule, 0775, kMe, kMine, kFolder), "");  // its build folder
  EXPECT_EQ(Refused(rule, 0664, kRoot, 0), "");             // a container whose user is arbitrary
  EXPECT_EQ(Refused(RuleOf(kRoot), 0755, kRoot, kShared), "");
}

TEST(PluginFileTest, Strangers) {
  const WritersRule rule = RuleOf(kMe);
  for (const bool folder : {false, true}) {
    EXPECT_NE(Refused(rule, 0666, kMe, kMine, folder)
                  .find("its mode 666 lets everybody write it; "
                        "run chmod o-w on it"),
              std::string::npos);
    EXPECT_NE(Refused(rule, 0664, kMe, 54321, folder)
                  .find("its mode 664 lets group 54321 write it, in which others are than root and "
                        "you; run chmod g-w on it"),
              std::string::npos);
    EXPECT_NE(Refused(rule, 0644, 54321, kMine, folder).find("its owner is 54321, wanted root or"),
              std::string::npos);
    // Root is no better protected from others than anybody.
    EXPECT_NE(Refused(RuleOf(kRoot), 0644, kStranger, kMine, folder), "");
  }
  // A sticky folder of a stranger is the stranger's.
  EXPECT_NE(Refused(rule, 01777, kStranger, 0, kFolder), "");
  // A sticky file is nothing special.
  EXPECT_NE(Refused(rule, 01666, kMe, kMine), "");
  // Names beside the group's own members.
  EXPECT_NE(rule.Refusal({0664, kMe, kMine, true}, false).find("access list"), std::string::npos);
  EXPECT_EQ(rule.Refusal({0644, kMe, kMine, true}, false), "");
}

TEST(PluginFileTest, WhoMayWriteTheLibraryGainsNothing) {
  // Root in a container runs what the user of the checkout built.
  const WritersRule root = RuleOf(kRoot, {S_IFREG | 0755, kBuilder, kBuilders});
  EXPECT_EQ(Refused(root, 0755, kBuilder, kBuilders), "");
  EXPECT_NE(Refused(root, 0775, kBuilder, kBuilders), "");  // the library's group may not write it
  EXPECT_NE(Refused(root, 0755, kStranger, kBuilders), "");
  // A tree that a group builds together.
  const WritersRule together = RuleOf(kMe, {S_IFREG | 0775, kBuilder, kShared});
  EXPECT_EQ(Refused(together, 0775, kBuilder, kShared), "");
  EXPECT_NE(Refused(together, 0775, kBuilder, kBuilders), "");
  EXPECT_NE(Refused(together, 0777, kBuilder, kShared), "");  // never everybody
}

class PluginFolderTest : public ::testing::Test {
 protected:
  PluginFolderTest() : path_(std::filesystem::temp_directory_path() / "ge_plugin_file_test") {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ / "a/b");
    std::ofstream(path_ / "a/b/x.so") << "x";
    Mode("", 0755);
    Mode("a", 0755);
    Mode("a/b", 0755);
    Mode("a/b/x.so", 0644);
  }
  ~PluginFolderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  void Mode(const char* name, mode_t mode) { ASSERT_EQ(chmod((path_ / name).c_str(), mode), 0); }
  std::string File() const { return std::filesystem::canonical(path_ / "a/b/x.so").string(); }
  static Result<TrustedFile> Open(const std::string& path) {
    return TrustedFile::Open("plugin", path, SystemWritersRule());
  }
  std::string Check() const { return Open(File()).status().message(); }
  const std::filesystem::path path_;
};

TEST_F(PluginFolderTest, FoldersAboveCountToo) {
  EXPECT_EQ(Check(), "");
  Mode("a", 0777);
  EXPECT_NE(Check().find("a/b/x.so' is refused: of its folder '"), std::string::npos) << Check();
  EXPECT_NE(Check().find("/a': its mode 777 lets everybody write it"), std::string::npos);
  Mode("a", 01777);
  EXPECT_EQ(Check(), "");
  Mode("a", 0755);
  Mode("a/b", 0757);
  EXPECT_NE(Check().find("/a/b': its mode 757 lets everybody write it"), std::string::npos);
  Mode("a/b", 0755);
  Mode("a/b/x.so", 0646);
  EXPECT_NE(Check().find("x.so' is refused: its mode 646 lets everybody"), std::string::npos);
}

TEST_F(PluginFolderTest, WhatIsNoFile) {
  EXPECT_EQ(Open(File() + "x").status().code(), Code::kIoError);
  EXPECT_EQ(Open(File() + "/x").status().code(), Code::kIoError);
  const std::string folder = std::filesystem::path(File()).parent_path().string();
  EXPECT_NE(Open(folder).status().message().find("not a regular file"), std::string::npos);
  // Nobody writes the pipe, and opening it does not wait for somebody.
  ASSERT_EQ(mkfifo((path_ / "a/pipe").c_str(), 0600), 0);
  EXPECT_NE(Open(folder.substr(0, folder.size() - 2) + "/pipe").status().message().find("regular"),
            std::string::npos);
}

TEST_F(PluginFolderTest, LinksInAPathThatShouldHaveNoneAreNotFollowed) {
  // As if somebody had put them there after the path was resolved.
  const std::string root = std::filesystem::canonical(path_).string();
  std::filesystem::create_symlink(root + "/a", path_ / "link");
  std::filesystem::create_symlink(root + "/a/b/x.so", path_ / "link.so");
  EXPECT_EQ(Open(root + "/link/b/x.so").status().code(), Code::kIoError);
  EXPECT_EQ(Open(root + "/link.so").status().code(), Code::kIoError);
}

TEST_F(PluginFolderTest, WhatIsReadIsWhatWasChecked) {
  auto file = Open(File());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_TRUE(file->CheckStill().ok());
  const auto digest = file->Sha256();
  ASSERT_TRUE(digest.ok());
  EXPECT_EQ(*digest, "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881");
  // Another file takes its name: the name is no longer what was checked, the descriptor still is.
  std::ofstream(path_ / "a/b/y.so") << "yy";
  std::filesystem::rename(path_ / "a/b/y.so", path_ / "a/b/x.so");
  EXPECT_NE(file->CheckStill().message().find("changed or replaced while it was being loaded"),
            std::string::npos);
  const auto text = file->Read(10);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "x");
  EXPECT_EQ(file->Read(0).status().code(), Code::kLimitExceeded);
  std::filesystem::remove(path_ / "a/b/x.so");
  EXPECT_FALSE(file->CheckStill().ok());
}

TEST(PluginFileTest, FoldersThatTheLibraryLiesInAreLeftOut) {
  // Whatever they are on this machine, this program was loaded from there.
  const std::string own = OwnFile().string();
  ASSERT_FALSE(own.empty());
  WritersRule nobody = SystemWritersRule();
  struct stat st;
  ASSERT_EQ(stat(own.c_str(), &st), 0);
  nobody.library.owner = nobody.user = st.st_uid;
  const auto file = TrustedFile::Open("plugin", own, nobody);
  EXPECT_EQ(file.status().message().find("of its folder"), std::string::npos);
}

}  // namespace
}  // namespace ge

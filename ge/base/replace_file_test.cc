#include "ge/base/replace_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "ge/base/descriptor.h"
#include "ge/base/read_file.h"

namespace ge {
namespace {

namespace fs = std::filesystem;

// A folder that is gone again at the test's end.
class ReplaceFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ge-replace-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  std::string Text(const std::string& name) const {
    std::ifstream in(At(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  void Put(const std::string& name, const std::string& text) {
    std::ofstream(At(name), std::ios::binary) << text;
  }
  size_t Files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(ReplaceFileTest, ANewFileHasTheBytesAndTheUsersMode) {
  const mode_t mask = umask(027);
  const Status status = ReplaceFile(At("a"), "text", true);
  umask(mask);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(Text("a"), "text");
  EXPECT_EQ(fs::status(At("a")).permissions(), fs::perms(0640));
  EXPECT_EQ(Files(), 1u);
}

TEST_F(ReplaceFileTest, AnOldFileKeepsItsMode) {
  Put("a", "old");
  fs::permissions(At("a"), fs::perms(0604));
  ASSERT_TRUE(ReplaceFile(At("a"), "new", false).ok());
  EXPECT_EQ(Text("a"), "new");
  EXPECT_EQ(fs::status(At("a")).permissions(), fs::perms(0604));
}

TEST_F(ReplaceFileTest, AnOldFileKeepsItsOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  Put("a", "old");
  ASSERT_EQ(chown(At("a").c_str(), 12345, 23456), 0);
  ASSERT_TRUE(ReplaceFile(At("a"), "new", false).ok());
  struct stat info;
  ASSERT_EQ(stat(At("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 12345u);
  EXPECT_EQ(info.st_gid, 23456u);
}

TEST_F(ReplaceFileTest, ALinkIsFollowed) {
  fs::create_directory(At("sub"));
  Put("sub/file", "old");
  fs::create_symlink("sub/file", At("link"));
  fs::create_symlink("link", At("twice"));
  ASSERT_TRUE(ReplaceFile(At("twice"), "new", false).ok());
  EXPECT_TRUE(fs::is_symlink(At("twice")));
  EXPECT_TRUE(fs::is_symlink(At("link")));
  EXPECT_EQ(Text("sub/file"), "new");
}

TEST_F(ReplaceFileTest, ALinkToNothingMakesWhatItNames) {
  fs::create_symlink("not yet", At("link"));
  ASSERT_TRUE(ReplaceFile(At("link"), "new", false).ok());
  EXPECT_TRUE(fs::is_symlink(At("link")));
  EXPECT_EQ(Text("not yet"), "new");
}

TEST_F(ReplaceFileTest, ARingOfLinksIsRefused) {
  fs::create_symlink("b", At("a"));
  fs::create_symlink("a", At("b"));
  const Status status = ReplaceFile(At("a"), "new", false);
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_NE(status.message().find("symbolic links"), std::string::npos) << status.message();
  EXPECT_EQ(Files(), 2u);
}

TEST_F(ReplaceFileTest, AFifoIsWrittenAndStays) {
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = Text("fifo"); });
  const Status status = ReplaceFile(At("fifo"), "through", false);
  reader.join();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(At("fifo")));
  EXPECT_EQ(Files(), 1u);
}

TEST_F(ReplaceFileTest, AFifoThatNobodyReadsIsAnError) {
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  const Status status = ReplaceFile(At("fifo"), "text", false);
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_NE(status.message().find("nobody reads"), std::string::npos) << status.message();
}

TEST_F(ReplaceFileTest, APipeWithoutAReaderIsAnError) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const Descriptor writer(ends[1]);
  const Status status = ReplaceFile("/dev/fd/" + std::to_string(writer.get()), "text", false);
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_NE(status.message().find("Broken pipe"), std::string::npos) << status.message();
}

// The shell has opened the file, and what stands in it stays.
TEST_F(ReplaceFileTest, ADescriptorOfThisProcessGoesOnWhereItIs) {
  const Descriptor out(open(At("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
  ASSERT_TRUE(out.valid());
  ASSERT_EQ(write(out.get(), "before ", 7), 7);
  const std::string number = std::to_string(out.get());
  fs::create_symlink("/proc/self/fd/" + number, At("stdout"));
  ASSERT_TRUE(ReplaceFile(At("stdout"), "one ", false).ok());
  ASSERT_TRUE(ReplaceFile("/dev/fd/" + number, "two", false).ok());
  EXPECT_EQ(Text("log"), "before one two");
  EXPECT_TRUE(fs::is_symlink(At("stdout")));
}

TEST_F(ReplaceFileTest, ADeviceIsWrittenAndStays) {
  // A terminal of this test's own: a device that nothing else uses.
  const Descriptor terminal(posix_openpt(O_RDWR | O_NOCTTY));
  if (!terminal.valid() || grantpt(terminal.get()) != 0 || unlockpt(terminal.get()) != 0) {
    GTEST_SKIP() << "this system gives no terminal";
  }
  const std::string path = ptsname(terminal.get());
  const Descriptor keeps_it_open(open(path.c_str(), O_RDWR | O_NOCTTY));
  ASSERT_TRUE(ReplaceFile(path, "device", false).ok());
  char got[6] = {};
  EXPECT_EQ(read(terminal.get(), got, 6), 6);
  EXPECT_EQ(std::string(got, 6), "device");
  EXPECT_TRUE(fs::is_character_file(path));
}

TEST_F(ReplaceFileTest, WhatCannotBeWrittenStaysAsItWas) {
  for (const std::string& path : {At(""), At("no such folder/a"), folder_.string()}) {
    const Status status = ReplaceFile(path, "new", false);
    EXPECT_EQ(status.code(), Code::kIoError) << path;
    EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
    EXPECT_FALSE(CheckReplaceable(path).ok()) << path;
  }
  EXPECT_EQ(Files(), 0u);
}

TEST_F(ReplaceFileTest, ALongNameNeedsNoLongerOneBesideIt) {
  const std::string name(255, 'n');
  ASSERT_TRUE(ReplaceFile(At(name), "text", false).ok());
  EXPECT_EQ(Text(name), "text");
}

TEST_F(ReplaceFileTest, ToCheckWritesNothing) {
  Put("a", "old");
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  for (const char* name : {"a", "new", "fifo"}) {
    EXPECT_TRUE(CheckReplaceable(At(name)).ok()) << name;
  }
  EXPECT_EQ(Text("a"), "old");
  EXPECT_EQ(Files(), 2u);
}

TEST_F(ReplaceFileTest, OnlyRegularFilesAreRead) {
  Put("a", "0123456789");
  fs::create_symlink("a", At("link"));
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  const auto text = ReadRegularFile(At("link"), 10);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "0123456789");
  EXPECT_EQ(ReadRegularFile(At("a"), 9).status().code(), Code::kLimitExceeded);
  for (const std::string& path : {At("fifo"), std::string("/dev/zero"), folder_.string()}) {
    const Status status = ReadRegularFile(path, 10).status();
    EXPECT_EQ(status.code(), Code::kIoError) << path;
    EXPECT_NE(status.message().find("no regular file"), std::string::npos) << status.message();
  }
  EXPECT_EQ(ReadRegularFile(At("none"), 10).status().code(), Code::kIoError);
  // It says that it has no bytes.
  const auto status = ReadRegularFile("/proc/self/status", 1 << 20);
  ASSERT_TRUE(status.ok());
  EXPECT_NE(status->find("VmRSS"), std::string::npos);
}

TEST_F(ReplaceFileTest, WhatGrowsIsOpenedAsItIs) {
  Put("a", "old");
  bool own = true;
  for (const char* name : {"a", "new"}) {
    const auto fd = OpenForLines(At(name), &own);
    ASSERT_TRUE(fd.ok()) << fd.status().ToString();
    EXPECT_EQ(lseek(fd->get(), 0, SEEK_END), name == std::string("a") ? 3 : 0);
    EXPECT_EQ(WriteBytes(fd->get(), "line"), 0);
    EXPECT_FALSE(own);
  }
  EXPECT_EQ(Text("a"), "oldline");
  EXPECT_EQ(Text("new"), "line");
  EXPECT_EQ(OpenForLines(folder_.string(), &own).status().code(), Code::kIoError);
  const Descriptor held(open(At("a").c_str(), O_WRONLY));
  EXPECT_TRUE(OpenForLines("/proc/self/fd/" + std::to_string(held.get()), &own).ok());
  EXPECT_TRUE(own);
}

TEST_F(ReplaceFileTest, AFifoWithoutAReaderIsNotWaitedFor) {
  bool own = true;
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  const Status status = OpenForLines(At("fifo"), &own).status();
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_NE(status.message().find("nobody reads"), std::string::npos) << status.message();
  const Descriptor reader(open(At("fifo").c_str(), O_RDONLY | O_NONBLOCK));
  const auto fd = OpenForLines(At("fifo"), &own);
  ASSERT_TRUE(fd.ok()) << fd.status().ToString();
  EXPECT_EQ(WriteBytes(fd->get(), "line"), 0);
  EXPECT_EQ(fcntl(fd->get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(ReplaceFileTest, AReaderThatHasGoneIsAnErrorAndNoSignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(WriteBytes(ends[1], "line"), EPIPE);
  close(ends[1]);
}

TEST_F(ReplaceFileTest, NamesOfUnfinishedFilesAreKnown) {
  EXPECT_TRUE(IsUnfinishedFile(".0123456789abcdef.part"));
  for (const char* name : {"", ".part", "x.part", ".0123456789abcde.part", ".0123456789abcdeg.part",
                           "a0123456789abcdef.part", ".0123456789abcdef.parts"}) {
    EXPECT_FALSE(IsUnfinishedFile(name)) << name;
  }
}

}  // namespace
}  // namespace ge

#include "ge/base/file_mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace ge {
namespace {

constexpr uint64_t kBytes = 16 * 4096;

// Memory of `size` bytes 7 at an address, or anywhere: what a heap would hand out next.
std::byte* Anonymous(void* at) {
  void* p = mmap(at, kBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  if (p == MAP_FAILED) return nullptr;
  std::memset(p, 7, kBytes);
  return static_cast<std::byte*>(p);
}

TEST(FileMapping, ItsPagesComeBackFromTheFile) {
  FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const std::string content(kBytes, 'x');
  ASSERT_EQ(std::fwrite(content.data(), 1, kBytes, file), kBytes);
  ASSERT_EQ(std::fflush(file), 0);
  {
    FileMapping mapping(mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, fileno(file), 0), kBytes);
    ASSERT_EQ(static_cast<char>(mapping.data()[kBytes - 1]), 'x');
    DropMappedPages(mapping.data() + 100, kBytes - 100);
    EXPECT_EQ(std::memcmp(mapping.data(), content.data(), kBytes), 0);
  }
  std::fclose(file);
}

// Anonymous memory stands for the file: what is dropped of it is gone, and can be seen.
TEST(FileMapping, OnlyPagesOfALivingOneAreDropped) {
  std::byte* at = nullptr;
  {
    FileMapping mapping(Anonymous(nullptr), kBytes);
    at = mapping.data();
    DropMappedPages(at + 4096, kBytes);  // ends beyond it
    EXPECT_EQ(static_cast<int>(at[4096]), 7);
    DropMappedPages(at + 4096, 4096);
    EXPECT_EQ(static_cast<int>(at[4095]), 7);
    EXPECT_EQ(static_cast<int>(at[4096]), 0);
    EXPECT_EQ(static_cast<int>(at[8192]), 7);
    DropMappedPages(at + 8200, 16);  // of a page that others may read: they fetch it again
    EXPECT_EQ(static_cast<int>(at[8191]), 0);
    EXPECT_EQ(static_cast<int>(at[8192]), 0);
    EXPECT_EQ(static_cast<int>(at[12287]), 0);
    EXPECT_EQ(static_cast<int>(at[12288]), 7);
    DropMappedPages(at + 12288, 0);
    EXPECT_EQ(static_cast<int>(at[12288]), 7);
  }
  ASSERT_EQ(Anonymous(at), at);  // other memory at that address now
  DropMappedPages(at, kBytes);
  EXPECT_EQ(static_cast<int>(at[0]), 7);
  EXPECT_EQ(static_cast<int>(at[kBytes - 1]), 7);
  munmap(at, kBytes);
}

// A file of a folder, which others may change.
class Shared {
 public:
  Shared() {
    folder_ = ::testing::TempDir() + "mapping-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    Write(path(), 'x', O_CREAT);
  }
  ~Shared() {
    (void)unlink(path().c_str());
    (void)rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/weights"; }
  static void Write(const std::string& path, char c, int flags) {
    const Descriptor fd(open(path.c_str(), O_WRONLY | flags, 0600));
    const std::string content(kBytes, c);
    EXPECT_EQ(write(fd.get(), content.data(), kBytes), static_cast<ssize_t>(kBytes));
  }
  FileIdentity Identity() const {
    struct stat info;
    EXPECT_EQ(stat(path().c_str(), &info), 0);
    return FileIdentity(info);
  }
  std::unique_ptr<FileMapping> Map(bool keeps_open = true) const {
    Descriptor fd(open(path().c_str(), O_RDONLY));
    AwaitNextTick(Identity());
    void* data = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (!keeps_open) fd = Descriptor();
    return std::make_unique<FileMapping>(data, kBytes,
                                         SharedFile{std::move(fd), path(), Identity()});
  }

 private:
  std::string folder_;
};

TEST(FileMapping, TellsThatItsFileWasWrittenTo) {
  const Shared file;
  for (const bool open : {true, false}) {
    const auto mapping = file.Map(open);
    EXPECT_TRUE(mapping->Check().ok());
    const FileIdentity before = file.Identity();
    Shared::Write(file.path(), 'x', 0);  // the same bytes; who knows
    const Status status = mapping->Check();
    EXPECT_EQ(status.code(), Code::kIoError);
    EXPECT_NE(status.message().find(file.path()), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("written to"), std::string::npos) << status.message();
    // For good, also where the file gets its time back.
    const timespec back = {before.changed_ns / 1'000'000'000, before.changed_ns % 1'000'000'000};
    const timespec times[2] = {back, back};
    ASSERT_EQ(utimensat(AT_FDCWD, file.path().c_str(), times, 0), 0);
    EXPECT_EQ(mapping->Check().code(), Code::kIoError);
  }
}

TEST(FileMapping, TellsThatItsFileWasCut) {
  const Shared file;
  const auto mapping = file.Map();
  ASSERT_EQ(truncate(file.path().c_str(), 100), 0);
  const Status status = mapping->Check();
  EXPECT_EQ(status.code(), Code::kIoError);
  EXPECT_NE(status.message().find("has 100 bytes, and had 65536"), std::string::npos)
      << status.message();
  ASSERT_EQ(truncate(file.path().c_str(), kBytes), 0);
  EXPECT_EQ(mapping->Check().code(), Code::kIoError);
}

TEST(FileMapping, AnotherFileOfItsNameIsNothingToIt) {
  const Shared file;
  for (const bool open : {true, false}) {
    const auto mapping = file.Map(open);
    Shared::Write(file.path() + ".new", 'y', O_CREAT);
    ASSERT_EQ(rename((file.path() + ".new").c_str(), file.path().c_str()), 0);
    EXPECT_TRUE(mapping->Check().ok());
    EXPECT_EQ(static_cast<char>(mapping->data()[0]), open ? 'x' : 'y');
  }
}

TEST(MappedFiles, AreEachOnce) {
  const Shared file;
  const std::shared_ptr<FileMapping> mapping = file.Map();
  MappedFiles files;
  files.Add(mapping, mapping->data(), 100);
  files.Add(mapping, mapping->data() + 100, 100);
  const std::string heap(100, 'x');
  files.Add(mapping, heap.data(), heap.size());
  EXPECT_TRUE(files.Check().ok());
  ASSERT_EQ(truncate(file.path().c_str(), 0), 0);
  EXPECT_EQ(files.Check().code(), Code::kIoError);
}

}  // namespace
}  // namespace ge

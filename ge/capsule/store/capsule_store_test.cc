// Capsules as files: what is written is read back where it lies; cut, damaged and lying files are
// refused by member and field, or read to the last whole member.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "ge/capsule/store/capsule_reader.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/capsule/store/member_name.h"
#include "ge/capsule/store/zip_directory.h"
#include "ge/capsule/store/zip_format.h"

namespace ge {
namespace {

class CapsuleStore : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "capsule.XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const char* name = "a.gecap") const { return folder_ + "/" + name; }
  size_t FilesThere() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  static std::string Slurp(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  void Put(const std::string& bytes) const { std::ofstream(Path(), std::ios::binary) << bytes; }
  // Three members, one of them empty.
  std::string Sample() {
    auto w = CapsuleWriter::Create(Path());
    EXPECT_TRUE(w.ok());
    EXPECT_TRUE((*w)->Add("manifest.json", "{}").ok());
    EXPECT_TRUE((*w)->Add("const/empty", "").ok());
    EXPECT_TRUE((*w)->Add("pack/one", std::string(5000, 'x'), kPackAlign).ok());
    EXPECT_TRUE((*w)->Finish().ok());
    return Slurp(Path());
  }
  // The message of opening these bytes, or of reading the first member that does not.
  std::string Fault(const std::string& bytes) {
    Put(bytes);
    const auto reader = CapsuleReader::Open(Path());
    if (!reader.ok()) return reader.status().message();
    for (const auto& m : (*reader)->members()) {
      const auto read = (*reader)->Read(m.name);
      if (!read.ok()) return read.status().message();
    }
    return {};
  }

  std::string folder_;
};

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(CapsuleStore, MembersAreReadWhereTheyLie) {
  Sample();
  EXPECT_EQ(FilesThere(), 1u);
  const auto reader = CapsuleReader::Open(Path());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_FALSE((*reader)->unfinished());
  ASSERT_EQ((*reader)->members().size(), 3u);
  EXPECT_EQ(Text(*(*reader)->Read("manifest.json")), "{}");
  EXPECT_EQ(Text(*(*reader)->Read("const/empty")), "");
  EXPECT_EQ(Text(*(*reader)->Read("pack/one")), std::string(5000, 'x'));
  EXPECT_FALSE((*reader)->Has("pack/two"));
  const auto base = (*reader)->members()[0].bytes.data();
  const std::string bytes = Slurp(Path());
  const auto members = ReadZipDirectory(std::as_bytes(std::span(bytes)), 10);
  ASSERT_TRUE(members.ok());
  EXPECT_EQ((*members)[0].data % kMemberAlign, 0u);
  EXPECT_EQ((*members)[1].data % kMemberAlign, 0u);
  EXPECT_EQ((*members)[2].data % kPackAlign, 0u);
  EXPECT_EQ((*reader)->members()[2].bytes.data() - base,
            static_cast<ptrdiff_t>((*members)[2].data - (*members)[0].data));
}

TEST_F(CapsuleStore, AnEarlierFileStaysUntilTheNewOneIsPublished) {
  Put("old");
  {
    auto w = CapsuleWriter::Create(Path());
    ASSERT_TRUE(w.ok());
    ASSERT_TRUE((*w)->Add("a", "1").ok());
    EXPECT_EQ(Slurp(Path()), "old");
  }
  EXPECT_EQ(Slurp(Path()), "old");
  EXPECT_EQ(FilesThere(), 1u);
  auto w = CapsuleWriter::Create(Path());
  ASSERT_TRUE(w.ok());
  ASSERT_TRUE((*w)->Add("a", "1").ok());
  ASSERT_TRUE((*w)->Publish().ok());
  ASSERT_TRUE((*w)->Add("b", "22").ok());
  const auto open = CapsuleReader::Open(Path());  // no directory yet
  ASSERT_TRUE(open.ok()) << open.status().message();
  EXPECT_TRUE((*open)->unfinished());
  EXPECT_EQ(Text(*(*open)->Read("b")), "22");
  ASSERT_TRUE((*w)->Finish().ok());
  const auto whole = CapsuleReader::Open(Path());
  ASSERT_TRUE(whole.ok());
  EXPECT_FALSE((*whole)->unfinished());
  EXPECT_EQ((*whole)->members().size(), 2u);
}

TEST_F(CapsuleStore, NamesAreTakenOnceAndLeadNowhere) {
  auto w = CapsuleWriter::Create(Path());
  ASSERT_TRUE(w.ok());
  ASSERT_TRUE((*w)->Add("a/b.npy", "").ok());
  EXPECT_EQ((*w)->Add("a/b.npy", "").code(), Code::kFailedPrecondition);
  for (const char* name : {"", "/a", "a/", "a//b", "..", "a/../b", ".", "a\\b", "a\nb", "\xff"}) {
    EXPECT_FALSE((*w)->Add(name, "").ok()) << name;
  }
  EXPECT_FALSE((*w)->Add(std::string(1025, 'a'), "").ok());
  ASSERT_TRUE((*w)->Add("ü", "").ok());
  ASSERT_TRUE((*w)->Finish().ok());
  EXPECT_EQ((*w)->Add("c", "").code(), Code::kFailedPrecondition);
  EXPECT_EQ(MemberPart("layer/0:weight"), "layer_0_weight");
  EXPECT_EQ(MemberPart(".."), "_..");
  EXPECT_EQ(MemberPart(""), "_");
}

TEST_F(CapsuleStore, EveryCutIsReadToItsLastMemberOrRefused) {
  const std::string whole = Sample();
  for (size_t bytes = 0; bytes < whole.size(); bytes += bytes < 300 ? 1 : 37) {
    Put(whole.substr(0, bytes));
    const auto reader = CapsuleReader::Open(Path());
    if (!reader.ok()) {
      EXPECT_LT(bytes, 4u) << reader.status().message();
      continue;
    }
    EXPECT_TRUE((*reader)->unfinished()) << bytes;
    for (const auto& m : (*reader)->members()) EXPECT_TRUE((*reader)->Read(m.name).ok()) << bytes;
  }
}

TEST_F(CapsuleStore, FlippedBitsAreNamedOrDoNotMatter) {
  const std::string whole = Sample();
  std::mt19937 random(53);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = whole;
    const size_t bit = random() % (8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    const std::string fault = Fault(bytes);
    EXPECT_TRUE(fault.empty() || fault.find("a.gecap") != std::string::npos) << fault;
  }
  std::string bytes = whole;
  bytes[whole.find("xxxx")] = 'y';
  EXPECT_NE(Fault(bytes).find("member 'pack/one': its checksum is"), std::string::npos);
}

TEST_F(CapsuleStore, LyingHeadersAreNamed) {
  const std::string whole = Sample();
  const size_t directory = whole.find("PK\x01\x02");
  const auto with = [&](size_t at, std::string_view bytes) {
    std::string out = whole;
    return out.replace(at, bytes.size(), bytes);
  };
  EXPECT_NE(Fault(with(directory + 10, "\x08")).find("its method is 0 in its header and 8"),
            std::string::npos);
  EXPECT_NE(Fault(with(directory + 24, "\x09")).find("its size is 2 in its header and 9"),
            std::string::npos);
  EXPECT_NE(Fault(with(directory + 42, "\x01")).find("it is not at byte 1"), std::string::npos);
  EXPECT_NE(Fault(with(directory + 46, "n")).find("its header names it 'manifest.json'"),
            std::string::npos);
  std::string both = with(8, "\x08");
  both[directory + 10] = 8;
  EXPECT_NE(Fault(both).find("member 'manifest.json': its method is 8, wanted 0 (stored)"),
            std::string::npos);
  std::string twice = whole;  // the second member's directory entry, made to name the first's place
  const size_t second = twice.find("PK\x01\x02", directory + 4);
  twice.replace(second + 42, 4, std::string(4, '\0'));
  EXPECT_FALSE(Fault(twice).empty());
  const size_t end = whole.rfind("PK\x05\x06");
  EXPECT_NE(Fault(with(end + 10, "\x04")).find("its directory says 4 members in"),
            std::string::npos);
  EXPECT_NE(Fault(with(end + 16, "\xff\xff\xff\x7f")).find("its directory has"), std::string::npos);
  EXPECT_NE(Fault("PK").find("it does not begin as a ZIP file does"), std::string::npos);
}

TEST_F(CapsuleStore, MembersAreCounted) {
  Sample();
  CapsuleLimits limits;
  limits.members = 2;
  EXPECT_EQ(CapsuleReader::Open(Path(), limits).status().code(), Code::kLimitExceeded);
  limits = {};
  limits.file_bytes = 100;
  EXPECT_EQ(CapsuleReader::Open(Path(), limits).status().code(), Code::kLimitExceeded);
}

TEST_F(CapsuleStore, MoreMembersThan16BitsCount) {
  auto w = CapsuleWriter::Create(Path());
  ASSERT_TRUE(w.ok());
  for (int i = 0; i < 66'000; ++i) ASSERT_TRUE((*w)->Add("m" + std::to_string(i), "").ok());
  ASSERT_TRUE((*w)->Finish().ok());
  const auto reader = CapsuleReader::Open(Path());
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_EQ((*reader)->members().size(), 66'000u);
}

TEST_F(CapsuleStore, WhatCannotBeWrittenSaysSo) {
  EXPECT_EQ(CapsuleWriter::Create(folder_ + "/none/a").status().code(), Code::kIoError);
  EXPECT_EQ(CapsuleWriter::Create(folder_).status().code(), Code::kIoError);
  EXPECT_EQ(CapsuleWriter::Create("/dev/null").status().code(), Code::kIoError);
}

}  // namespace
}  // namespace ge

#include "ge/host/usable_cores.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ge {
namespace {

class QuotaCoresTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/cgroup" + std::to_string(getpid());
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text << "\n";
  }
  std::string root_;
};

TEST_F(QuotaCoresTest, ThereIsNoneWithoutFiles) {
  EXPECT_EQ(QuotaCores(root_, "0::/user.slice/a.scope\n"), 0u);
  EXPECT_EQ(QuotaCores(root_, ""), 0u);
  EXPECT_EQ(QuotaCores(root_, "nonsense\n:::\n"), 0u);
}

TEST_F(QuotaCoresTest, TheLeastOfAGroupAndThoseAboveItCounts) {
  Write("system.slice/app.service/cpu.max", "max 100000");
  Write("system.slice/cpu.max", "250000 100000");
  EXPECT_EQ(QuotaCores(root_, "0::/system.slice/app.service\n"), 3u);
  Write("system.slice/app.service/cpu.max", "150000 100000");
  EXPECT_EQ(QuotaCores(root_, "0::/system.slice/app.service\n"), 2u);
  Write("cpu.max", "20000 100000");
  EXPECT_EQ(QuotaCores(root_, "0::/system.slice/app.service\n"), 1u) << "never none";
}

TEST_F(QuotaCoresTest, AContainerSeesItsOwnGroupAsTheRoot) {
  Write("cpu.max", "400000 100000");
  EXPECT_EQ(QuotaCores(root_, "0::/\n"), 4u);
  EXPECT_EQ(QuotaCores(root_, "0::/../../outside/of/it\n"), 4u);
}

TEST_F(QuotaCoresTest, VersionOneHasItsOwnFiles) {
  Write("cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1");
  Write("cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000");
  const std::string memberships = "9:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n";
  EXPECT_EQ(QuotaCores(root_, memberships), 0u);
  Write("cpu,cpuacct/docker/cpu.cfs_quota_us", "200000");
  Write("cpu,cpuacct/docker/cpu.cfs_period_us", "100000");
  EXPECT_EQ(QuotaCores(root_, memberships), 2u);
}

TEST(UsableCores, IsAtLeastOne) { EXPECT_GE(UsableCores(), 1u); }

}  // namespace
}  // namespace ge

#include "ge/host/library_environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "ge/session/session.h"

namespace ge {
namespace {

std::string Of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "(unset)";
}

// The variables as they were before a test come back after it.
class LibraryEnvironmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < 3; ++i) {
      before_[i] = Of(kNames[i]);
      unsetenv(kNames[i]);
    }
  }
  void TearDown() override {
    for (size_t i = 0; i < 3; ++i) {
      before_[i] == "(unset)" ? unsetenv(kNames[i]) : setenv(kNames[i], before_[i].c_str(), 1);
    }
  }
  static constexpr const char* kNames[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "GE_LIBRARY_ENV"};
  std::string before_[3];
};

TEST_F(LibraryEnvironmentTest, IsSetWhileALibraryLoadsAndThenTakenBack) {
  {
    const LibraryEnvironment environment;
    EXPECT_NE(Of("GOMP_SPINCOUNT"), "(unset)");
    EXPECT_EQ(Of("OMP_WAIT_POLICY"), "(unset)");
  }
  EXPECT_EQ(Of("GOMP_SPINCOUNT"), "(unset)");
}

TEST_F(LibraryEnvironmentTest, LeavesWhatTheUserSet) {
  setenv("GOMP_SPINCOUNT", "77", 1);
  { const LibraryEnvironment environment; }
  EXPECT_EQ(Of("GOMP_SPINCOUNT"), "77");
  unsetenv("GOMP_SPINCOUNT");
  setenv("OMP_WAIT_POLICY", "active", 1);
  const LibraryEnvironment environment;
  EXPECT_EQ(Of("GOMP_SPINCOUNT"), "(unset)");
  EXPECT_EQ(Of("OMP_WAIT_POLICY"), "active");
}

TEST_F(LibraryEnvironmentTest, KeepLeavesItAlone) {
  setenv("GE_LIBRARY_ENV", "keep", 1);
  const LibraryEnvironment environment;
  EXPECT_EQ(Of("GOMP_SPINCOUNT"), "(unset)");
}

TEST_F(LibraryEnvironmentTest, ASessionLeavesNothingBehind) {
  auto all = [] {
    std::vector<std::string> list;
    for (char** p = environ; *p != nullptr; ++p) list.emplace_back(*p);
    return list;
  };
  const std::vector<std::string> before = all();
  ASSERT_TRUE(Session::Create({}).ok());
  EXPECT_EQ(all(), before);
}

}  // namespace
}  // namespace ge

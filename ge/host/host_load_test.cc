// A machine that others use, on clocks that a test drives.
#include "ge/host/host_load.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace ge {
namespace {

// The test's threads, one after the other, each with clocks of its own: as if side by side.
double wall = 0, had = 0, share = 1;
int late_threads = 0;

LoadClocks Clocks() {
  return {[] {
            wall += 1e5;
            had += share * 1e5;
            return wall;
          },
          [] { return had; }};
}
void SideBySide(uint64_t n, void (*body)(void*, uint64_t), void* ctx) {
  const double begin = wall;
  for (uint64_t i = 0; i < n; ++i) {
    if (i >= n - static_cast<uint64_t>(late_threads)) {
      body(ctx, i);  // by the first thread, as the helper has not come
      continue;
    }
    wall = begin;
    body(ctx, i);
  }
}

class HostLoadTest : public ::testing::Test {
 protected:
  HostLoadTest() {
    if (const char* before = std::getenv("GE_PROBE")) before_ = before;
    unsetenv("GE_PROBE");
    wall = had = 0;
    share = 1;
    late_threads = 0;
  }
  ~HostLoadTest() override {
    before_.empty() ? unsetenv("GE_PROBE") : setenv("GE_PROBE", before_.c_str(), 1);
  }
  std::string before_;
};

TEST_F(HostLoadTest, ThreadsThatHaveTheirProcessorsAreQuiet) {
  EXPECT_FALSE(IsBusyNow(1, &SideBySide, Clocks()));
  EXPECT_FALSE(IsBusyNow(8, &SideBySide, Clocks()));
  share = 0.95;
  EXPECT_FALSE(IsBusyNow(2, &SideBySide, Clocks()));
}

TEST_F(HostLoadTest, AThreadThatWaitsForItsProcessorIsNot) {
  share = 0.5;
  EXPECT_TRUE(IsBusyNow(1, &SideBySide, Clocks()));
  share = 0.85;
  EXPECT_TRUE(IsBusyNow(2, &SideBySide, Clocks()));
}

TEST_F(HostLoadTest, NorIsAHelperThatDoesNotCome) {
  late_threads = 1;
  EXPECT_TRUE(IsBusyNow(2, &SideBySide, Clocks()));
  EXPECT_FALSE(IsBusyNow(1, &SideBySide, Clocks()));
}

TEST_F(HostLoadTest, SwitchesAreCountedByProcessorTime) {
  EXPECT_FALSE(LoadWatch::IsBusy(0, 0));
  EXPECT_FALSE(LoadWatch::IsBusy(2, 0.001));  // chance
  EXPECT_FALSE(LoadWatch::IsBusy(10, 1));
  EXPECT_TRUE(LoadWatch::IsBusy(150, 1));
  EXPECT_TRUE(LoadWatch::IsBusy(10, 0.05));
}

TEST_F(HostLoadTest, AWordSaysItInstead) {
  setenv("GE_PROBE", "busy", 1);
  EXPECT_TRUE(IsBusyNow(1, &SideBySide, Clocks()));
  EXPECT_TRUE(LoadWatch().Busy());
  for (const char* word : {"quiet", "fixed"}) {
    setenv("GE_PROBE", word, 1);
    share = 0.1;
    EXPECT_FALSE(IsBusyNow(1, &SideBySide, Clocks()));
    EXPECT_FALSE(LoadWatch().Busy());
  }
}

}  // namespace
}  // namespace ge

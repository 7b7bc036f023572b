// Times are made up: nothing here waits.
#include "plugins/cpu/kit/arrival.h"

#include <gtest/gtest.h>

namespace ge_engines::cpu {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(Arrival, LateHelpersAreLeftOutForAWhileAndTriedAgain) {
  int64_t now = 1000 * kMs;
  Arrival::Forget();
  EXPECT_EQ(Arrival::Team(2, now), 2);
  for (int i = 0; i < 9; ++i) Arrival::Note(now, kMs, 2 * kMs);  // a fair share may take so long
  EXPECT_EQ(Arrival::Team(2, now), 2);
  for (int run = 0; run < 9; ++run) {
    Arrival::Note(now, kMs / 1000, kMs / 10);  // woken by the kernel, then there
    Arrival::Note(now, kMs / 1000, kMs / 10);
    EXPECT_EQ(Arrival::Team(2, now), 2);
    Arrival::Note(now, kMs / 1000, kMs / 1000);
  }
  for (int i = 0; i < 2; ++i) Arrival::Note(now, kMs / 10, 4 * kMs);
  EXPECT_EQ(Arrival::Team(2, now), 2);
  Arrival::Note(now, kMs / 10, 4 * kMs);
  EXPECT_EQ(Arrival::Team(2, now), 1);
  EXPECT_EQ(Arrival::Team(2, now + 9 * kMs), 1);
  EXPECT_EQ(Arrival::Team(2, now + 10 * kMs), 2);
  now += 10 * kMs;
  Arrival::Note(now, kMs / 10, 4 * kMs);  // late again: twice as long
  EXPECT_EQ(Arrival::Team(8, now + 19 * kMs), 1);
  EXPECT_EQ(Arrival::Team(8, now + 20 * kMs), 8);
  for (int i = 0; i < 20; ++i) Arrival::Note(now, kMs / 10, 4 * kMs);
  EXPECT_EQ(Arrival::Team(2, now + 319 * kMs), 1);
  EXPECT_EQ(Arrival::Team(2, now + 320 * kMs), 2);  // but never longer
  Arrival::Note(now + 320 * kMs, kMs, kMs / 100);   // they came
  EXPECT_EQ(Arrival::Team(2, now + 320 * kMs), 2);
  for (int i = 0; i < 3; ++i) Arrival::Note(now + 330 * kMs, kMs / 10, 4 * kMs);
  EXPECT_EQ(Arrival::Team(2, now + 339 * kMs), 1);  // forgiven: a short pause again
  EXPECT_EQ(Arrival::Team(2, now + 340 * kMs), 2);
  Arrival::Forget();
}

}  // namespace
}  // namespace ge_engines::cpu

#include "ge/run/arena_pool.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ge {
namespace {

TEST(ArenaPool, DropFreeGivesBackWhatNoRunHolds) {
  ArenaPool pool;
  auto held = pool.Take(1 << 20);
  ASSERT_TRUE(held.ok());
  {
    auto other = pool.Take(1 << 20);
    ASSERT_TRUE(other.ok());
  }
  EXPECT_EQ(pool.blocks(), 2u);
  pool.DropFree();
  EXPECT_EQ(pool.blocks(), 1u);
  std::memset(held->base(), 1, 1 << 20);
  auto again = pool.Take(1 << 20);
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again->base(), held->base());
  EXPECT_EQ(pool.blocks(), 2u);
}

}  // namespace
}  // namespace ge

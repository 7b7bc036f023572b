#include "plugins/units/layout.h"

#include <gtest/gtest.h>

namespace ge_engines {
namespace {

// Elements of one byte were copied as words of four where a result had two axes.
TEST(Layout, LikeKeepsTheSizeOfElements) {
  const Dims four = {2, 8, 3, 3}, two = {2, 8};
  for (const int size : {1, 2, 4, 8}) {
    EXPECT_EQ(Layout::Like(two, Layout::Dense(two, size)), Layout::Dense(two, size)) << size;
    EXPECT_EQ(Layout::Like(two, Layout::ChannelsLast(four, size)), Layout::Dense(two, size));
    EXPECT_EQ(Layout::Like(four, Layout::ChannelsLast(four, size)),
              Layout::ChannelsLast(four, size));
    EXPECT_EQ(Layout::Like(four, Layout::Blocked(four, 16, size)), Layout::Blocked(four, 16, size));
    EXPECT_EQ((LayoutTag{16, false}.On(four, size).bytes()), uint64_t(2 * 16 * 9 * size));
  }
}

}  // namespace
}  // namespace ge_engines

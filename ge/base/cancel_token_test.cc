#include "ge/base/cancel_token.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ge {
namespace {

TEST(CancelToken, EndsTheCallsThatHaveIt) {
  CancelToken token;
  Interrupt with, other, later, after;
  {
    CancelToken::Use a(&token, &with), none(nullptr, &other);
    EXPECT_FALSE(with.stopped());
    token.Cancel();
    EXPECT_EQ(with.Check().code(), Code::kCancelled);
    EXPECT_FALSE(other.stopped());
    CancelToken::Use b(&token, &later);
    EXPECT_TRUE(later.stopped());  // until it is reset
  }
  token.Reset();
  CancelToken::Use c(&token, &after);
  EXPECT_FALSE(after.stopped());
  EXPECT_TRUE(with.stopped());
}

TEST(CancelToken, LeavesACallThatHasEnded) {
  CancelToken token;
  Interrupt first, middle, last;
  {
    CancelToken::Use a(&token, &first);
    auto b = std::make_unique<CancelToken::Use>(&token, &middle);
    CancelToken::Use c(&token, &last);
    b.reset();
    token.Cancel();
  }
  EXPECT_TRUE(first.stopped());
  EXPECT_FALSE(middle.stopped());
  EXPECT_TRUE(last.stopped());
}

TEST(CancelToken, ManyThreadsComeAndGo) {
  CancelToken token;
  std::atomic<int> wrong{0};
  std::atomic<bool> on{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        Interrupt interrupt;
        const bool before = on.load();
        CancelToken::Use use(&token, &interrupt);
        if (before && !interrupt.stopped()) ++wrong;
      }
    });
  }
  token.Cancel();
  on.store(true);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace ge

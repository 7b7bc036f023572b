#include "ge/host/fair_semaphore.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "ge/base/interrupt.h"

namespace ge {
namespace {

TEST(Turns, NoMoreThanTheLimitAtOnceAndNobodyStarves) {
  Turns turns(2);
  std::atomic<int> at_once{0}, most{0};
  std::atomic<bool> stop{false};
  std::vector<uint64_t> done(6);
  std::vector<std::thread> threads;
  for (uint64_t& mine : done) {
    threads.emplace_back([&] {
      while (!stop) {
        ASSERT_TRUE(turns.Take().ok());
        const int now = ++at_once;
        for (int m = most; now > m && !most.compare_exchange_weak(m, now);) {
        }
        ++mine;
        --at_once;
        turns.Give();
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  stop = true;
  for (auto& t : threads) t.join();
  EXPECT_LE(most.load(), 2);
  EXPECT_EQ(turns.taken(), 0u);
  for (const uint64_t mine : done) EXPECT_GT(mine, 0u);
}

TEST(Turns, ComeInTheOrderInWhichTheyWereAskedFor) {
  Turns turns(1);
  ASSERT_TRUE(turns.Take().ok());
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      ASSERT_TRUE(turns.Take().ok());
      order.push_back(i);  // the turn is its lock
      turns.Give();
    });
    while (turns.waiting() != static_cast<uint32_t>(i + 1)) std::this_thread::yield();
  }
  turns.Give();
  for (auto& t : threads) t.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(Turns, AWaitThatIsCancelledLeavesTheOthersInOrder) {
  Turns turns(1);
  ASSERT_TRUE(turns.Take().ok());
  Interrupt interrupt;
  Status said;
  std::thread cancelled([&] {
    const InterruptScope scope(&interrupt);
    said = turns.Take();
  });
  while (turns.waiting() != 1) std::this_thread::yield();
  bool came = false;
  std::thread other([&] {
    ASSERT_TRUE(turns.Take().ok());
    came = true;
    turns.Give();
  });
  while (turns.waiting() != 2) std::this_thread::yield();
  interrupt.Cancel();
  cancelled.join();
  EXPECT_EQ(said.code(), Code::kCancelled);
  EXPECT_EQ(turns.waiting(), 1u);
  turns.Give();
  other.join();
  EXPECT_TRUE(came);
  EXPECT_EQ(turns.taken(), 0u);
}

}  // namespace
}  // namespace ge

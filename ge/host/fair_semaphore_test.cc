#include "ge/host/fair_semaphore.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "ge/base/interrupt.h"

namespace ge {
namespace {

TEST(FairSemaphore, NoMoreThanTheLimitAtOnceAndNobodyStarves) {
  FairSemaphore semaphore(2);
  std::atomic<int> at_once{0}, most{0};
  std::atomic<bool> stop{false};
  std::vector<uint64_t> done(6);
  std::vector<std::thread> threads;
  for (uint64_t& mine : done) {
    threads.emplace_back([&] {
      while (!stop) {
        ASSERT_TRUE(semaphore.Take().ok());
        const int now = ++at_once;
        for (int m = most; now > m && !most.compare_exchange_weak(m, now);) {
        }
        ++mine;
        --at_once;
        semaphore.Give();
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  stop = true;
  for (auto& t : threads) t.join();
  EXPECT_LE(most.load(), 2);
  EXPECT_EQ(semaphore.taken(), 0u);
  for (const uint64_t mine : done) EXPECT_GT(mine, 0u);
}

TEST(FairSemaphore, ComeInTheOrderInWhichTheyWereAskedFor) {
  FairSemaphore semaphore(1);
  ASSERT_TRUE(semaphore.Take().ok());
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      ASSERT_TRUE(semaphore.Take().ok());
      order.push_back(i);  // the turn is its lock
      semaphore.Give();
    });
    while (semaphore.waiting() != static_cast<uint32_t>(i + 1)) std::this_thread::yield();
  }
  semaphore.Give();
  for (auto& t : threads) t.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(FairSemaphore, AWaitThatIsCancelledLeavesTheOthersInOrder) {
  FairSemaphore semaphore(1);
  ASSERT_TRUE(semaphore.Take().ok());
  Interrupt interrupt;
  Status said;
  std::thread cancelled([&] {
    const InterruptScope scope(&interrupt);
    said = semaphore.Take();
  });
  while (semaphore.waiting() != 1) std::this_thread::yield();
  bool came = false;
  std::thread other([&] {
    ASSERT_TRUE(semaphore.Take().ok());
    came = true;
    semaphore.Give();
  });
  while (semaphore.waiting() != 2) std::this_thread::yield();
  interrupt.Cancel();
  cancelled.join();
  EXPECT_EQ(said.code(), Code::kCancelled);
  EXPECT_EQ(semaphore.waiting(), 1u);
  semaphore.Give();
  other.join();
  EXPECT_TRUE(came);
  EXPECT_EQ(semaphore.taken(), 0u);
}

}  // namespace
}  // namespace ge

#include "ge/base/calls.h"

#include <gtest/gtest.h>

#include <list>
#include <thread>
#include <vector>

namespace ge {
namespace {

TEST(Calls, CancelEndsWhatGoesOnAndNothingElse) {
  Calls calls;
  std::list<Calls::Call> going;
  for (int i = 0; i < 50; ++i) going.emplace_back(&calls);  // beyond one chunk of slots
  calls.CancelAll();
  for (Calls::Call& c : going) EXPECT_TRUE(c.interrupt().stopped());
  going.pop_front();
  Calls::Call later(&calls);
  EXPECT_FALSE(later.interrupt().stopped());
}

TEST(Calls, CancelForGoodEndsWhatComesToo) {
  Calls calls;
  calls.CancelForGood();
  Calls::Call later(&calls);
  EXPECT_EQ(later.interrupt().Check().code(), Code::kCancelled);
}

TEST(Calls, ACallWithinACallBelongsToIt) {
  Calls calls;
  const CallScope outer(&calls);
  const Interrupt* interrupt = CurrentInterrupt();
  {
    const CallScope inner(&calls);
    EXPECT_EQ(CurrentInterrupt(), interrupt);
  }
  calls.CancelAll();
  EXPECT_EQ(CheckInterrupt().code(), Code::kCancelled);
}

TEST(Calls, TheTimeLimitIsThatOfTheOutermost) {
  Calls calls;
  calls.SetTimeLimit(1);
  const CallScope outer(&calls);
  while (!Interrupted()) std::this_thread::yield();
  const CallScope inner(&calls);
  EXPECT_EQ(CheckInterrupt().code(), Code::kDeadlineExceeded);
}

TEST(Calls, ThreadsBeginAndEndWhileOthersCancel) {
  Calls calls;
  std::atomic<bool> done{false};
  std::atomic<int> ended{0};
  std::thread cancels([&] {
    while (!done) calls.CancelAll();
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const CallScope call(&calls);
        (void)Interrupted();
        ++ended;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  done = true;
  cancels.join();
  EXPECT_EQ(ended, 4 * 2000);
  // What was cancelled has ended: the next call is whole.
  const CallScope next(&calls);
  EXPECT_TRUE(CheckInterrupt().ok());
}

}  // namespace
}  // namespace ge

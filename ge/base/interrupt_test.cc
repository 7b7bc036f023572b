#include "ge/base/interrupt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "ge/base/plugin_call.h"

namespace ge {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(Interrupt, TheFirstReasonStays) {
  Interrupt interrupt;
  EXPECT_TRUE(interrupt.Check().ok());
  EXPECT_EQ(*interrupt.word(), 0u);
  {
    const Deadline deadline(&interrupt, 1);
    while (!interrupt.stopped()) std::this_thread::sleep_for(milliseconds(1));
  }
  interrupt.Cancel();
  EXPECT_EQ(interrupt.Check().code(), Code::kDeadlineExceeded);
  EXPECT_NE(*interrupt.word(), 0u);
  interrupt.Reset();
  EXPECT_TRUE(interrupt.Check().ok());
}

TEST(Interrupt, OutsideOfACallNothingStops) {
  EXPECT_EQ(CurrentInterrupt(), nullptr);
  EXPECT_FALSE(Interrupted());
  EXPECT_TRUE(CheckInterrupt().ok());
}

TEST(Interrupt, ScopesNest) {
  Interrupt outer, inner;
  inner.Cancel();
  const InterruptScope a(&outer);
  {
    const InterruptScope b(&inner);
    EXPECT_EQ(CheckInterrupt().code(), Code::kCancelled);
  }
  EXPECT_TRUE(CheckInterrupt().ok());
}

TEST(Deadline, ManyAtOnceRingInTheirOwnTime) {
  constexpr int kMany = 8;
  Interrupt interrupts[kMany];
  std::vector<std::unique_ptr<Deadline>> deadlines;
  const auto start = steady_clock::now();
  for (int i = kMany; i-- > 0;) {  // the latest first
    deadlines.push_back(std::make_unique<Deadline>(&interrupts[i], 20 * (i + 1)));
  }
  for (int i = 0; i < kMany; ++i) {
    while (!interrupts[i].stopped()) std::this_thread::yield();
    EXPECT_GE(steady_clock::now() - start, milliseconds(20 * (i + 1)));
  }
}

TEST(Deadline, OneThatIsGoneDoesNotRing) {
  Interrupt gone, none;
  { const Deadline deadline(&gone, 20); }
  const Deadline without(&none, 0);
  std::this_thread::sleep_for(milliseconds(60));
  EXPECT_FALSE(gone.stopped());
  EXPECT_FALSE(none.stopped());
}

std::promise<std::string> g_told;

TEST(Deadline, ThePluginThatDoesNotReturnIsTold) {
  Deadline::SetOverdue([](const char* plugin) { g_told.set_value(plugin ? plugin : "none"); });
  Interrupt interrupt;
  const InterruptScope scope(&interrupt);
  EXPECT_EQ(interrupt.in_plugin(), nullptr);
  {
    const Deadline deadline(&interrupt, 1);
    const PluginCall outer(std::string("engine 'slow', enqueue"));
    { const PluginCall inner(Interned("plugin 'x', infer of y")); }
    EXPECT_STREQ(interrupt.in_plugin(), "engine 'slow', enqueue");
    EXPECT_EQ(g_told.get_future().get(), "engine 'slow', enqueue");
  }
  EXPECT_EQ(interrupt.in_plugin(), nullptr);
  Deadline::SetOverdue(nullptr);
}

TEST(Interrupt, EndsTheWaitForALock) {
  std::mutex mutex;
  std::lock_guard<std::mutex> held(mutex);
  Interrupt interrupt;
  Status status;
  std::thread waiting([&] {
    const InterruptScope scope(&interrupt);
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    status = LockOrStop(&lock);
    EXPECT_FALSE(lock.owns_lock());
  });
  std::this_thread::sleep_for(milliseconds(10));
  interrupt.Cancel();
  waiting.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
}

}  // namespace
}  // namespace ge

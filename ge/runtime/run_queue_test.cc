#include "ge/runtime/run_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ge {
namespace {

// Signals once.
class Gate {
 public:
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

class QueuedTask final : public RunQueue::Task {
 public:
  explicit QueuedTask(
      std::function<void()> compute, std::function<void()> tell = [] {})
      : compute_(std::move(compute)), tell_(std::move(tell)) {}
  void Compute() override { compute_(); }
  void Tell() override {
    tell_();
    told.Open();
  }
  Gate told;

 private:
  std::function<void()> compute_, tell_;
};

TEST(RunQueue, AFewThreadsForManyTasksInTheirOrder) {
  RunQueue queue(1);
  std::vector<int> order;
  std::vector<std::unique_ptr<QueuedTask>> tasks;
  for (int i = 0; i < 500; ++i) {
    tasks.push_back(std::make_unique<QueuedTask>([&order, i] { order.push_back(i); }));
    ASSERT_TRUE(queue.Submit(tasks.back().get()).ok());
    EXPECT_LE(queue.threads(), 2u);  // one that works, one that watches
  }
  for (auto& t : tasks) t->told.Wait();
  ASSERT_EQ(order.size(), 500u);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(RunQueue, ATellMayWaitForATaskBehindIt) {
  RunQueue queue(2);
  constexpr int kTasks = 10;
  std::vector<std::unique_ptr<QueuedTask>> tasks;
  std::unique_ptr<QueuedTask>* next = nullptr;
  tasks.resize(kTasks);
  for (int i = kTasks - 1; i >= 0; --i) {
    QueuedTask* after = next ? next->get() : nullptr;
    tasks[static_cast<size_t>(i)] = std::make_unique<QueuedTask>([] {},
                                                                 [after] {
                                                                   if (after) after->told.Wait();
                                                                 });
    next = &tasks[static_cast<size_t>(i)];
  }
  for (auto& t : tasks) ASSERT_TRUE(queue.Submit(t.get()).ok());
  for (auto& t : tasks) t->told.Wait();
}

TEST(RunQueue, WhatIsHurriedComesAtOnce) {
  RunQueue queue(2);
  Gate go;
  std::vector<std::unique_ptr<QueuedTask>> busy;
  for (int i = 0; i < 6; ++i) {
    busy.push_back(std::make_unique<QueuedTask>([&go] { go.Wait(); }));
    ASSERT_TRUE(queue.Submit(busy.back().get()).ok());
  }
  std::vector<std::unique_ptr<QueuedTask>> quick;
  for (int i = 0; i < 3; ++i) {
    quick.push_back(std::make_unique<QueuedTask>([] {}));
    ASSERT_TRUE(queue.Submit(quick.back().get()).ok());
  }
  queue.Hurry(quick[2].get());
  quick[2]->told.Wait();
  queue.Hurry(quick[2].get());  // it was there
  queue.Hurry(quick[0].get());
  quick[0]->told.Wait();
  go.Open();
  for (auto& t : busy) t->told.Wait();
  quick[1]->told.Wait();
}

TEST(RunQueue, MayGoInATell) {
  auto queue = std::make_unique<RunQueue>(2);
  std::atomic<int> told{0};
  std::vector<std::unique_ptr<QueuedTask>> tasks;
  for (int i = 0; i < 20; ++i) {
    tasks.push_back(std::make_unique<QueuedTask>([] {}, [&told] { ++told; }));
    ASSERT_TRUE(queue->Submit(tasks.back().get()).ok());
  }
  QueuedTask last([] {}, [&queue] { queue.reset(); });
  ASSERT_TRUE(queue->Submit(&last).ok());
  last.told.Wait();
  for (auto& t : tasks) t->told.Wait();  // what was there is done nevertheless
  EXPECT_EQ(told.load(), 20);
  EXPECT_EQ(queue, nullptr);
}

}  // namespace
}  // namespace ge

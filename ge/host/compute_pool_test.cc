// The pool does each piece of work once, whoever comes; teams may wait for each other; helpers
// sleep when there is nothing to do and compute in the mode of the thread that forks.
#include "ge/host/compute_pool.h"

#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "ge/base/float_mode.h"
#include "ge/base/interrupt.h"

namespace ge {
namespace {

struct Marks {
  explicit Marks(uint64_t n) : seen(n) {}
  std::vector<std::atomic<uint32_t>> seen;
  static void Mark(void* marks, uint64_t i) { ++static_cast<Marks*>(marks)->seen[i]; }
  bool Each(uint32_t times) const {
    for (const auto& s : seen) {
      if (s.load() != times) return false;
    }
    return true;
  }
};

TEST(ComputePool, EachIsDoneOnce) {
  for (uint32_t threads : {1u, 2u, 3u, 5u}) {
    ComputePool pool(threads);
    for (uint64_t n : {0u, 1u, 2u, 3u, 7u, 100u, 70000u}) {
      Marks marks(n);
      pool.Run(n, &Marks::Mark, &marks);
      EXPECT_TRUE(marks.Each(1)) << threads << " threads, " << n;
    }
  }
}

TEST(ComputePool, ManyForksOneAfterTheOther) {
  ComputePool pool(3);
  Marks marks(16);
  for (uint32_t i = 1; i <= 20000; ++i) {
    pool.Run(16, &Marks::Mark, &marks);
    if (i % 1000 == 0) {
      ASSERT_TRUE(marks.Each(i)) << i;
      std::this_thread::sleep_for(std::chrono::microseconds(300));  // they go to sleep
    }
  }
  EXPECT_EQ(pool.counts().forks, 20000u);
  EXPECT_GT(pool.counts().parks, 0u);
}

TEST(ComputePool, WhoComesWhileItIsTakenWorksAlone) {
  ComputePool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      Marks marks(9);
      for (uint32_t i = 1; i <= 3000; ++i) {
        pool.Run(9, &Marks::Mark, &marks);
        if (!marks.Each(i)) ++wrong;
      }
    });
  }
  for (auto& t : callers) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ComputePool, RunsInFlightShareItsThreads) {
  ComputePool pool(3);
  Marks marks(30);
  auto forks = [&] {
    const uint64_t before = pool.counts().forks;
    pool.Run(30, &Marks::Mark, &marks);
    return pool.counts().forks - before;
  };
  // Another thread's run, until the end of this.
  struct Other {
    std::atomic<int> stage{0};
    std::thread thread;
    explicit Other(ComputePool* pool)
        : thread([this, pool] {
            ComputePool::InFlight run;
            EXPECT_TRUE(run.Begin(pool).ok());
            stage = 1;
            while (stage != 2) std::this_thread::yield();
          }) {
      while (stage != 1) std::this_thread::yield();
    }
    ~Other() {
      stage = 2;
      thread.join();
    }
  };
  EXPECT_EQ(forks(), 1u);
  ComputePool::InFlight first;
  ASSERT_TRUE(first.Begin(&pool).ok());
  const Other second(&pool);
  EXPECT_EQ(forks(), 1u) << "one helper is left for them";
  {
    const Other third(&pool);
    EXPECT_EQ(forks(), 0u) << "each has its thread";
  }
  EXPECT_EQ(forks(), 1u);
  EXPECT_TRUE(marks.Each(4));
}

TEST(ComputePool, ARunWithinARunHasTheTurnOfThat) {
  ComputePool pool(1);
  ComputePool::InFlight outer;
  ASSERT_TRUE(outer.Begin(&pool).ok());
  {
    ComputePool::InFlight inner;
    ASSERT_TRUE(inner.Begin(&pool).ok());
  }
  std::atomic<bool> began{false};
  Interrupt interrupt;
  std::thread other([&] {
    const InterruptScope scope(&interrupt);
    ComputePool::InFlight run;
    began = run.Begin(&pool).ok();
  });
  interrupt.Cancel();
  other.join();
  EXPECT_FALSE(began) << "the inner one gave the outer one's turn away";
}

// Every member waits until all have come, ten times.
struct Meeting {
  uint32_t size;
  std::atomic<uint32_t> come{0};
  static void Meet(void* meeting, uint64_t) {
    auto* m = static_cast<Meeting*>(meeting);
    for (uint32_t round = 1; round <= 10; ++round) {
      ++m->come;
      while (m->come.load() < round * m->size) std::this_thread::yield();
    }
  }
};

TEST(ComputePool, MembersOfATeamMayWaitForEachOther) {
  ComputePool pool(3);
  std::vector<std::thread> callers;
  for (int c = 0; c < 2; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        for (uint32_t size : {2u, 3u}) {
          Meeting meeting{size};
          pool.Team(size, &Meeting::Meet, &meeting);
          EXPECT_EQ(meeting.come.load(), 10 * size);
        }
      }
    });
  }
  for (auto& t : callers) t.join();
  EXPECT_EQ(pool.counts().teams, 200u);
}

TEST(ComputePool, NestedCallsRunInTheirThread) {
  ComputePool pool(3);
  struct Nested {
    ComputePool* pool;
    Marks marks{8 * 5};
  } nested{&pool};
  EXPECT_FALSE(ComputePool::Inside());
  pool.Run(
      8,
      [](void* ctx, uint64_t i) {
        auto* outer = static_cast<Nested*>(ctx);
        EXPECT_TRUE(ComputePool::Inside());
        struct Row {
          Nested* outer;
          uint64_t i;
        } row{outer, i};
        outer->pool->Run(
            5,
            [](void* r, uint64_t k) {
              Marks::Mark(&static_cast<Row*>(r)->outer->marks, static_cast<Row*>(r)->i * 5 + k);
            },
            &row);
      },
      &nested);
  EXPECT_TRUE(nested.marks.Each(1));
  EXPECT_FALSE(ComputePool::Inside());
}

TEST(ComputePool, HelpersComputeInTheModeOfWhoForks) {
  ComputePool pool(3);
  const uint32_t before = FloatControl();
  for (const uint32_t flags : {0x8040u, 0u}) {
    SetFloatControl((before & ~0x8040u) | flags);
    struct Wanted {
      uint32_t flags;
      std::atomic<int> others{0};
    } wanted{flags};
    for (int i = 0; i < 50; ++i) {
      pool.Team(
          3,
          [](void* w, uint64_t) {
            auto* want = static_cast<Wanted*>(w);
            if ((FloatControl() & 0x8040u) != want->flags) ++want->others;
          },
          &wanted);
    }
    EXPECT_EQ(wanted.others.load(), 0);
  }
  SetFloatControl(before);
}

double ProcessMs() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

TEST(ComputePool, SleepsWhenThereIsNothingToDo) {
  ComputePool pool(4);
  Marks marks(64);
  pool.Run(64, &Marks::Mark, &marks);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const double before = ProcessMs();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(ProcessMs() - before, 20) << "processor time while nobody computes";
}

}  // namespace
}  // namespace ge

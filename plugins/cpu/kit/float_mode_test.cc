// Regions compute in the forking thread's mode and leave each worker its own word.
#include "plugins/cpu/kit/float_mode.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <cstddef>
#include <functional>
#include <thread>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_engines::cpu {
namespace {

constexpr int kThreads = 3;
constexpr uint32_t kPlain = 0x1f80, kFlush = 0x9fc0, kUp = 0x5f80;
using Words = std::array<uint32_t, kThreads>;

uint32_t g_caller = kPlain;
uint32_t CallerFp(ge_host*) { return g_caller; }

ge_host_api Host() {
  ge_host_api host = {};
  host.h = GE_HDR(ge_host_api, GE_TAG_HOST_API);
  host.caller_fp = CallerFp;
  return host;
}

Words WordsOfWorkers() {
  Words words = {};
#pragma omp parallel num_threads(kThreads)
  words[static_cast<size_t>(omp_get_thread_num())] = _mm_getcsr();
  return words;
}

// As the host does around a launch; the workers are those of the test's own thread.
template <class F>
void InLaunch(const F& f) {
  const ge_host_api host = Host();
  g_caller = _mm_getcsr();
  _mm_setcsr(kFlush);
  {
    const LaunchMode launch(&host);
    f();
    EXPECT_EQ(_mm_getcsr(), kFlush);
  }
  _mm_setcsr(g_caller);
}

// libgomp's workers belong to the thread that forks, so a new thread has none yet.
template <class F>
void OnNewThread(const F& f) {
  std::thread(f).join();
}

void ExpectAllFlush(const std::function<void(const std::function<void(int)>&)>& loop) {
  Arrival::Forget();
  Words words = {};
  loop([&](int i) { words[static_cast<size_t>(i)] = _mm_getcsr() & ~0x3fu; });
  EXPECT_EQ(words, (Words{kFlush, kFlush, kFlush}));
}

void Loops() {
  ExpectAllFlush([](const auto& f) { OnThreads(kThreads, [&] { f(omp_get_thread_num()); }); });
  ExpectAllFlush([](const auto& f) {
    omp_set_num_threads(kThreads);
    ForRange(true, kThreads, [&](int64_t i) { f(static_cast<int>(i)); });
  });
  ExpectAllFlush([](const auto& f) {
    float room[kThreads] = {};
    ForJobs(kThreads, kThreads, room, 1, [&](int64_t i, float* own) {
      EXPECT_EQ(own - room, omp_get_thread_num());
      f(static_cast<int>(i));
    });
  });
  const LibraryMode library(kThreads);  // the library's own region
  ExpectAllFlush([](const auto& f) {
#pragma omp parallel num_threads(kThreads)
    f(omp_get_thread_num());
  });
}

TEST(FloatMode, WorkersThatAreThereKeepTheirWords) {
  OnNewThread([] {
#pragma omp parallel num_threads(kThreads)
    _mm_setcsr(omp_get_thread_num() == 0 ? kPlain : kUp);
    for (int round = 0; round < 3; ++round) {
      InLaunch(Loops);
      EXPECT_EQ(WordsOfWorkers(), (Words{kPlain, kUp, kUp}));
    }
  });
}

TEST(FloatMode, WorkersThatARegionOfOursMakesHaveTheCallersWord) {
  OnNewThread([] {
    _mm_setcsr(kUp);
    InLaunch(Loops);
    EXPECT_EQ(WordsOfWorkers(), (Words{kUp, kUp, kUp}));
  });
}

// libgomp ends the workers that a smaller region leaves idle and makes others later.
TEST(FloatMode, WorkersThatALibraryMakesHaveTheCallersWordAfterwards) {
  OnNewThread([] {
    InLaunch([] {
      const LibraryMode library(kThreads);
      for (int threads : {2, kThreads, 2, kThreads}) {
#pragma omp parallel num_threads(threads)
        EXPECT_EQ(_mm_getcsr() & 0x8040u, 0x8040u);
      }
    });
    EXPECT_EQ(WordsOfWorkers(), (Words{kPlain, kPlain, kPlain}));
  });
}

TEST(FloatMode, WithoutALaunchThePresentWordStands) {
  OnNewThread([] {
    Arrival::Forget();
    Words words = {};
    OnThreads(kThreads, [&] { words[static_cast<size_t>(omp_get_thread_num())] = _mm_getcsr(); });
    EXPECT_EQ(words, (Words{kPlain, kPlain, kPlain}));
    const LaunchMode none(nullptr);
    EXPECT_EQ(OwnFloatControl(), kPlain);
  });
}

// An older host's table ends before the call that tells the caller's word.
TEST(FloatMode, AHostThatCannotTellIsNotAsked) {
  OnNewThread([] {
    ge_host_api host = Host();
    g_caller = kUp;
    {
      const LaunchMode launch(&host);
      EXPECT_EQ(OwnFloatControl(), kUp);
    }
    EXPECT_EQ(OwnFloatControl(), kPlain);
    host.h.size = offsetof(ge_host_api, caller_fp);
    const LaunchMode launch(&host);
    EXPECT_EQ(OwnFloatControl(), kPlain);
  });
}

}  // namespace
}  // namespace ge_engines::cpu

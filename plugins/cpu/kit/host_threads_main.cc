// The main function of ge-unit-cpu under ThreadSanitizer: loops run on a host's threads, through
// libge_omp as in an engine. ThreadSanitizer sees these threads wait for each other; libgomp
// waits by futex, so its shared data would look racy. Other builds use libgomp and not this
// file.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/omp/ge_omp.h"
#include "sdk/include/ge/ge_plugin.hpp"

namespace {

constexpr uint32_t kThreads = 4;  // more than the machine may have, so that they take turns

thread_local bool t_inside = false;

// The threads of one region at a time; the caller is the first.
class Threads {
 public:
  Threads() {
    for (uint32_t id = 1; id < kThreads; ++id) workers_.emplace_back([this, id] { Kernel(id); });
  }
  ~Threads() {
    Begin(0, nullptr, nullptr);
    for (std::thread& worker : workers_) worker.join();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  void Run(uint32_t n, void (*body)(void*, uint64_t), void* ctx) {
    const std::lock_guard<std::mutex> region(one_region_);
    Begin(n, body, ctx);
    Inside(body, ctx, 0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
  }

 private:
  static void Inside(void (*body)(void*, uint64_t), void* ctx, uint64_t id) {
    t_inside = true;
    body(ctx, id);
    t_inside = false;
  }

  // body = nullptr ends the workers.
  void Begin(uint32_t n, void (*body)(void*, uint64_t), void* ctx) {
    const std::lock_guard<std::mutex> lock(mutex_);
    n_ = n;
    body_ = body;
    ctx_ = ctx;
    busy_ = kThreads - 1;
    ++region_;
    begun_.notify_all();
  }

  void Kernel(uint32_t id) {
    for (uint64_t seen = 0;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      begun_.wait(lock, [&] { return region_ != seen; });
      seen = region_;
      if (body_ == nullptr) return;
      if (id < n_) {
        const auto body = body_;
        void* const ctx = ctx_;
        lock.unlock();
        Inside(body, ctx, id);
        lock.lock();
      }
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex one_region_, mutex_;
  std::condition_variable begun_, done_;
  std::vector<std::thread> workers_;
  uint64_t region_ = 0;
  uint32_t n_ = 0, busy_ = 0;
  void (*body_)(void*, uint64_t) = nullptr;
  void* ctx_ = nullptr;
};

Threads* g_threads = nullptr;
std::atomic<uint64_t> g_regions{0};

ge_host_api Host() {
  ge_host_api host = {};
  host.h = GE_HDR(ge_host_api, GE_TAG_HOST_API);
  host.threads = kThreads;
  host.team = [](ge_host*, uint32_t n, void (*body)(void*, uint64_t), void* ctx) {
    g_regions.fetch_add(1, std::memory_order_relaxed);
    g_threads->Run(n, body, ctx);
  };
  host.inside = [](ge_host*) { return static_cast<uint32_t>(t_inside); };
  return host;
}

// Were the calls libgomp's after all, nothing would be watched.
TEST(HostThreads, RunTheLoops) {
  const uint64_t before = g_regions.load();
  std::atomic<int> all{0};
  ge_engines::cpu::ForRange(true, 100,
                            [&](int64_t) { all.fetch_add(1, std::memory_order_relaxed); });
  EXPECT_EQ(all.load(), 100);
  EXPECT_EQ(g_regions.load(), before + 1);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  Threads threads;
  g_threads = &threads;
  const ge_host_api host = Host();
  ge_omp_bind(&host);
  return RUN_ALL_TESTS();
}

// ComputePool: the threads that engines compute on. Any thread may call; helpers live as long as
// the pool does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace ge {

// Compute threads of the process. One parallel_for at a time has the helpers (the compute token);
// any other caller runs its loop alone, so that never more than `threads` compute at once for it.
class ComputePool {
 public:
  explicit ComputePool(uint32_t threads);
  ~ComputePool();
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  // body(ctx, i) for each i below n, on this thread and the helpers; returns when all are done.
  void Run(uint64_t n, void (*body)(void*, uint64_t), void* ctx);

 private:
  void Work();
  void Help();

  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<bool> busy_{false};
  std::atomic<uint64_t> next_{0};
  void (*body_)(void*, uint64_t) = nullptr;
  void* ctx_ = nullptr;
  uint64_t n_ = 0, round_ = 0;
  uint32_t working_ = 0, float_control_ = 0;
  bool stop_ = false;
};

}  // namespace ge

#include "ge/host/compute_pool.h"

#include "ge/base/float_mode.h"

namespace ge {
namespace {

thread_local bool inside = false;  // a body runs on this thread

}  // namespace

ComputePool::ComputePool(uint32_t threads) {
  for (uint32_t i = 1; i < threads; ++i) helpers_.emplace_back([this] { Help(); });
}

ComputePool::~ComputePool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (auto& t : helpers_) t.join();
}

void ComputePool::Run(uint64_t n, void (*body)(void*, uint64_t), void* ctx) {
  bool expected = false;
  if (helpers_.empty() || n < 2 || inside ||
      !busy_.compare_exchange_strong(expected, true, std::memory_order_acquire)) {
    for (uint64_t i = 0; i < n; ++i) body(ctx, i);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    body_ = body, ctx_ = ctx, n_ = n;
    float_control_ = FloatControl();  // helpers compute as the caller does
    next_.store(0, std::memory_order_relaxed);
    working_ = static_cast<uint32_t>(helpers_.size());
    ++round_;
  }
  wake_.notify_all();
  Work();
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [this] { return working_ == 0; });
  lock.unlock();
  busy_.store(false, std::memory_order_release);
}

void ComputePool::Work() {
  inside = true;
  for (uint64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < n_;) body_(ctx_, i);
  inside = false;
}

void ComputePool::Help() {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    SetFloatControl(float_control_);
    lock.unlock();
    Work();
    lock.lock();
    if (--working_ == 0) done_.notify_one();
  }
}

}  // namespace ge

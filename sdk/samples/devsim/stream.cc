#include "stream.h"

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <cstring>

#include "capture.h"
#include "engine.h"
#include "ge/ge_plugin.hpp"
#include "stamps.h"

namespace {

ge_err NoError() {
  ge_err err = {};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  err.node = UINT32_MAX;
  return err;
}

// Answers a kept error into the caller's struct, which may be NULL.
ge_rc Answer(const ge_err& error, ge_err* err) {
  if (err != nullptr) {
    const ge_hdr h = err->h;  // the caller's may be a shorter one
    std::memcpy(static_cast<void*>(err), &error, std::min<size_t>(h.size, sizeof error));
    err->h = h;
  }
  return error.code;
}

}  // namespace

ge_event::ge_event(ge_engine* engine) : engine_(engine), error_(NoError()) {}

void ge_event::Call(uint64_t value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  called_ = std::max(called_, value);
}

ge_rc ge_event::Called(uint64_t* value, ge_err* err) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (*value <= called_) return GE_OK;
  if (engine_->options.strict != 0) {
    return ge::plugin::Fail(
        err, GE_FAILED_PRECONDITION, UINT32_MAX,
        "devsim: a wait for value %llu of an event whose signals so far reach %llu; call the "
        "signal before the wait",
        static_cast<unsigned long long>(*value), static_cast<unsigned long long>(called_));
  }
  *value = called_;
  return GE_OK;
}

void ge_event::Reach(uint64_t value, uint64_t at_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  value_ = std::max(value_, value);
  if (at_ns != 0) reached_.Add(value, at_ns);
  changed_.notify_all();
}

void ge_event::Fail(const ge_err& error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (error_.code == GE_OK) error_ = error;
  changed_.notify_all();
}

ge_rc ge_event::Wait(uint64_t value, uint64_t timeout_ns, uint64_t* at_ns, ge_err* err) {
  std::unique_lock<std::mutex> lock(mutex_);
  auto over = [&] { return value_ >= value || error_.code != GE_OK; };
  if (timeout_ns > uint64_t{1} << 62) {
    changed_.wait(lock, over);
  } else if (!changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), over)) {
    return GE_PENDING;
  }
  if (value_ < value) return Answer(error_, err);
  *at_ns = reached_.Of(value);
  return GE_OK;
}

ge_stream::ge_stream(ge_engine* engine, uint32_t device)
    : engine_(engine),
      device_(device),
      delay_us_(engine->DrawSlowness()),
      error_(NoError()),
      worker_([this] { Work(); }) {
  // Enough for the longest queue of most plans, with room for the buffers of most launches, so that
  // runs allocate nothing. A longer queue or a larger launch still works: Take makes more.
  constexpr int kTasks = 256, kBufs = 64, kDims = 256;
  for (int i = 0; i < kTasks; ++i) {
    auto* task = new devsim::Task;
    task->bufs.reserve(kBufs);
    task->dims.reserve(kDims);
    Return(task);
  }
}

ge_stream::~ge_stream() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  worker_.join();
  while (spare_ != nullptr) delete Take();
}

devsim::Task* ge_stream::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (spare_ == nullptr) return new devsim::Task;
  devsim::Task* task = spare_;
  spare_ = task->next;
  task->next = nullptr;
  return task;
}

void ge_stream::Return(devsim::Task* task) {
  std::lock_guard<std::mutex> lock(mutex_);
  task->next = spare_;
  spare_ = task;
}

void ge_stream::Queue(devsim::Task* task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    task->next = nullptr;
    (tail_ != nullptr ? tail_->next : head_) = task;
    tail_ = task;
  }
  wake_.notify_one();
}

void ge_stream::Work() {
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait(lock, [this] { return head_ != nullptr || stop_; });
    if (head_ == nullptr) return;
    devsim::Task* task = head_;
    head_ = task->next;
    if (head_ == nullptr) tail_ = nullptr;
    lock.unlock();
    Do(task);
    Return(task);
  }
}

// It ends: the signal was called before, and a stream that is destroyed finishes its queue.
ge_rc ge_stream::WaitFor(const devsim::Task& task, ge_err* err) {
  uint64_t at_ns = 0;
  const ge_rc rc = task.event->Wait(task.value, UINT64_MAX, &at_ns, err);
  now_ns_ = std::max(now_ns_, at_ns);
  return rc;
}

void ge_stream::Do(devsim::Task* task) {
  now_ns_ = std::max(now_ns_, task->queued_ns);
  const devsim::Faults& faults = engine_->faults;
  faults.MayHang(device_);
  if (error_.code == GE_OK) error_.code = faults.OnDevice(device_, &error_);
  if (task->kind == devsim::Task::Kind::kCapture) {
    for (const auto& inner : task->capture->tasks) Do(inner.get());
    return;
  }
  if (task->kind == devsim::Task::Kind::kSignal) {
    if (error_.code == GE_OK) {
      const bool told = !engine_->clock.on() && engine_->options.round_trip_ns != 0;
      task->event->Reach(task->value, told ? engine_->NowNs() : now_ns_);
    } else {
      task->event->Fail(error_);
    }
    return;
  }
  if (error_.code != GE_OK) return;
  if (task->kind == devsim::Task::Kind::kStamp) {
    task->stamps->ns[task->stamp].store(engine_->NowNs(), std::memory_order_release);
    return;
  }
  (void)std::fesetenv(&task->float_mode);
  ge_err err = NoError();
  ge_rc rc = GE_OK;
  if (task->kind == devsim::Task::Kind::kWait) {
    rc = WaitFor(*task, &err);
  } else {
    rc = engine_->Perform(*task, device_, true, delay_us_, &err);
    if (engine_->clock.on()) {
      now_ns_ += engine_->TaskNs(*task);
      engine_->clock.DeviceWorks(engine_->TaskNs(*task));
    }
  }
  if (rc == GE_OK) return;
  error_ = err;
  error_.code = rc;
  // What was queued behind the failed task is lost, so more than the call is unusable.
  error_.scope = std::max<uint32_t>(err.scope, GE_SCOPE_EXEC);
}

#include "plugins/comm/kit/queue.h"

#include <sched.h>

#include <algorithm>
#include <chrono>

#include "ge/ge_plugin.hpp"
#include "plugins/comm/kit/execution.h"

namespace ge_engines::comm {
namespace {

constexpr auto kSleep = std::chrono::microseconds(50);  // of the thread between two looks
// Where it knows that there is nothing to see until then, but for other streams and beats.
constexpr auto kLongSleep = std::chrono::milliseconds(2);
constexpr uint64_t kLook = 10'000'000;  // ns between two looks at a launch's own stream
constexpr size_t kRing = 64;            // tasks of a stream; more make it grow
// A waiting host looks all the time at first; then others may have the core in between; then it
// sleeps in between, for where ranks or others have no core left, who yields one waits longest.
constexpr uint64_t kSpinNs = 50'000, kYieldNs = 1'000'000;

ge_rc Answer(Ended* end, ge_err* err) {
  const Failure& failure = end->failure;
  end->told = true;
  (void)ge::plugin::Fail(err, failure.code, UINT32_MAX, "%s", failure.text.c_str());
  if (err != nullptr) err->scope = failure.scope;
  return failure.code;
}

void Pause(uint64_t waited_ns) {
  if (waited_ns < kSpinNs) return;
  if (waited_ns < kYieldNs) return (void)sched_yield();
  std::this_thread::sleep_for(kSleep);
}

}  // namespace

Queue::~Queue() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Queue::Start() {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
}

ge_stream* Queue::NewStream() {
  auto stream = std::make_unique<ge_stream>();
  stream->queue = this;
  stream->ring.resize(kRing);
  const std::lock_guard lock(mutex_);
  streams_.push_back(stream.get());
  return stream.release();
}

void Queue::DestroyStream(ge_stream* stream) {
  const std::lock_guard driver(drive_);
  const std::lock_guard lock(mutex_);
  tasks_ -= stream->count;
  std::erase(streams_, stream);
  delete stream;
}

ge_event* Queue::NewEvent() {
  auto* event = new ge_event;
  event->queue = this;
  return event;
}

void Queue::DestroyEvent(ge_event* event) {
  const std::lock_guard driver(drive_);
  delete event;
}

void Queue::Launch(ge_stream* stream, ge_exec* exec) {
  Task task;
  task.exec = exec;
  Add(stream, task);
  Drive();  // what it takes to begin is little, and the others may be waiting
}

void Queue::Add(ge_stream* stream, const Task& task) {
  bool asleep = false;
  {
    const std::lock_guard lock(mutex_);
    if (task.kind == Task::Kind::kSignal) {
      task.event->called = std::max(task.event->called, task.value);
    }
    if (const auto& end = stream->end; end != nullptr) {
      const bool brings =
          task.kind == Task::Kind::kSignal && !(end->failure.busy && end->host_knows());
      if (brings && task.event->end == nullptr) task.event->end = end;
      return;
    }
    if (stream->count == stream->ring.size()) {
      std::rotate(stream->ring.begin(),
                  stream->ring.begin() + static_cast<std::ptrdiff_t>(stream->head),
                  stream->ring.end());
      stream->head = 0;
      stream->ring.resize(2 * stream->ring.size());
    }
    Task& added = stream->ring[(stream->head + stream->count++) % stream->ring.size()];
    added = task;
    for (size_t i = 0; task.kind == Task::Kind::kSignal && i < stream->count; ++i) {
      const Task& ahead = stream->ring[(stream->head + i) % stream->ring.size()];
      added.late |= ahead.kind == Task::Kind::kLaunch && ahead.exec->is_to_end();
    }
    asleep = tasks_++ == 0 && waiting_ == 0;
  }
  if (asleep) wake_.notify_one();
}

void Queue::Pop(ge_stream* stream) {
  stream->head = (stream->head + 1) % stream->ring.size();
  --stream->count;
  --tasks_;
}

void Queue::Fail(ge_stream* stream, Failure failure, const uint32_t* stop) {
  stream->end = std::make_shared<Ended>(Ended{std::move(failure), stop});
  for (; stream->count > 0; Pop(stream)) {
    const Task& task = stream->ring[stream->head];
    if (task.kind != Task::Kind::kSignal || (task.late && stream->end->failure.busy)) continue;
    if (task.event->end == nullptr) task.event->end = stream->end;
  }
}

bool Queue::StepLaunch(ge_stream* stream, const Task& task) {
  bool done = false;
  Failure failure = task.exec->Step(transport_.get(), &done);
  if (failure.code == GE_OK && !done) return false;
  const std::lock_guard lock(mutex_);
  if (done) {
    Pop(stream);
  } else {
    Fail(stream, std::move(failure), task.exec->stop());
  }
  return true;
}

bool Queue::Step(ge_stream* stream) {
  Task task;
  {
    const std::lock_guard lock(mutex_);
    if (stream->count == 0) return false;
    task = stream->ring[stream->head];
    switch (task.kind) {
      case Task::Kind::kLaunch:
        break;
      case Task::Kind::kSignal:
        task.event->value = std::max(task.event->value, task.value);
        Pop(stream);
        return true;
      case Task::Kind::kWait:
        if (task.event->value < task.value && task.event->end == nullptr) return false;
        if (task.event->value >= task.value) {
          Pop(stream);
        } else {
          Fail(stream, task.event->end->failure, nullptr);
        }
        return true;
      case Task::Kind::kStamp:
        task.stamps->ns[task.value].store(NowNs(), std::memory_order_release);
        Pop(stream);
        return true;
    }
  }
  return StepLaunch(stream, task);
}

uint64_t Queue::Drive() {
  const std::unique_lock driver(drive_, std::try_to_lock);
  if (!driver.owns_lock()) return 0;
  transport_->Tend();
  uint64_t next = UINT64_MAX;
  for (size_t i = 0;; ++i) {
    ge_stream* stream = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (i >= streams_.size()) return next == UINT64_MAX ? 0 : next;
      stream = streams_[i];  // who destroys it waits for drive_
    }
    while (Step(stream)) {
    }
    const std::lock_guard lock(mutex_);
    if (stream->count == 0) continue;
    const Task& first = stream->ring[stream->head];
    const bool launch = first.kind == Task::Kind::kLaunch;
    next = std::min(next, launch ? first.exec->held_until_ns() : 0);
  }
}

void Queue::Work() {
  const std::chrono::nanoseconds every(transport_->TendEveryNs());
  std::unique_lock lock(mutex_);
  while (!ends_) {
    const auto wanted = [this] { return ends_ || (tasks_ > 0 && waiting_ == 0); };
    if (every.count() == 0) {
      wake_.wait(lock, wanted);
    } else {
      (void)wake_.wait_for(lock, every, wanted);
    }
    if (ends_) return;
    lock.unlock();
    // Each time it wakes it takes the core from what is computed there.
    const uint64_t next = Drive(), now = NowNs();
    const std::chrono::nanoseconds held(next > now ? next - now : 0);
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(held, kSleep, kLongSleep));
    lock.lock();
  }
}

ge_rc Queue::Wait(ge_event* event, uint64_t value, uint64_t timeout_ns, ge_err* err) {
  {
    const std::lock_guard lock(mutex_);
    value = std::min(value, event->called);
    ++waiting_;
  }
  const uint64_t begin = NowNs();
  ge_rc rc = GE_PENDING;
  while (rc == GE_PENDING) {
    Drive();
    {
      const std::lock_guard lock(mutex_);
      if (event->value >= value) {
        rc = GE_OK;
      } else if (event->end != nullptr) {
        rc = Answer(event->end.get(), err);
      }
    }
    const uint64_t waited = NowNs() - begin;
    if (waited >= timeout_ns) break;
    if (rc == GE_PENDING) Pause(waited);
  }
  bool left = false;
  {
    const std::lock_guard lock(mutex_);
    left = --waiting_ == 0 && tasks_ > 0;
  }
  if (left) wake_.notify_one();
  return rc;
}

ge_rc Queue::Run(ge_exec* exec, ge_err* err) {
  if (exec->own_stream == nullptr) exec->own_stream = NewStream();
  const std::unique_ptr<ge_event, void (*)(ge_event*)> event(
      NewEvent(), [](ge_event* e) { e->queue->DestroyEvent(e); });
  Launch(exec->own_stream, exec);
  Task signal;
  signal.kind = Task::Kind::kSignal;
  signal.event = event.get();
  signal.value = 1;
  Add(exec->own_stream, signal);
  for (;;) {
    const ge_rc rc = Wait(event.get(), 1, kLook, err);
    if (rc != GE_PENDING) return rc;
    // A signal behind a failure may never be reached.
    const std::lock_guard lock(mutex_);
    if (Ended* const end = exec->own_stream->end.get()) return Answer(end, err);
  }
}

}  // namespace ge_engines::comm

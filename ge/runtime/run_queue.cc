#include "ge/runtime/run_queue.h"

#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace ge {
namespace {

// So long a task waits behind a `Tell` that does not return before it gets a thread more. Most
// return within microseconds; one that waits for another run must not wait for long.
constexpr auto kPatience = std::chrono::milliseconds(5);

}  // namespace

struct RunQueue::State {
  explicit State(uint32_t most) : most_workers(most) {}
  const uint32_t most_workers;
  mutable std::mutex mutex;  // of all that follows
  std::condition_variable work, stuck;
  Task *first = nullptr, *last = nullptr;
  uint64_t taken = 0;         // tasks whose turn has come
  uint32_t hurried = 0;       // tasks that wait, in front of all others
  uint32_t workers = 0;       // threads that are not in a Tell
  uint32_t telling = 0;       // threads that are
  uint32_t idle = 0;          // of the workers: asleep, and nobody has called them
  uint32_t called = 0;        // of the workers: asleep, and somebody has
  bool watched = false;       // there is a thread that looks for tasks that wait behind a Tell
  bool watch_sleeps = false;  // it needs a call
  bool closed = false;

  void Push(Task* t, bool front) {
    t->queued_ = true;
    t->before_ = front ? nullptr : last;
    t->after_ = front ? first : nullptr;
    (t->before_ != nullptr ? t->before_->after_ : first) = t;
    (t->after_ != nullptr ? t->after_->before_ : last) = t;
  }
  void Unlink(Task* t) {
    (t->before_ != nullptr ? t->before_->after_ : first) = t->after_;
    (t->after_ != nullptr ? t->after_->before_ : last) = t->before_;
    t->queued_ = false;
    if (t->hurried_) --hurried;
  }
  Task* Pop() {
    Task* t = first;
    Unlink(t);
    ++taken;
    return t;
  }
  bool CallIdle() {
    if (idle == 0) return false;
    --idle;
    ++called;
    work.notify_one();
    return true;
  }
  // Tasks wait, and a thread that could work on them is in a Tell.
  bool Behind() const { return first != nullptr && telling > 0 && workers < most_workers; }
};

RunQueue::RunQueue(uint32_t threads) : state_(std::make_shared<State>(threads)) {}

RunQueue::~RunQueue() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->closed = true;
  state_->work.notify_all();
  state_->stuck.notify_all();
}

bool RunQueue::Start(const std::shared_ptr<State>& state,
                     void (*loop)(const std::shared_ptr<State>& state)) {
  sigset_t all, old;  // the application's signals are not for these threads
  sigfillset(&all);
  // But what a thread's own instruction raises is: blocked, it ends the process.
  for (const int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  bool made = true;
  try {
    std::thread([loop, state] { loop(state); }).detach();
  } catch (const std::exception&) {
    made = false;
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return made;
}

bool RunQueue::AddWorker(const std::shared_ptr<State>& state) {
  if (!Start(state, &Work)) return false;
  ++state->workers;
  return true;
}

// Where tasks wait behind a Tell, somebody looks whether it returns.
void RunQueue::CallWatch(const std::shared_ptr<State>& state) {
  if (!state->Behind()) return;
  if (!state->watched) {
    state->watched = Start(state, &Watch);
  } else if (state->watch_sleeps) {
    state->stuck.notify_one();
  }
}

Status RunQueue::Submit(Task* task) {
  State& s = *state_;
  std::lock_guard<std::mutex> lock(s.mutex);
  task->hurried_ = false;
  s.Push(task, false);
  if (s.CallIdle()) return {};
  const bool more = s.workers + s.telling < s.most_workers;
  if (more && !AddWorker(state_) && s.workers == 0) {
    s.Unlink(task);
    return Status(Code::kResourceExhausted,
                  "no thread for the run; wait for other runs, or end other work");
  }
  CallWatch(state_);
  return {};
}

void RunQueue::Hurry(Task* task) {
  State& s = *state_;
  std::lock_guard<std::mutex> lock(s.mutex);
  if (!task->queued_ || task->hurried_) return;
  s.Unlink(task);
  task->hurried_ = true;
  ++s.hurried;
  s.Push(task, true);
  if (!s.CallIdle() && s.workers <= s.most_workers) (void)AddWorker(state_);
}

uint32_t RunQueue::threads() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->workers + state_->telling + state_->watched;
}

void RunQueue::Work(const std::shared_ptr<State>& state) {
  State& s = *state;
  std::unique_lock<std::mutex> lock(s.mutex);
  while (s.workers <= s.most_workers || s.hurried > 0) {
    if (s.first == nullptr) {
      if (s.closed) {
        s.stuck.notify_all();  // nothing is left to watch
        break;
      }
      ++s.idle;
      s.work.wait(lock, [&s] { return s.called > 0 || s.closed; });
      --(s.called > 0 ? s.called : s.idle);
      continue;
    }
    Task* task = s.Pop();
    lock.unlock();
    task->Compute();
    lock.lock();
    --s.workers;
    ++s.telling;
    CallWatch(state);
    lock.unlock();
    task->Tell();
    lock.lock();
    ++s.workers;
    --s.telling;
  }
  --s.workers;
}

void RunQueue::Watch(const std::shared_ptr<State>& state) {
  State& s = *state;
  std::unique_lock<std::mutex> lock(s.mutex);
  while (!s.closed || s.first != nullptr) {
    if (!s.Behind()) {
      s.watch_sleeps = true;
      s.stuck.wait(lock);
      s.watch_sleeps = false;
      continue;
    }
    const uint64_t seen = s.taken;
    s.stuck.wait_for(lock, kPatience);
    if (s.taken == seen && s.Behind()) (void)AddWorker(state);
  }
  s.watched = false;
}

}  // namespace ge

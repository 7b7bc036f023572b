#include "ge/base/interrupt.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "ge/base/log.h"

namespace ge {

// The deadlines that stand, and the thread that waits for the first of them. It lives as long as
// the process, since a call may be going on at exit.
class AlarmClock {
 public:
  static AlarmClock& Get() {
    static AlarmClock* clock = new AlarmClock;
    return *clock;
  }

  // False where no thread can be had that waits; the next one tries it again.
  bool Add(Deadline* d) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!runs_ && !Start()) return false;
    d->after_ = first_;
    if (first_ != nullptr) first_->before_ = d;
    first_ = d;
    if (d->at_ < next_) {
      next_ = d->at_;
      changed_.notify_one();
    }
    return true;
  }
  void Remove(Deadline* d) {
    std::lock_guard<std::mutex> lock(mutex_);
    (d->before_ != nullptr ? d->before_->after_ : first_) = d->after_;
    if (d->after_ != nullptr) d->after_->before_ = d->before_;
  }
  void SetOverdue(Deadline::Overdue overdue) { overdue_.store(overdue ? overdue : &Log); }

 private:
  static constexpr auto kGrace = std::chrono::seconds(1);  // what ends by itself has ended then
  static constexpr auto kNever = std::chrono::steady_clock::time_point::max();

  AlarmClock() = default;
  bool Start() {
    sigset_t all, old;  // the application's signals are not for this thread
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    try {
      std::thread([this] { Run(); }).detach();
      runs_ = true;
    } catch (const std::exception&) {
      // The limit of processes, or of memory.
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    return runs_;
  }

  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const auto now = std::chrono::steady_clock::now();
      next_ = kNever;
      std::vector<const char*> overdue;
      for (Deadline* d = first_; d != nullptr; d = d->after_) {
        if (d->at_ <= now && !d->rung_) d->Ring();
        if (d->told_) continue;
        if (d->rung_ && d->at_ + kGrace <= now) {
          d->told_ = true;
          overdue.push_back(d->interrupt_->in_plugin());
        } else {
          next_ = std::min(next_, d->rung_ ? d->at_ + kGrace : d->at_);
        }
      }
      if (!overdue.empty()) {  // what is told may take its time, and may end deadlines
        lock.unlock();
        for (const char* plugin : overdue) overdue_.load()(plugin);
        lock.lock();
        continue;
      }
      if (next_ == kNever) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, next_);
      }
    }
  }

  static void Log(const char* plugin) {
    LogLine(1, plugin ? fmt::format("a call has not ended a second after its time limit: {} has "
                                    "not returned",
                                    plugin)
                      : std::string("a call has not ended a second after its time limit"));
  }
  std::atomic<Deadline::Overdue> overdue_{&Log};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool runs_ = false;  // the thread
  Deadline* first_ = nullptr;
  std::chrono::steady_clock::time_point next_ = kNever;  // what the thread waits for
};

Status Interrupt::Check() const {
  switch (word_.load(std::memory_order_relaxed)) {
    case kGoOn:
      return {};
    case kLate:
      return Status(Code::kDeadlineExceeded,
                    "the call took longer than its time limit and was ended; states are as they "
                    "were; give it more time");
    case kNoClock:
      return Status(Code::kResourceExhausted,
                    "no thread can be made that watches the call's time limit; raise the limit of "
                    "processes (ulimit -u, pids.max), or set no time limit");
    default:
      return Status(Code::kCancelled, "the call was cancelled; states are as they were");
  }
}

Deadline::Deadline(Interrupt* interrupt, uint64_t limit_ms)
    : interrupt_(limit_ms == 0 ? nullptr : interrupt) {
  if (interrupt_ == nullptr) return;
  constexpr uint64_t kYearMs = uint64_t{366} * 24 * 3600 * 1000;  // so that the sum does not wrap
  at_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::min(limit_ms, kYearMs));
  if (AlarmClock::Get().Add(this)) return;
  interrupt_->End(Interrupt::kNoClock);
  interrupt_ = nullptr;
}

void Deadline::SetOverdue(Overdue overdue) { AlarmClock::Get().SetOverdue(overdue); }

Deadline::~Deadline() {
  if (interrupt_ != nullptr) AlarmClock::Get().Remove(this);
}

void Backoff::Wait() {
  constexpr uint32_t kYields = 64;
  if (++tries_ <= kYields) {
    std::this_thread::yield();
    return;
  }
  std::this_thread::sleep_for(std::chrono::microseconds(std::min(tries_ - kYields, 20u) * 50));
}

}  // namespace ge

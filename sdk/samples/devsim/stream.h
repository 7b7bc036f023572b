// Streams and timeline events. A stream is one worker thread for its tasks, in order; an event
// counts up. A failed task poisons its stream: later tasks are skipped and later signals carry the
// error. event_wait returns this error, and streams that wait are poisoned, too. Each call is
// thread-safe; the host serialises the calls of one stream by contract.
#ifndef GE_SAMPLES_DEVSIM_STREAM_H_
#define GE_SAMPLES_DEVSIM_STREAM_H_

#include <cfenv>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "clock.h"
#include "ge/ge_plugin.h"

struct ge_event {
 public:
  explicit ge_event(ge_engine* engine);
  ge_engine* engine() const { return engine_; }
  // A signal of this value was called: it is queued, or about to be.
  void Call(uint64_t value);
  // What a wait for *value stands for: like an event of real devices the signals called so far.
  // What nobody has signalled yet counts as reached, or with option strict is
  // GE_FAILED_PRECONDITION.
  ge_rc Called(uint64_t* value, ge_err* err);
  void Reach(uint64_t value, uint64_t at_ns);  // at_ns: as Wait tells it, else 0
  void Fail(const ge_err& error);
  // GE_PENDING after the timeout. *at_ns: the time when `value` was reached, in virtual time;
  // without a clock, with option round_trip_ns, in the host's.
  ge_rc Wait(uint64_t value, uint64_t timeout_ns, uint64_t* at_ns, ge_err* err);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t value_ = 0, called_ = 0;
  devsim::ReachedAt reached_;
  ge_engine* const engine_;
  ge_err error_;  // code 0 = none
};

namespace devsim {

struct Task {
  enum class Kind { kLaunch, kCopy, kSignal, kWait, kStamp, kCapture } kind = Kind::kLaunch;
  Task* next = nullptr;
  uint64_t queued_ns = 0;  // by the host, in virtual time
  fenv_t float_mode;       // of the thread that queued it: the worker computes in it
  // kLaunch: `bufs` and `dims` hold copies of all data of the launch.
  ge_exec* exec = nullptr;
  ge_launch launch;
  std::vector<ge_buf> bufs;
  std::vector<int64_t> dims;
  // kCopy, with shadow addresses.
  void* dst = nullptr;
  const void* src = nullptr;
  uint64_t bytes = 0;
  // kSignal, kWait
  ge_event* event = nullptr;
  uint64_t value = 0;
  ge_capture* capture = nullptr;  // kCapture
  ge_stamps* stamps = nullptr;    // kStamp
  uint32_t stamp = 0;
};

}  // namespace devsim

struct ge_stream {
 public:
  ge_stream(ge_engine* engine, uint32_t device);
  // Finishes what is queued; never, where its device hangs.
  ~ge_stream();
  ge_engine* engine() const { return engine_; }
  uint32_t device() const { return device_; }
  // A task to fill in: a reused one, with its vectors' memory. Queue or Return it.
  devsim::Task* Take();
  void Queue(devsim::Task* task);
  void Return(devsim::Task* task);
  // Not null: what is called with the stream is recorded there. Used by the host's thread alone.
  ge_capture* capture() const { return capture_; }
  void set_capture(ge_capture* capture) { capture_ = capture; }

 private:
  void Work();
  void Do(devsim::Task* task);
  ge_rc WaitFor(const devsim::Task& task, ge_err* err);

  ge_engine* engine_;
  const uint32_t device_;
  const uint64_t delay_us_;
  std::mutex mutex_;
  std::condition_variable wake_;
  ge_capture* capture_ = nullptr;
  devsim::Task *head_ = nullptr, *tail_ = nullptr, *spare_ = nullptr;
  bool stop_ = false;
  ge_err error_;         // of the worker alone; code 0 = none
  uint64_t now_ns_ = 0;  // of the worker alone, in virtual time
  std::thread worker_;   // last: it uses the rest
};

#endif  // GE_SAMPLES_DEVSIM_STREAM_H_

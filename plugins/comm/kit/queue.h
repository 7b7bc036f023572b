// Queue: streams and events of an engine of collectives, over a Transport. Work of a stream goes on
// while the host computes, by one thread that sleeps between looks; a host that waits for an event
// looks itself, all the time, and the thread stays away. Any thread may call.
//
// A failed launch ends its stream: later launches are skipped, later signals bring the failure.
// While the transport may still touch the launch's buffers, what is signalled when the host knows
// of the failure is never reached, so that the host frees nothing of them. The host knows when an
// event has answered it, or when it has told the launch to end; a launch may fail before either.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/comm/kit/transport.h"

namespace ge_engines::comm {
class Queue;
}

namespace ge_engines::comm {

// Why a stream ended; its signals bring it to their events.
struct Ended {
  Failure failure;
  const uint32_t* stop = nullptr;  // of the launch that failed: ge_launch.stop
  bool told = false;               // the host has had it for an answer
  bool host_knows() const {
    return told || (stop != nullptr && __atomic_load_n(stop, __ATOMIC_ACQUIRE) != 0);
  }
};

}  // namespace ge_engines::comm

struct ge_event {
  ge_engines::comm::Queue* queue = nullptr;
  uint64_t called = 0, value = 0;                // signals called, reached
  std::shared_ptr<ge_engines::comm::Ended> end;  // of a stream that was to signal it, or null
};

struct ge_stamps {
  std::vector<std::atomic<uint64_t>> ns;
  explicit ge_stamps(uint32_t n) : ns(n) {}
};

namespace ge_engines::comm {

struct Task {
  enum class Kind : uint8_t { kLaunch, kSignal, kWait, kStamp } kind = Kind::kLaunch;
  ge_exec* exec = nullptr;
  ge_event* event = nullptr;
  uint64_t value = 0;  // of the event, or the stamp's index
  ge_stamps* stamps = nullptr;
  bool late = false;  // a signal called when a launch ahead of it was to end already
};

}  // namespace ge_engines::comm

struct ge_stream {
  ge_engines::comm::Queue* queue = nullptr;
  std::vector<ge_engines::comm::Task> ring;  // a power of two
  size_t head = 0, count = 0;
  std::shared_ptr<ge_engines::comm::Ended> end;  // by its first failed launch, or null
};

namespace ge_engines::comm {

class Queue {
 public:
  explicit Queue(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}
  ~Queue();
  Queue(const Queue&) = delete;
  Transport* transport() const { return transport_.get(); }
  void Start();  // its thread, once

  ge_stream* NewStream();
  void DestroyStream(ge_stream* stream);
  ge_event* NewEvent();
  void DestroyEvent(ge_event* event);
  void Launch(ge_stream* stream, ge_exec* exec);
  void Add(ge_stream* stream, const Task& task);
  // As ge_engine_api.event_wait.
  ge_rc Wait(ge_event* event, uint64_t value, uint64_t timeout_ns, ge_err* err);
  // A launch from its begin to its end, on a stream of the exec's own.
  ge_rc Run(ge_exec* exec, ge_err* err);

 private:
  void Work();
  // Goes on with all streams, where no other thread does. When another look is worth it, in NowNs;
  // 0 = as soon as may be.
  uint64_t Drive();
  bool Step(ge_stream* stream);  // false: it waits, or has no work
  bool StepLaunch(ge_stream* stream, const Task& task);
  void Pop(ge_stream* stream);
  void Fail(ge_stream* stream, Failure failure, const uint32_t* stop);

  const std::unique_ptr<Transport> transport_;
  std::mutex drive_;  // of transport_ and of launches in flight; ahead of mutex_
  std::mutex mutex_;  // of the following, of streams and of events
  std::condition_variable wake_;
  std::vector<ge_stream*> streams_;
  size_t tasks_ = 0, waiting_ = 0;  // of all streams; hosts in Wait
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ge_engines::comm

// The device of my_plugin, played by threads: memory of its own, streams, timeline events. All of
// it is here to be replaced, piece by piece, by the calls of a vendor's library; what device.cc
// keeps in order then is what that library keeps in order itself.
#ifndef DEVICE_H_
#define DEVICE_H_

#include <cfenv>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "ge/ge_plugin.hpp"

namespace device {

constexpr char kName[] = "my_plugin";  // what --engines takes: [a-z0-9_]+
// What prices are made of. Measure yours.
constexpr double kFlopsPerNs = 4, kBytesPerNs = 8;  // of the device's work
constexpr double kLinkBytesPerNs = 4;               // of copies to it and from it
constexpr uint64_t kLaunchNs = 5'000, kLinkNs = 5'000;
constexpr uint64_t kBytes = uint64_t{4} << 30;  // of its memory
constexpr uint32_t kStreams = 2;

struct Failure {  // code 0 = none; a stream keeps its first one, and hands it to its events
  ge_rc code = GE_OK;
  uint32_t scope = GE_SCOPE_CALL;
  char text[120] = "";
};

// Something that a stream does in its turn. A launch's records are gone when enqueue returns: what
// is needed of them is here, and it has a size of its own, so that queueing allocates nothing.
struct Task {
  enum Kind { kLaunch, kCopy, kSignal, kWait, kStamp, kCapture } kind;
  std::fenv_t mode;  // of the caller (rule 8): the stream's thread computes in it
  const ge_exec* exec;
  const float* in[2];
  float* out;
  const uint32_t* stop;
  void* to;
  const void* from;
  uint64_t bytes;
  ge_event* event;
  uint64_t value;
  uint64_t* stamp;
  const ge_capture* capture;
};
// operators.cc: the whole of a launch. GE_CANCELLED where the host wants it to stop.
ge_rc Compute(const Task& task);

}  // namespace device

struct ge_engine {  // one a session
  explicit ge_engine(const ge_host_api* api);
  const ge_host_api* const host;
  ge_device device = {};
  ge_domain domain[2] = {};  // the device's memory; page-locked memory of the host
  ge_link link[4] = {};
  std::mutex mutex;  // of all queues and events
  std::condition_variable changed;
};

struct ge_mem {
  void* address;
};

struct ge_event {
  ge_engine* engine;
  uint64_t value = 0;   // reached
  uint64_t called = 0;  // the highest that a stream was told to signal
  device::Failure failure;
};

struct ge_stamps {
  std::vector<uint64_t> ns;
};

struct ge_capture {
  std::vector<device::Task> tasks;
  std::vector<ge_stream*> streams;  // while it records
  bool failed = false;
};

struct ge_stream {
  explicit ge_stream(ge_engine* e);
  ~ge_stream();  // when its work is done
  // Behind what is queued already, or into the capture that is being recorded.
  ge_rc Queue(device::Task task, ge_err* err);

  ge_engine* const engine;
  ge_capture* capture = nullptr;  // of the host's thread
 private:
  void Run();
  bool Next(device::Task* task);
  void Do(const device::Task& task);
  void WaitFor(const device::Task& task);
  void Signal(const device::Task& task);
  void Fail(ge_rc code, const char* text);
  std::vector<device::Task> ring_;  // `count_` tasks from `first_` on, in a circle
  size_t first_ = 0, count_ = 0;
  bool stop_ = false;
  device::Failure failure_;  // of the thread alone
  std::thread thread_;       // the last member: it uses the others
};

namespace device {
// The slots of ge_engine_api that are the device's own.
ge_rc Devices(ge_engine*, const ge_device** out, uint32_t* n, uint32_t* stride, ge_err*);
ge_rc Links(ge_engine*, const ge_link** out, uint32_t* n, uint32_t* stride, ge_err*);
ge_rc MemAlloc(ge_engine*, uint32_t device, uint32_t domain, uint64_t bytes, uint64_t align,
               ge_mem** out, void** address, ge_err*);
void MemFree(ge_engine*, ge_mem*);
ge_rc Copy(ge_engine*, const ge_copy*, ge_err*);
ge_rc StreamCreate(ge_engine*, uint32_t device, ge_stream** out, ge_err*);
void StreamDestroy(ge_stream*);
ge_rc EventCreate(ge_engine*, uint32_t device, ge_event** out, ge_err*);
void EventDestroy(ge_event*);
ge_rc StreamWait(ge_stream*, ge_event*, uint64_t value, ge_err*);
ge_rc StreamSignal(ge_stream*, ge_event*, uint64_t value, ge_err*);
ge_rc EventWait(ge_event*, uint64_t value, uint64_t timeout_ns, ge_err*);
ge_rc StampsCreate(ge_engine*, uint32_t device, uint32_t n, ge_stamps** out, ge_err*);
void StampsDestroy(ge_stamps*);
ge_rc StreamStamp(ge_stream*, ge_stamps*, uint32_t index, ge_err*);
ge_rc StampsRead(ge_stamps*, uint32_t first, uint32_t n, uint64_t* ns, ge_err*);
ge_rc CaptureBegin(ge_engine*, ge_stream* const* stream, uint32_t n, ge_err*);
ge_rc CaptureEnd(ge_engine*, ge_capture** out, ge_err*);
ge_rc CaptureLaunch(ge_capture*, ge_stream*, ge_err*);
void CaptureDestroy(ge_capture*);
}  // namespace device
#endif  // DEVICE_H_

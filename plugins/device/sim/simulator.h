// A simulator of devices that work while the host goes on: streams, events, memory, copies,
// kernels, captures. It finds what a real device hides: missing waits, reads of nothing, use after
// free, leaks.
//
// It is no device and measures nothing: kernels are host functions, times are a model's. It has no
// threads and never sleeps: all work runs inside calls, in an order that the schedule chooses.
// One simulator is one machine. Handles and blocks belong to it and die with it.
// Any thread may call; a lock lets one call in at a time, and all callers count as one host thread.
// Kernels' bodies and the hook run under that lock and call nothing here.
//
// Rules that all devices keep, and that callers are judged by:
// - A stream is first in, first out. Streams are ordered by events alone.
// - Recording an event takes a snapshot of the stream's work so far. A wait for an event that was
//   never recorded is done at once, without an error. A wait means the record that is newest when
//   the wait is called; a later record does not move it.
// - A call hands work over and returns. The host learns of its end by an event or a stream alone.
// - Freeing or destroying waits for nothing.
// - A copy from pageable host memory reads the source at the call or when it runs: callers must
//   be right in both cases.
// - Work that fails shows at a later call, and at all calls of the device until it is reset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ge_engines::device::sim {

// Handles are never used twice, so that a stale one is known. 0 is none.
enum class Stream : uint64_t { kNone = 0 };
enum class Event : uint64_t { kNone = 0 };
enum class Graph : uint64_t { kNone = 0 };

// What a driver call answers.
enum class Code {
  kOk,
  kNotReady,     // a query, or a limit that ended first: the work still runs
  kOutOfMemory,  // the device's limit, or a planted fault
  kInvalid,      // the call is wrong; a report says why
  kFailed,       // a planted fault; or earlier work failed: until Reset
  kDeviceLost,   // for ever; what is destroyed or freed is gone nevertheless
  kCapture,      // not inside a capture, or the capture was spoiled
};
const char* CodeName(Code code);

// The kinds of driver calls, to count them and to let them fail.
enum class Call {
  kAlloc,
  kFree,
  kPinnedAlloc,
  kPinnedFree,
  kMemoryInfo,
  kStreamCreate,
  kStreamDestroy,
  kStreamQuery,
  kStreamSynchronize,
  kStreamWait,
  kEventCreate,
  kEventDestroy,
  kEventRecord,
  kEventQuery,
  kEventSynchronize,
  kEventTime,
  kCopy,
  kFill,
  kLaunch,
  kCaptureBegin,
  kCaptureEnd,
  kGraphLaunch,
  kGraphDestroy,
  kReset,
  kCount,  // how many kinds there are
};
const char* CallName(Call call);

// The order in which work that may run does run. The clocks of the race detector do not depend on
// it.
enum class Schedule {
  kEager,        // at the call that hands it over
  kLazy,         // when a second query or a host wait needs it, and then only what that needs
  kSeeded,       // a random stream's turn, at random calls; the same seed gives the same order
  kAdversarial,  // as late as kLazy, and before it all that nothing waits for, the newest first
  kTimed,        // in the order of the simulated clock, when the host's time has come
};

struct DeviceOptions {
  std::string name = "sim";        // messages put the device's number behind it
  size_t bytes = size_t{1} << 30;  // limit of Alloc's blocks together
  size_t alignment = 256;          // of Alloc's blocks, a power of two
  // Own memory: the host sees none of it, and kernels see it and pinned blocks alone.
  // Host memory: both see everything.
  bool own_memory = true;
  int kernels_at_once = 1;         // of different streams
  int64_t launch_ns = 2000;        // before each kernel and fill begins
  int64_t graph_node_ns = 500;     // the same inside a captured graph
  int64_t copy_latency_ns = 5000;  // before each copy moves its first byte
  double host_bytes_per_ns = 12;  // copies between host and device; one at a time in each direction
  double pageable_fraction = 0.5;   // of that speed, where the host's memory is pageable
  double peer_bytes_per_ns = 50;    // copies from another device into this one
  double local_bytes_per_ns = 500;  // fills and copies inside the device
};

struct SimulatorOptions {
  std::vector<DeviceOptions> devices = {DeviceOptions{}};
  Schedule schedule = Schedule::kEager;
  uint64_t seed = 1;
  int64_t call_ns = 1000;  // of the host's time, for each driver call
  std::string journal;     // a file that the journal is appended to (journal.cc); empty: none
};

// Bytes that work reads or writes. They lie in one block, or in pageable host memory.
struct Range {
  const void* data = nullptr;
  size_t bytes = 0;
};

struct Kernel {
  std::string name;  // for reports
  std::vector<Range> reads;
  std::vector<Range> writes;  // a range that is changed in place stands in both
  std::function<bool()>
      body;             // false: the work fails, and with it the device. Empty: nothing to do
  int64_t cost_ns = 0;  // beside the launch
};

enum class Fault {
  kRace,             // two accesses to bytes, one a write at least, in no order
  kUnwrittenRead,    // bytes that nobody wrote
  kUseAfterFree,     // work handed over, or a copy called, for a freed block
  kFreeInFlight,     // a block freed that work may still use
  kOutOfBounds,      // a range leaves its block
  kWrongMemory,      // the device, or the host, cannot see this memory
  kUseOfDestroyed,   // a stream, event or graph that is gone or never was
  kDoubleDestroy,    // the same, destroyed or freed once more
  kDestroyInFlight,  // a stream or graph destroyed whose work may still run
  kGraphInFlight,    // a graph launched in no order with its launch before
  kCapture,          // a call that spoiled a capture, or work that was not joined
  kEndlessWait,      // a host wait without a limit for work that never ends
  kLeak,             // from Finish: what nobody destroyed or freed
};
const char* FaultName(Fault fault);

// One finding. `first` was called before `second`; a finding about one task leaves `first` empty.
struct Report {
  Fault fault = Fault::kRace;
  std::string first;   // "write by 'gemm' (call 12, stream 1)"
  std::string second;  // "read by 'relu' (call 15, stream 2)"
  std::string block;   // "block 3 of sim0", "pinned block 1", "pageable memory"; empty: none
  size_t begin = 0;    // bytes [begin, end) of the block; of pageable memory: addresses
  size_t end = 0;
  std::string missing;  // the edge that would order them, or what to do
  std::string text() const;
};

class Simulator {
 public:
  explicit Simulator(SimulatorOptions options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // --- Driver calls. Results are written on kOk alone. `limit_ns` < 0: none.
  // -----------------------

  int device_count() const;  // no driver call
  Code MemoryInfo(int device, size_t* free_bytes, size_t* total_bytes);

  // Blocks are aligned, those of the host to 256 bytes, and hold poison (0xFF) until they are
  // written. 0 bytes: kInvalid.
  Code Alloc(int device, size_t bytes, void** block);
  Code Free(void* block);
  Code PinnedAlloc(size_t bytes, void** block);
  Code PinnedFree(void* block);

  Code StreamCreate(int device, Stream* stream);
  Code StreamDestroy(Stream stream);
  Code StreamQuery(Stream stream);
  Code StreamSynchronize(Stream stream, int64_t limit_ns = -1);
  Code StreamWait(Stream stream, Event event);  // of any device

  Code EventCreate(int device, Event* event);
  Code EventDestroy(Event event);
  Code EventRecord(Event event, Stream stream);  // of the same device
  Code EventQuery(Event event);                  // never recorded: kOk
  Code EventSynchronize(Event event, int64_t limit_ns = -1);
  // When its newest record was reached, on the simulated clock that now() shows, too.
  Code EventTime(Event event, int64_t* ns);

  // Between memory of the stream's device and the host, the same or another device; the addresses
  // say which. From host to host: only on a device with host memory.
  Code Copy(Stream stream, void* to, const void* from, size_t bytes, std::string name = "copy");
  Code Fill(Stream stream, void* to, uint8_t value, size_t bytes, std::string name = "fill");
  Code Launch(Stream stream, Kernel kernel);

  // From here on work for `origin`, and for each stream that waits for an event recorded inside, is
  // kept and not run. The end wants all of it joined to `origin` again. Inside: no host waits,
  // queries of what is captured, blocks, or events recorded outside; each spoils the capture.
  // Events recorded inside answer kCapture to the host until they are recorded outside again.
  Code CaptureBegin(Stream origin);
  Code CaptureEnd(Stream origin, Graph* graph);
  Code GraphLaunch(Graph graph,
                   Stream stream);  // of the same device; ranges are those of the capture
  Code GraphDestroy(Graph graph);

  // Ends the device's work and its error. Blocks and handles made before can only be destroyed.
  Code Reset(int device);

  // --- What the host does between calls. No driver calls.
  // ------------------------------------------

  // The host's own loads and stores in pinned, pageable or host-memory blocks, for the race
  // detector.
  void HostRead(const void* data, size_t bytes, std::string name = "host");
  void HostWrite(const void* data, size_t bytes, std::string name = "host");
  void HostWork(int64_t ns);  // the host is busy: its clock moves
  int64_t now() const;        // the host's time in simulated ns
  void HostWaits();           // the host waits for all that can run
  // From now on; the same seed gives the same order again where nothing is in flight.
  void SetSchedule(Schedule schedule, uint64_t seed);

  // --- Faults. k counts from 1, from now on.
  // --------------------------------------------------------

  // The k-th call, of `call` or of all (Call::kCount), answers `code` and does nothing else; a
  // destroy or a free does its work nevertheless. kDeviceLost loses the call's device, of a pinned
  // block: none.
  void FailCall(Call call, uint64_t k, Code code);
  // The k-th kernel, copy or fill that runs fails when it runs: kFailed or kDeviceLost.
  void FailWork(uint64_t k, Code code = Code::kFailed);
  void StallWork(uint64_t k);       // it never ends, and so its stream never goes on
  void StallStream(Stream stream);  // nothing more of it runs
  void EndStalls();                 // all that stalled goes on
  void DropWait(uint64_t k);        // the k-th wait of a stream for an event is none
  void DropTold(uint64_t k);        // the k-th query or wait of the host says kOk, and is none
  void LoseDevice(int device);

  // --- What was seen.
  // -------------------------------------------------------------------------------

  uint64_t calls() const;
  uint64_t calls(Call call) const;
  uint64_t stalls() const;  // pieces of work that did not end, so far
  // Called before each driver call with its kind and its number, from 1. Empty: none.
  void OnCall(std::function<void(Call, uint64_t)> hook);
  // Names of the work that ran, in its order; of the newest 4,096 pieces.
  std::vector<std::string> order() const;
  // Whether an address lies in a block that was freed. Of the oldest ones nobody knows: something
  // else may lie there.
  bool WasFreed(const void* address) const;
  size_t device_bytes(int device) const;  // in blocks now
  size_t most_device_bytes(int device) const;

  std::vector<Report> reports() const;  // each finding once, in the order of the calls
  std::vector<Report> TakeReports();    // the same, and forgets them
  // Runs what can run and adds a kLeak for each stream, event, graph and block that is left.
  void Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ge_engines::device::sim

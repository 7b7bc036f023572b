// Driver: what an asynchronous device's driver must do, as an abstract class. A vendor's engine
// implements it over the vendor's own functions; tests implement it over the simulator.
//
// Rules
// - Any thread may call. Calls with one stream come one at a time.
// - No call waits for the device, but Open, Close, Free and PinnedFree; and Copy, where it names
//   host memory that is not page-locked and the vendor's copies on streams want that.
// - Events are binary. A wait means the newest record at the time of the call; a later record does
//   not move it. An event never recorded counts as passed, so nothing here waits for one.
// - A copy from pageable host memory may read it at the call, so that nothing queued before may
//   write it.
// - Work that fails shows at a later call. kFailed and kLost hold for every call of the device from
//   then on; destroys, frees and Close stay legal, and their results say nothing.
// - Out parameters are written on kOk alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ge_engines::device {

enum class Outcome : uint8_t {
  kOk,
  kNotReady,     // a query: the work still runs
  kOutOfMemory,  // of this call alone
  kInvalid,      // the call is wrong: a fault of the engine
  kUnsupported,  // the device or the driver has no such thing
  kFailed,       // the device's context can do no more; Close and Open make a new one
  kLost,         // the device itself is gone
};

struct Result {
  Outcome outcome = Outcome::kOk;
  int32_t vendor_code = 0;  // the driver's own
  bool ok() const { return outcome == Outcome::kOk; }
};

// Handles are the driver's; 0 is none.
enum class StreamHandle : uint64_t { kNone = 0 };
enum class EventHandle : uint64_t { kNone = 0 };
enum class GraphHandle : uint64_t { kNone = 0 };  // a captured sequence of calls

// Known without opening the device.
struct DeviceFacts {
  std::string name;  // "h100:0"; names the device in plans and messages
  uint8_t uuid[16] = {};
  uint64_t memory_bytes = 0;   // all of it
  uint32_t block_align = 256;  // that offsets in its blocks have
  uint32_t address_align =
      256;  // that the driver gives its blocks; where it is less, more is taken
  uint32_t most_streams = 8;
  bool pinned = true;    // it has page-locked host memory
  bool captures = true;  // it can capture
};

// Bytes that a kernel touches. Drivers that check accesses read it; others ignore it.
struct Buffer {
  void* data = nullptr;
  uint64_t bytes = 0;
  bool reads = false, writes = false;
};

// One launch of a vendor's kernel.
struct KernelLaunch {
  const void* function = nullptr;  // what the vendor's loader gave
  const char* name = "";
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;
  void* const* argument = nullptr;  // addresses of its arguments
  std::span<const Buffer> buffers;
};

class Driver {
 public:
  virtual ~Driver() = default;

  // ---- devices. `device` counts from 0.
  // kUnsupported where there is no driver; ErrorText then says what is missing.
  virtual Result Count(int* devices) = 0;
  virtual Result Describe(int device, DeviceFacts* facts) = 0;
  virtual Result Open(int device) = 0;  // before anything below; once
  virtual void Close(int device) = 0;   // frees all that is left
  // Whether `device` reaches the other's memory; makes it so.
  virtual Result OpenPeer(int device, int other) = 0;

  // ---- memory
  virtual Result Alloc(int device, uint64_t bytes, void** block) = 0;
  virtual void Free(int device, void* block) = 0;
  virtual Result PinnedAlloc(int device, uint64_t bytes, void** block) = 0;
  virtual void PinnedFree(int device, void* block) = 0;

  // ---- streams: first in, first out
  virtual Result StreamCreate(int device, StreamHandle* stream) = 0;
  virtual void StreamDestroy(int device, StreamHandle stream) = 0;
  virtual Result StreamWait(int device, StreamHandle stream, EventHandle event) = 0;

  // ---- events, of one device; streams of any device wait for them
  virtual Result EventCreate(int device, bool timed, EventHandle* event) = 0;
  virtual void EventDestroy(int device, EventHandle event) = 0;
  virtual Result EventRecord(int device, EventHandle event, StreamHandle stream) = 0;
  virtual Result EventQuery(int device, EventHandle event) = 0;  // kOk: passed
  // Nanoseconds from one timed event to another, both passed.
  virtual Result EventElapsed(int device, EventHandle from, EventHandle to, int64_t* ns) = 0;

  // ---- work
  // Between the device's memory and the host's, pinned or not, or inside the device's.
  virtual Result Copy(int device, StreamHandle stream, void* to, const void* from,
                      uint64_t bytes) = 0;
  // From one device's memory into another's; the stream is of one of them.
  virtual Result PeerCopy(int device, StreamHandle stream, int to_device, void* to, int from_device,
                          const void* from, uint64_t bytes) = 0;
  virtual Result Fill(int device, StreamHandle stream, void* to, uint8_t value, uint64_t bytes) = 0;
  // kUnsupported where the vendor has no kernels but its own.
  virtual Result Launch(int device, StreamHandle stream, const KernelLaunch& launch);

  // ---- capture: from here on work of `origin`, and of each stream that waits for an event of the
  // capture, is recorded and not run. The end, in the thread of the begin, ends it whatever
  // happened; only kOk gives a graph. kUnsupported where DeviceFacts::captures is false.
  virtual Result CaptureBegin(int device, StreamHandle origin);
  virtual Result CaptureEnd(int device, StreamHandle origin, GraphHandle* graph);
  virtual Result GraphLaunch(int device, GraphHandle graph, StreamHandle stream);
  virtual void GraphDestroy(int device, GraphHandle graph);

  // ---- text and time
  virtual std::string ErrorText(Result result) = 0;
  // The host has nothing to do for so long while it waits for the device.
  virtual void Rest(uint64_t ns);
};

}  // namespace ge_engines::device

#include "plugins/device/sim/engine/sim_driver.h"

#include <cfenv>
#include <cstring>
#include <utility>

namespace ge_engines::device::sim {
namespace {

constexpr int32_t kFinding = 1000;  // the vendor's code of a finding

Stream Of(StreamHandle stream) { return static_cast<Stream>(stream); }
Event Of(EventHandle event) { return static_cast<Event>(event); }
Graph Of(GraphHandle graph) { return static_cast<Graph>(graph); }

Outcome OutcomeOf(Code code) {
  switch (code) {
    case Code::kOk:
      return Outcome::kOk;
    case Code::kNotReady:
      return Outcome::kNotReady;
    case Code::kOutOfMemory:
      return Outcome::kOutOfMemory;
    case Code::kInvalid:
    case Code::kCapture:
      return Outcome::kInvalid;
    case Code::kFailed:
      return Outcome::kFailed;
    case Code::kDeviceLost:
      return Outcome::kLost;
  }
  return Outcome::kInvalid;
}

}  // namespace

SimDriver::SimDriver(SimulatorOptions options, bool strict, bool captures)
    : options_(std::move(options)), strict_(strict), captures_(captures), simulator_(options_) {}

Result SimDriver::Of(Code code) const {
  if (strict_ && !simulator_.reports().empty()) return {Outcome::kFailed, kFinding};
  return {OutcomeOf(code), static_cast<int32_t>(code)};
}

std::string SimDriver::ErrorText(Result result) {
  if (result.vendor_code != kFinding) return CodeName(static_cast<Code>(result.vendor_code));
  return "the simulator found: " + simulator_.reports().front().text();
}

Result SimDriver::Count(int* devices) {
  *devices = simulator_.device_count();
  return Result();
}

Result SimDriver::Describe(int device, DeviceFacts* facts) {
  const DeviceOptions& one = options_.devices[static_cast<size_t>(device)];
  facts->name = one.name + ":" + std::to_string(device);
  std::memcpy(facts->uuid, one.name.data(), std::min<size_t>(one.name.size(), 12));
  facts->uuid[15] = static_cast<uint8_t>(device);
  facts->memory_bytes = one.bytes;
  facts->most_streams = 4;
  facts->captures = captures_;
  return Result();
}

Result SimDriver::Open(int) { return Of(Code::kOk); }
void SimDriver::Close(int) {}  // what is left is found at the end
Result SimDriver::OpenPeer(int, int) { return Of(Code::kOk); }

Result SimDriver::Alloc(int device, uint64_t bytes, void** block) {
  return Of(simulator_.Alloc(device, bytes, block));
}
void SimDriver::Free(int, void* block) { (void)simulator_.Free(block); }
Result SimDriver::PinnedAlloc(int device, uint64_t bytes, void** block) {
  const Code code = simulator_.PinnedAlloc(bytes, block);
  // The simulator has pinned blocks of no device; to a driver they are one's.
  if (code == Code::kDeviceLost) simulator_.LoseDevice(device);
  return Of(code);
}
void SimDriver::PinnedFree(int, void* block) { (void)simulator_.PinnedFree(block); }

Result SimDriver::StreamCreate(int device, StreamHandle* stream) {
  Stream made = Stream::kNone;
  const Result result = Of(simulator_.StreamCreate(device, &made));
  if (result.ok()) *stream = static_cast<StreamHandle>(made);
  return result;
}
void SimDriver::StreamDestroy(int, StreamHandle stream) {
  (void)simulator_.StreamDestroy(sim::Of(stream));
}
Result SimDriver::StreamWait(int, StreamHandle stream, EventHandle event) {
  return Of(simulator_.StreamWait(sim::Of(stream), sim::Of(event)));
}

Result SimDriver::EventCreate(int device, bool, EventHandle* event) {
  Event made = Event::kNone;
  const Result result = Of(simulator_.EventCreate(device, &made));
  if (result.ok()) *event = static_cast<EventHandle>(made);
  return result;
}
void SimDriver::EventDestroy(int, EventHandle event) {
  (void)simulator_.EventDestroy(sim::Of(event));
}
Result SimDriver::EventRecord(int, EventHandle event, StreamHandle stream) {
  return Of(simulator_.EventRecord(sim::Of(event), sim::Of(stream)));
}
Result SimDriver::EventQuery(int, EventHandle event) {
  return Of(simulator_.EventQuery(sim::Of(event)));
}
Result SimDriver::EventElapsed(int, EventHandle from, EventHandle to, int64_t* ns) {
  int64_t first = 0, last = 0;
  Result result = Of(simulator_.EventTime(sim::Of(from), &first));
  if (result.ok()) result = Of(simulator_.EventTime(sim::Of(to), &last));
  if (result.ok()) *ns = last - first;
  return result;
}

Result SimDriver::Copy(int, StreamHandle stream, void* to, const void* from, uint64_t bytes) {
  return Of(simulator_.Copy(sim::Of(stream), to, from, bytes));
}
Result SimDriver::PeerCopy(int, StreamHandle stream, int, void* to, int, const void* from,
                           uint64_t bytes) {
  return Of(simulator_.Copy(sim::Of(stream), to, from, bytes, "peer copy"));
}
Result SimDriver::Fill(int, StreamHandle stream, void* to, uint8_t value, uint64_t bytes) {
  return Of(simulator_.Fill(sim::Of(stream), to, value, bytes));
}

Result SimDriver::Launch(int, StreamHandle stream, const KernelLaunch& launch) {
  const auto& kernel = *static_cast<const HostKernelPtr*>(launch.function);
  sim::Kernel work;
  work.name = launch.name;
  work.cost_ns = kernel->cost_ns;
  for (const Buffer& b : launch.buffers) {
    if (b.reads) work.reads.push_back({b.data, b.bytes});
    if (b.writes) work.writes.push_back({b.data, b.bytes});
  }
  std::fenv_t mode;  // of the caller: whoever runs the work computes in it
  (void)std::fegetenv(&mode);
  work.body = [kernel, mode,
               at = std::vector<Buffer>(launch.buffers.begin(), launch.buffers.end())] {
    std::fenv_t own;
    (void)std::fegetenv(&own);
    (void)std::fesetenv(&mode);
    const bool done = kernel->run(at);
    (void)std::fesetenv(&own);
    return done;
  };
  return Of(simulator_.Launch(sim::Of(stream), std::move(work)));
}

Result SimDriver::CaptureBegin(int, StreamHandle origin) {
  return Of(simulator_.CaptureBegin(sim::Of(origin)));
}
Result SimDriver::CaptureEnd(int, StreamHandle origin, GraphHandle* graph) {
  Graph made = Graph::kNone;
  const Code code = simulator_.CaptureEnd(sim::Of(origin), &made);
  const Result result = Of(code);
  if (result.ok()) *graph = static_cast<GraphHandle>(made);
  return result;
}
Result SimDriver::GraphLaunch(int, GraphHandle graph, StreamHandle stream) {
  return Of(simulator_.GraphLaunch(sim::Of(graph), sim::Of(stream)));
}
void SimDriver::GraphDestroy(int, GraphHandle graph) {
  (void)simulator_.GraphDestroy(sim::Of(graph));
}

void SimDriver::Rest(uint64_t ns) { simulator_.HostWork(static_cast<int64_t>(ns)); }

}  // namespace ge_engines::device::sim

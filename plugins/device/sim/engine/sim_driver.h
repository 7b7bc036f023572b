// SimDriver: the driver of simulated devices, for tests of engines. A finding of the simulator
// fails the call that is running, and with it the device, so that no test passes over one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugins/device/driver.h"
#include "plugins/device/sim/simulator.h"

namespace ge_engines::device::sim {

// What KernelLaunch.function points to: a shared pointer, since work may run after its exec is
// gone.
struct HostKernel {
  std::function<bool(std::span<const Buffer> at)> run;  // false: the work fails
  int64_t cost_ns = 0;                                  // on the simulated clock
};
using HostKernelPtr = std::shared_ptr<const HostKernel>;

class SimDriver : public Driver {
 public:
  // With `strict` findings fail calls; without `captures` there are none.
  explicit SimDriver(SimulatorOptions options, bool strict = true, bool captures = true);
  Simulator& simulator() { return simulator_; }
  const SimulatorOptions& options() const { return options_; }

  Result Count(int* devices) override;
  Result Describe(int device, DeviceFacts* facts) override;
  Result Open(int device) override;
  void Close(int device) override;
  Result OpenPeer(int device, int other) override;
  Result Alloc(int device, uint64_t bytes, void** block) override;
  void Free(int device, void* block) override;
  Result PinnedAlloc(int device, uint64_t bytes, void** block) override;
  void PinnedFree(int device, void* block) override;
  Result StreamCreate(int device, StreamHandle* stream) override;
  void StreamDestroy(int device, StreamHandle stream) override;
  Result StreamWait(int device, StreamHandle stream, EventHandle event) override;
  Result EventCreate(int device, bool timed, EventHandle* event) override;
  void EventDestroy(int device, EventHandle event) override;
  Result EventRecord(int device, EventHandle event, StreamHandle stream) override;
  Result EventQuery(int device, EventHandle event) override;
  Result EventElapsed(int device, EventHandle from, EventHandle to, int64_t* ns) override;
  Result Copy(int device, StreamHandle stream, void* to, const void* from, uint64_t bytes) override;
  Result PeerCopy(int device, StreamHandle stream, int to_device, void* to, int from_device,
                  const void* from, uint64_t bytes) override;
  Result Fill(int device, StreamHandle stream, void* to, uint8_t value, uint64_t bytes) override;
  Result Launch(int device, StreamHandle stream, const KernelLaunch& launch) override;
  Result CaptureBegin(int device, StreamHandle origin) override;
  Result CaptureEnd(int device, StreamHandle origin, GraphHandle* graph) override;
  Result GraphLaunch(int device, GraphHandle graph, StreamHandle stream) override;
  void GraphDestroy(int device, GraphHandle graph) override;
  std::string ErrorText(Result result) override;
  void Rest(uint64_t ns) override;  // the simulated clock goes on; nobody sleeps

 private:
  Result Of(Code code) const;
  const SimulatorOptions options_;
  const bool strict_, captures_;
  Simulator simulator_;
};

}  // namespace ge_engines::device::sim

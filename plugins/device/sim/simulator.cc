#include "plugins/device/sim/simulator.h"

#include <iterator>
#include <utility>

#include "plugins/device/sim/state.h"

namespace ge_engines::device::sim {
namespace {

constexpr const char* kCodes[] = {"ok",     "not ready",   "out of memory", "invalid",
                                  "failed", "device lost", "capture"};
constexpr const char* kCalls[] = {"alloc",          "free",          "pinned alloc",
                                  "pinned free",    "memory info",   "stream create",
                                  "stream destroy", "stream query",  "stream synchronize",
                                  "stream wait",    "event create",  "event destroy",
                                  "event record",   "event query",   "event synchronize",
                                  "event time",     "copy",          "fill",
                                  "launch",         "capture begin", "capture end",
                                  "graph launch",   "graph destroy", "reset"};
static_assert(std::size(kCalls) == static_cast<size_t>(Call::kCount));
constexpr const char* kFaults[] = {"race",
                                   "read of bytes that nobody wrote",
                                   "use after free",
                                   "freed in flight",
                                   "out of bounds",
                                   "wrong memory",
                                   "use of what was destroyed",
                                   "destroyed twice",
                                   "destroyed in flight",
                                   "graph in flight",
                                   "capture",
                                   "endless wait",
                                   "leak"};

}  // namespace

const char* CodeName(Code code) { return kCodes[static_cast<int>(code)]; }
const char* CallName(Call call) { return kCalls[static_cast<int>(call)]; }
const char* FaultName(Fault fault) { return kFaults[static_cast<int>(fault)]; }

Simulator::State::State(SimulatorOptions asked)
    : options(std::move(asked)), queues(options.schedule, options.seed) {
  for (const auto& one : options.devices) {
    Device device;
    device.options = one;
    device.label = one.name + " " + std::to_string(devices.size());
    device.timelines.assign(static_cast<size_t>(Engine::kCount), Timeline(1));
    device.timelines[static_cast<size_t>(Engine::kKernels)] = Timeline(one.kernels_at_once);
    devices.push_back(std::move(device));
  }
  OpenJournal();
  queues.before = [this](const Task&) { return BeforeWork(); };
  queues.failed = [this](const Task& task, Code code) { Fail(task.device, code); };
}

bool Simulator::State::HasDevice(int device) const {
  return device >= 0 && static_cast<size_t>(device) < devices.size();
}

Simulator::Simulator(SimulatorOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
Simulator::~Simulator() = default;

int Simulator::device_count() const { return static_cast<int>(state_->devices.size()); }

void Simulator::HostWork(int64_t ns) {
  const std::lock_guard lock(state_->mutex);
  state_->now += ns;
}

int64_t Simulator::now() const {
  const std::lock_guard lock(state_->mutex);
  return state_->now;
}

uint64_t Simulator::calls() const {
  const std::lock_guard lock(state_->mutex);
  return state_->calls;
}

uint64_t Simulator::calls(Call call) const {
  const std::lock_guard lock(state_->mutex);
  return call == Call::kCount ? state_->calls : state_->calls_of[static_cast<size_t>(call)];
}

void Simulator::OnCall(std::function<void(Call, uint64_t)> hook) {
  const std::lock_guard lock(state_->mutex);
  state_->hook = std::move(hook);
}

std::vector<std::string> Simulator::order() const {
  const std::lock_guard lock(state_->mutex);
  const auto& order = state_->queues.order();
  return {order.begin(), order.end()};
}

void Simulator::HostWaits() {
  const std::lock_guard lock(state_->mutex);
  state_->queues.RunAll();
  for (size_t d = 0; d < state_->devices.size(); ++d) state_->EndWork(static_cast<int>(d));
}

void Simulator::SetSchedule(Schedule schedule, uint64_t seed) {
  const std::lock_guard lock(state_->mutex);
  state_->options.schedule = schedule;
  state_->queues.SetSchedule(schedule, seed);
}

std::vector<Report> Simulator::TakeReports() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->reports, {});
}

std::vector<Report> Simulator::reports() const {
  const std::lock_guard lock(state_->mutex);
  return state_->reports;
}

}  // namespace ge_engines::device::sim

#include "plugins/gpu/sim/machine.h"

#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "ge/ge_plugin.hpp"

namespace ge_engines::gpu::sim {
namespace {

using simulated::Code;
using simulated::NumberOf;
namespace gp = ge::plugin;

}  // namespace

Machine& Machine::Get() {
  static Machine machine;
  return machine;
}

Machine::Machine() {
  const char* options = std::getenv("GE_SIM_CUDA");
  try {
    Read(options == nullptr ? "" : options);
  } catch (const std::exception& x) {
    wrong_ = std::string("GE_SIM_CUDA: ") + x.what();
    simulator_ = std::make_unique<simulated::Simulator>(simulated::SimulatorOptions{});
  }
}

void Machine::Read(const std::string& options) {
  simulated::SimulatorOptions o;
  simulated::PlantedFaults faults;
  uint64_t devices = 1;
  std::string_view rest = options;
  for (gp::OptionText t; gp::NextOption(&rest, &t);) {
    if (TakeOption(t.key, t.value, &o, &faults)) continue;
    if (t.key == "devices") {
      devices = NumberOf(t.key, t.value);
    } else if (t.key == "driver") {
      driver_ = static_cast<int>(NumberOf(t.key, t.value));
    } else if (t.key == "bytes") {
      bytes_ = NumberOf(t.key, t.value);
    } else if (t.key == "calls") {
      calls_ = t.value;
    } else if (t.key == "reports") {
      reports_ = t.value;
    } else {
      throw std::invalid_argument("there is no option '" + std::string(t.key) + "'");
    }
  }
  simulated::DeviceOptions device;
  device.name = "gpu";
  device.bytes = bytes_;
  device.launch_ns = 2000;
  device.copy_latency_ns = 6000;
  device.host_bytes_per_ns = 50;
  device.pageable_fraction = 0.2;
  device.peer_bytes_per_ns = 200;
  device.local_bytes_per_ns = 2700;
  o.devices.assign(devices, device);
  retained_.assign(devices, 0);
  simulator_ = std::make_unique<simulated::Simulator>(o);
  Plant(faults, simulator_.get());
}

Machine::~Machine() { Tell(); }

void Machine::Tell() {
  const auto append = [](const std::string& path, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "a");
    if (file == nullptr) return;
    (void)std::fputs(text.c_str(), file);
    (void)std::fclose(file);
  };
  if (!calls_.empty()) {
    std::string text = std::to_string(simulator_->calls()) + "\n";
    for (int k = 0; k < static_cast<int>(simulated::Call::kCount); ++k) {
      const auto call = static_cast<simulated::Call>(k);
      const uint64_t n = simulator_->calls(call);
      if (n > 0)
        text += simulated::Spelt(simulated::CallName(call)) + " " + std::to_string(n) + "\n";
    }
    append(calls_, text);
  }
  if (reports_.empty()) return;
  simulator_->Finish();
  for (const auto& report : simulator_->reports()) append(reports_, report.text() + "\n");
}

std::string Machine::Found() const {
  if (!wrong_.empty()) return wrong_;
  const auto reports = simulator_->reports();
  return reports.empty() ? "" : "the simulator found: " + reports.front().text();
}

cuda::Status Machine::Of(Code code) {
  if (!simulator_->reports().empty()) return cuda::kLaunchFailed;
  switch (code) {
    case Code::kOk:
      return cuda::kSuccess;
    case Code::kNotReady:
      return cuda::kNotReady;
    case Code::kOutOfMemory:
      return cuda::kOutOfMemory;
    case Code::kInvalid:
      return cuda::kInvalidValue;
    case Code::kFailed:
      return cuda::kIllegalAddress;
    case Code::kDeviceLost:
      return cuda::kEccUncorrectable;
    case Code::kCapture:
      return cuda::kCaptureInvalidated;
  }
  return cuda::kUnknown;
}

cuda::Status Machine::Launch(cuda::Stream stream, const char* name,
                             std::vector<simulated::Range> reads,
                             std::vector<simulated::Range> writes, std::function<bool()> body) {
  simulated::Kernel work;
  work.name = name;
  work.reads = std::move(reads);
  work.writes = std::move(writes);
  work.body = [body = std::move(body)] {
    std::fenv_t own;  // a device rounds in its own way, whatever its callers do
    (void)std::fegetenv(&own);
    (void)std::fesetenv(FE_DFL_ENV);
    const bool whole = body();
    (void)std::fesetenv(&own);
    return whole;
  };
  return Of(simulator_->Launch(static_cast<simulated::Stream>(reinterpret_cast<uintptr_t>(stream)),
                               std::move(work)));
}

}  // namespace ge_engines::gpu::sim

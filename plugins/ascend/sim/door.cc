#include "plugins/ascend/sim/door.h"

#include <cfenv>
#include <utility>

#include "plugins/ascend/sim/machine.h"

namespace ge_engines::ascend::sim {

const Chip& ChipOfMachine() { return Machine::Get().chip(); }

acl::Status EnterFunction(const char* function, bool counts) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  return machine.Enter(function, counts);
}

acl::Status NeedContext(const char* function, uint64_t* context) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  return machine.Context(function, context);
}

acl::Status BreakRule(Rule rule, const std::string& what) {
  return Machine::Get().Break(rule, what);
}
bool RuleIsOff(Rule rule) { return Machine::Get().Off(rule); }

Place PlaceOf(const void* address) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  const Tables& tables = machine.tables();
  const auto it = tables.BlockAt(address);
  Place place;
  if (it == tables.blocks.end()) {
    if (machine.simulator().WasFreed(address)) place.kind = Place::Kind::kFreed;
    return place;
  }
  place.kind = it->second.device < 0 ? Place::Kind::kPinned : Place::Kind::kDevice;
  place.device = it->second.device;
  place.left = it->second.end - reinterpret_cast<uintptr_t>(address);
  return place;
}

int DeviceOf(uint64_t context) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  const auto it = machine.tables().contexts.find(context);
  return it == machine.tables().contexts.end() ? 0 : it->second.device;
}

acl::Status LaunchWork(const char* function, uint64_t context, acl::Stream stream, const char* name,
                       std::vector<simulated::Range> reads, std::vector<simulated::Range> writes,
                       std::function<std::string()> body) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  simulated::Stream on = simulated::Stream::kNone;
  const acl::Status s = machine.StreamOf(function, context, stream, &on);
  if (s != acl::kSuccess) return s;
  simulated::Kernel work;
  work.name = name;
  work.reads = std::move(reads);
  work.writes = std::move(writes);
  work.body = [body = std::move(body)] {
    std::fenv_t own;  // a device rounds in its own way, whatever its callers do
    (void)std::fegetenv(&own);
    (void)std::fesetenv(FE_DFL_ENV);
    const std::string why = body();
    (void)std::fesetenv(&own);
    if (!why.empty()) Machine::Get().Late(why);
    return why.empty();
  };
  return machine.Of(machine.simulator().Launch(on, std::move(work)));
}

void CountObject(const char* kind, int by) {
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(machine.mutex());
  machine.tables().objects[kind] += by;
}

void CountFormat(acl::Format format, const char* function) {
  const char* name = format == acl::kNc1hwc0 ? "NC1HWC0:" : "FRACTAL_NZ:";
  Machine::Get().Count(std::string(name) + function, 1);
}

std::optional<float> PlantedPadding() { return Machine::Get().padding(); }
uint64_t PlantedSpill() { return Machine::Get().spill(); }
bool IsLeftOut(std::string_view name) { return name == Machine::Get().without(); }

}  // namespace ge_engines::ascend::sim

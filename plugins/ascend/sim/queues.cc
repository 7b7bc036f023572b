// The simulated libascendcl.so: streams and events.
#include <string>

#include "plugins/ascend/sim/exported.h"

namespace ge_engines::ascend::sim {
namespace {

using acl::Status;

constexpr uint32_t kTimes = 8;  // of the flags of events: they keep times

// How many of `things` are of the device.
template <class Things, class Of>
uint64_t CountOn(const Tables& tables, const Things& things, int device, const Of& of) {
  uint64_t n = 0;
  for (const auto& [number, thing] : things) {
    const auto it = tables.contexts.find(of(thing));
    n += it != tables.contexts.end() && it->second.device == device ? 1 : 0;
  }
  return n;
}

simulated::Event Of(acl::Event event) { return static_cast<simulated::Event>(IdOf(event)); }

// An event that lives, of the context unless `any`. nullptr in `state`: nobody minds that it does
// not.
Status EventIn(Machine& machine, const char* function, uint64_t context, acl::Event event, bool any,
               EventState** state) {
  const auto it = machine.tables().events.find(IdOf(event));
  const std::string text = std::string(function) + ": event " + std::to_string(IdOf(event));
  *state = nullptr;
  if (it == machine.tables().events.end()) {
    return machine.Break(Rule::kDestroyedEvent, text + " is destroyed or was never made");
  }
  *state = &it->second;
  if (any || it->second.context == context) return acl::kSuccess;
  return machine.Break(Rule::kContextOfEvent, text + " is of another context");
}

// Calls use(machine, context, state of the event).
template <class Use>
Status WithEvent(const char* function, bool counts, acl::Event event, const Use& use) {
  return InContext(function, counts, [&](Machine& machine, uint64_t context, int) {
    EventState* state = nullptr;
    const Status s = EventIn(machine, function, context, event, false, &state);
    if (s != acl::kSuccess || state == nullptr) return s;
    return use(machine, context, *state);
  });
}

// `plain`: of those that are limited in number and reset ahead of another record.
Status MakeEvent(const char* function, acl::Event* event, uint32_t flags, bool plain) {
  return InContext(function, true, [&](Machine& machine, uint64_t context, int device) {
    if (event == nullptr) return NoResult(&machine, function);
    Tables& tables = machine.tables();
    const uint64_t most = machine.chip().events;
    const auto of = [](const EventState& one) { return one.plain ? one.context : 0; };
    if (plain && CountOn(tables, tables.events, device, of) >= most) {
      const Status s = machine.Break(
          Rule::kEventsCap, "all " + std::to_string(most) + " events of the device are in use");
      if (s != acl::kSuccess) return s;
    }
    auto made = simulated::Event::kNone;
    const Status s = machine.Of(machine.simulator().EventCreate(device, &made));
    if (s != acl::kSuccess) return s;
    EventState& state = tables.events[static_cast<uint64_t>(made)];
    state.context = context;
    state.timed = (flags & kTimes) != 0;
    state.plain = plain;
    *event = Handle<acl::Event>(made);
    return s;
  });
}

Status Recorded(Machine& machine, const char* function, acl::Event event, const EventState& state,
                Rule rule) {
  if (state.recorded) return acl::kSuccess;
  return machine.Break(rule, std::string(function) + ": event " + std::to_string(IdOf(event)) +
                                 " was never recorded");
}

}  // namespace
}  // namespace ge_engines::ascend::sim

using namespace ge_engines::ascend::sim;  // NOLINT: this file is that interface
using namespace ge_engines::ascend::acl;  // NOLINT

// ---- streams -----------------------------------------------------------------------------------

GE_SIM_EXPORT Status aclrtCreateStream(Stream* stream) {
  return InContext("aclrtCreateStream", true, [&](Machine& machine, uint64_t context, int device) {
    if (stream == nullptr) return NoResult(&machine, "aclrtCreateStream");
    Tables& tables = machine.tables();
    const uint64_t most = machine.chip().streams;
    if (CountOn(tables, tables.streams, device, [](uint64_t of) { return of; }) >= most) {
      const Status s = machine.Break(
          Rule::kStreamsCap, "all " + std::to_string(most) + " streams of the device are in use");
      if (s != kSuccess) return s;
    }
    auto made = simulated::Stream::kNone;
    const Status s = machine.Of(machine.simulator().StreamCreate(device, &made));
    if (s != kSuccess) return s;
    tables.streams[static_cast<uint64_t>(made)] = context;
    *stream = Handle<Stream>(made);
    return kSuccess;
  });
}
GE_SIM_EXPORT Status aclrtDestroyStream(Stream stream) {
  return InContext("aclrtDestroyStream", false, [&](Machine& machine, uint64_t context, int) {
    simulated::Stream found = simulated::Stream::kNone;
    if (stream == nullptr) {
      return machine.Break(Rule::kNullArgument, "aclrtDestroyStream: the default stream stays");
    }
    const Status s = machine.StreamOf("aclrtDestroyStream", context, stream, &found);
    if (s != kSuccess || machine.tables().streams.erase(static_cast<uint64_t>(found)) == 0)
      return s;
    return machine.Of(machine.simulator().StreamDestroy(found));
  });
}
GE_SIM_EXPORT Status aclrtSynchronizeStream(Stream stream) {
  return InContext("aclrtSynchronizeStream", true, [&](Machine& machine, uint64_t context, int) {
    simulated::Stream found = simulated::Stream::kNone;
    const Status s = machine.StreamOf("aclrtSynchronizeStream", context, stream, &found);
    if (s != kSuccess) return s;
    return machine.Of(machine.simulator().StreamSynchronize(found));
  });
}
GE_SIM_EXPORT Status aclrtStreamWaitEvent(Stream stream, Event event) {
  constexpr char kName[] = "aclrtStreamWaitEvent";
  return InContext(kName, true, [&](Machine& machine, uint64_t context, int) {
    simulated::Stream found = simulated::Stream::kNone;
    EventState* state = nullptr;
    Status s = machine.StreamOf(kName, context, stream, &found);
    if (s == kSuccess) s = EventIn(machine, kName, context, event, true, &state);
    if (s != kSuccess || state == nullptr) return s;
    return machine.Of(machine.simulator().StreamWait(found, Of(event)));
  });
}

// ---- events ------------------------------------------------------------------------------------

GE_SIM_EXPORT Status aclrtCreateEventExWithFlag(Event* event, uint32_t flags) {
  return MakeEvent("aclrtCreateEventExWithFlag", event, flags, false);
}
GE_SIM_EXPORT Status aclrtCreateEventWithFlag(Event* event, uint32_t flags) {
  return MakeEvent("aclrtCreateEventWithFlag", event, flags, true);
}
GE_SIM_EXPORT Status aclrtResetEvent(Event event, Stream stream) {
  constexpr char kName[] = "aclrtResetEvent";
  return WithEvent(kName, true, event, [&](Machine& machine, uint64_t context, EventState& state) {
    simulated::Stream found = simulated::Stream::kNone;
    Status s = machine.StreamOf(kName, context, stream, &found);
    if (s == kSuccess && !state.plain) {
      s = machine.Break(Rule::kEventReset, std::string(kName) + ": event " +
                                               std::to_string(IdOf(event)) +
                                               " is one that is recorded again without it");
    }
    if (s == kSuccess) state.reset = true;
    return s;
  });
}
GE_SIM_EXPORT Status aclrtDestroyEvent(Event event) {
  return WithEvent("aclrtDestroyEvent", false, event, [&](Machine& machine, uint64_t, EventState&) {
    machine.tables().events.erase(IdOf(event));
    return machine.Of(machine.simulator().EventDestroy(Of(event)));
  });
}
GE_SIM_EXPORT Status aclrtRecordEvent(Event event, Stream stream) {
  constexpr char kName[] = "aclrtRecordEvent";
  return WithEvent(kName, true, event, [&](Machine& machine, uint64_t context, EventState& state) {
    simulated::Stream found = simulated::Stream::kNone;
    Status s = machine.StreamOf(kName, context, stream, &found);
    if (s == kSuccess && state.plain && state.recorded && !state.reset) {
      s = machine.Break(Rule::kEventReset, std::string(kName) + ": event " +
                                               std::to_string(IdOf(event)) +
                                               " was recorded before, and not reset");
    }
    if (s == kSuccess) s = machine.Of(machine.simulator().EventRecord(Of(event), found));
    if (s != kSuccess) return s;
    state.recorded = true;
    state.reset = false;
    return s;
  });
}
GE_SIM_EXPORT Status aclrtSynchronizeEvent(Event event) {
  constexpr char kName[] = "aclrtSynchronizeEvent";
  return WithEvent(kName, true, event, [&](Machine& machine, uint64_t, EventState& state) {
    const Status s = Recorded(machine, kName, event, state, Rule::kEventUnrecorded);
    if (s != kSuccess) return s;
    return machine.Of(machine.simulator().EventSynchronize(Of(event)));
  });
}
GE_SIM_EXPORT Status aclrtQueryEventStatus(Event event, EventStatus* status) {
  constexpr char kName[] = "aclrtQueryEventStatus";
  return WithEvent(kName, true, event, [&](Machine& machine, uint64_t, EventState& state) {
    if (status == nullptr) return NoResult(&machine, kName);
    const Status s = Recorded(machine, kName, event, state, Rule::kEventUnrecorded);
    if (s != kSuccess) return s;
    auto code = machine.simulator().EventQuery(Of(event));
    *status = code == simulated::Code::kOk ? kEventComplete : kEventNotReady;
    if (code == simulated::Code::kNotReady) code = simulated::Code::kOk;
    return machine.Of(code);
  });
}
GE_SIM_EXPORT Status aclrtEventElapsedTime(float* ms, Event from, Event to) {
  constexpr char kName[] = "aclrtEventElapsedTime";
  return InContext(kName, true, [&](Machine& machine, uint64_t context, int) {
    if (ms == nullptr) return NoResult(&machine, kName);
    int64_t ns[2] = {};
    for (const Event event : {from, to}) {
      EventState* state = nullptr;
      Status s = EventIn(machine, kName, context, event, false, &state);
      if (s != kSuccess || state == nullptr) return s;
      if (!state->timed) {
        s = machine.Break(Rule::kElapsedUntimed, std::string(kName) + ": event " +
                                                     std::to_string(IdOf(event)) +
                                                     " was not made for timing");
      }
      if (s == kSuccess) s = Recorded(machine, kName, event, *state, Rule::kElapsedUnrecorded);
      if (s != kSuccess) return s;
      auto code = machine.simulator().EventQuery(Of(event));
      if (code == simulated::Code::kNotReady) {
        s = machine.Break(
            Rule::kElapsedUnfinished,
            std::string(kName) + ": event " + std::to_string(IdOf(event)) + " is not complete");
        return s == kSuccess ? (*ms = 0, s) : s;
      }
      if (code == simulated::Code::kOk) {
        code = machine.simulator().EventTime(Of(event), &ns[event == from ? 0 : 1]);
      }
      s = machine.Of(code);
      if (s != kSuccess) return s;
    }
    if (from == to) ns[1] = ns[0];
    *ms = static_cast<float>(static_cast<double>(ns[1] - ns[0]) / 1e6);
    return kSuccess;
  });
}

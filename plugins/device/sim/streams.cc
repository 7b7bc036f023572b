// Driver calls on streams and events.
#include <utility>

#include "plugins/device/sim/state.h"

namespace ge_engines::device::sim {

Code Simulator::StreamCreate(int device, Stream* stream) {
  const std::lock_guard lock(state_->mutex);
  const Code code = state_->Enter(Call::kStreamCreate, device);
  if (code != Code::kOk) return code;
  if (!state_->HasDevice(device)) return state_->Leave(state_->Unknown("device", device, false));
  auto made = std::make_shared<StreamState>();
  made->id = state_->next_id++;
  made->device = device;
  made->lane = state_->queues.AddLane(device);
  *stream = static_cast<Stream>(made->id);
  state_->streams[made->id] = std::move(made);
  return state_->Leave(Code::kOk);
}

Code Simulator::StreamDestroy(Stream stream) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.Destroy(Call::kStreamDestroy, "stream", &state.streams,
                       static_cast<uint64_t>(stream), [&](StreamState& one) {
                         if (one.capture) state.Refuse(one.capture.get(), "a stream was destroyed");
                       });
}

Code Simulator::StreamQuery(Stream stream) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kStreamQuery, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    if (one.capture) return state.Refuse(one.capture.get(), "a stream was queried");
                    return state.QueryStream(one);
                  });
}

Code Simulator::StreamSynchronize(Stream stream, int64_t limit_ns) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kStreamSynchronize, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    if (one.capture)
                      return state.Refuse(one.capture.get(), "the host waited for a stream");
                    return one.lane->tasks.empty()
                               ? state.devices[one.device].error
                               : state.HostWait(one.lane->tasks.back(), limit_ns);
                  });
}

Code Simulator::StreamWait(Stream stream, Event event) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  const auto awaited = state.events.find(static_cast<uint64_t>(event));
  return state.On(Call::kStreamWait, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    if (awaited == state.events.end())
                      return state.Unknown("event", static_cast<uint64_t>(event), false);
                    EventState& other = *awaited->second;
                    if (one.capture || other.capture) return state.JoinCapture(&one, &other);
                    if (!other.record) return Code::kOk;  // never recorded: done at once
                    const TaskPtr wait = state.Mark(one.lane.get());
                    wait->after.push_back(other.record);
                    return Code::kOk;
                  });
}

Code Simulator::EventCreate(int device, Event* event) {
  const std::lock_guard lock(state_->mutex);
  const Code code = state_->Enter(Call::kEventCreate, device);
  if (code != Code::kOk) return code;
  if (!state_->HasDevice(device)) return state_->Leave(state_->Unknown("device", device, false));
  auto made = std::make_shared<EventState>();
  made->id = state_->next_id++;
  made->device = device;
  *event = static_cast<Event>(made->id);
  state_->events[made->id] = std::move(made);
  return state_->Leave(Code::kOk);
}

Code Simulator::EventDestroy(Event event) {
  const std::lock_guard lock(state_->mutex);
  return state_->Destroy(Call::kEventDestroy, "event", &state_->events,
                         static_cast<uint64_t>(event), [](EventState&) {});
}

Code Simulator::EventRecord(Event event, Stream stream) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  const auto recorded = state.streams.find(static_cast<uint64_t>(stream));
  return state.On(Call::kEventRecord, "event", state.events, static_cast<uint64_t>(event),
                  [&](EventState& one) {
                    if (recorded == state.streams.end())
                      return state.Unknown("stream", static_cast<uint64_t>(stream), false);
                    StreamState& other = *recorded->second;
                    if (other.device != one.device) return Code::kInvalid;
                    one.capture = other.capture;
                    one.tail = other.tail;
                    one.record = one.capture ? nullptr : state.Mark(other.lane.get());
                    return Code::kOk;
                  });
}

Code Simulator::EventQuery(Event event) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kEventQuery, "event", state.events, static_cast<uint64_t>(event),
                  [&](EventState& one) {
                    if (one.capture) return state.Refuse(one.capture.get(), "an event was queried");
                    return one.record ? state.Query(one.record) : Code::kOk;
                  });
}

Code Simulator::EventSynchronize(Event event, int64_t limit_ns) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kEventSynchronize, "event", state.events, static_cast<uint64_t>(event),
                  [&](EventState& one) {
                    if (one.capture)
                      return state.Refuse(one.capture.get(), "the host waited for an event");
                    return one.record ? state.HostWait(one.record, limit_ns) : Code::kOk;
                  });
}

Code Simulator::EventTime(Event event, int64_t* ns) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kEventTime, "event", state.events, static_cast<uint64_t>(event),
                  [&](EventState& one) {
                    if (one.capture) return Code::kCapture;
                    if (!one.record) return Code::kInvalid;
                    if (!one.record->done) return Code::kNotReady;
                    *ns = one.record->end_ns;
                    return Code::kOk;
                  });
}

TaskPtr Simulator::State::Mark(Lane* lane) {
  auto task = std::make_shared<Task>();
  queues.Add(lane, task);
  return task;
}

Code Simulator::State::QueryStream(const StreamState& stream) {
  return stream.lane->tasks.empty() ? devices[stream.device].error
                                    : Query(stream.lane->tasks.back());
}

Code Simulator::State::Query(const TaskPtr& task) {
  queues.Step(task);
  if (!task->done) return Code::kNotReady;
  return devices[task->device].error;
}

Code Simulator::State::HostWait(const TaskPtr& task, int64_t limit_ns) {
  if (queues.RunUntil(task)) return devices[task->device].error;
  if (limit_ns >= 0) {
    now += limit_ns;
    return Code::kNotReady;
  }
  Reject(Fault::kEndlessWait, "host wait (call " + std::to_string(calls) + ")",
         "give it a limit: this stream never answers");
  return Code::kNotReady;
}

}  // namespace ge_engines::device::sim

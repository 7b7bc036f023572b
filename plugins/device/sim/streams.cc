// Driver calls on streams and events.
#include <algorithm>
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
  made->clock_lane = state_->clocks.Take();
  *stream = static_cast<Stream>(made->id);
  state_->Note("stream " + std::to_string(made->id) + " " + std::to_string(device));
  state_->streams[made->id] = std::move(made);
  return state_->Leave(Code::kOk);
}

Code Simulator::StreamDestroy(Stream stream) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.Destroy(Call::kStreamDestroy, "stream", &state.streams,
                       static_cast<uint64_t>(stream), [&](StreamState& one) {
                         if (one.capture) {
                           state.Refuse(one.capture.get(), "a stream was destroyed");
                           if (one.capture->origin == one.id) state.DropCapture(one.capture);
                         }
                         state.EndStream(one);
                       });
}

Code Simulator::StreamQuery(Stream stream) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kStreamQuery, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    if (one.capture) return state.Refuse(one.capture.get(), "a stream was queried");
                    return state.Told("stream", one.id,
                                      [&] { return state.Query(state.Newest(one), one.clock); });
                  });
}

Code Simulator::StreamSynchronize(Stream stream, int64_t limit_ns) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kStreamSynchronize, "stream", state.streams, static_cast<uint64_t>(stream),
                  [&](StreamState& one) {
                    if (one.capture)
                      return state.Refuse(one.capture.get(), "the host waited for a stream");
                    return state.Told("stream", one.id, [&] {
                      return state.HostWait(state.Newest(one), one.clock, limit_ns);
                    });
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
                    if (state.waits_left > 0 && --state.waits_left == 0) {
                      state.Note("drop " + std::to_string(one.id) + " " + std::to_string(other.id));
                      return Code::kOk;
                    }
                    if (one.capture || other.capture) return state.JoinCapture(&one, &other);
                    return state.WaitFor(&one, &other);
                  });
}

Code Simulator::State::WaitFor(StreamState* stream, EventState* event) {
  if (!event->record) {  // done at once, as all devices have it
    stream->void_wait = "its wait for event " + std::to_string(event->id) + " " + Here() +
                        " came before the event's first record and waited for nothing";
    return Code::kOk;
  }
  Note("wait " + std::to_string(stream->id) + " " + std::to_string(event->id));
  const TaskPtr wait = Mark(stream);
  wait->after.push_back(event->record);
  stream->end_ns = std::max(stream->end_ns, event->record->end_ns);
  wait->end_ns = stream->end_ns;
  stream->clock.Merge(event->clock);
  return Code::kOk;
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
  return state.On(
      Call::kEventRecord, "event", state.events, static_cast<uint64_t>(event),
      [&](EventState& one) {
        if (recorded == state.streams.end())
          return state.Unknown("stream", static_cast<uint64_t>(stream), false);
        StreamState& other = *recorded->second;
        if (other.device != one.device) return Code::kInvalid;
        one.capture = other.capture;
        one.tail = other.tail;
        one.record = one.capture ? nullptr : state.Mark(&other);
        one.clock = other.clock;
        if (one.record)
          state.Note("record " + std::to_string(one.id) + " " + std::to_string(other.id));
        return Code::kOk;
      });
}

Code Simulator::EventQuery(Event event) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(
      Call::kEventQuery, "event", state.events, static_cast<uint64_t>(event), [&](EventState& one) {
        if (one.capture) return state.Refuse(one.capture.get(), "an event was queried");
        if (!one.record) return Code::kOk;
        return state.Told("event", one.id, [&] { return state.Query(one.record, one.clock); });
      });
}

Code Simulator::EventSynchronize(Event event, int64_t limit_ns) {
  const std::lock_guard lock(state_->mutex);
  auto& state = *state_;
  return state.On(Call::kEventSynchronize, "event", state.events, static_cast<uint64_t>(event),
                  [&](EventState& one) {
                    if (one.capture)
                      return state.Refuse(one.capture.get(), "the host waited for an event");
                    if (!one.record) return Code::kOk;
                    return state.Told("event", one.id, [&] {
                      return state.HostWait(one.record, one.clock, limit_ns);
                    });
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

TaskPtr Simulator::State::Mark(StreamState* stream) {
  auto task = std::make_shared<Task>();
  stream->end_ns = std::max(stream->end_ns, now);
  task->end_ns = stream->end_ns;
  queues.Add(stream->lane.get(), task);
  return task;
}

// The last of its queue; of an empty one a task that is done.
TaskPtr Simulator::State::Newest(const StreamState& stream) {
  if (!stream.lane->tasks.empty()) return stream.lane->tasks.back();
  auto task = std::make_shared<Task>();
  task->device = stream.device;
  task->done = true;
  task->end_ns = stream.end_ns;
  return task;
}

Code Simulator::State::Query(const TaskPtr& task, const VectorClock& clock) {
  const bool timed = options.schedule == Schedule::kTimed;
  queues.Step(task, now);
  const Code code = Answer(task->device);
  if (code != Code::kOk) return code;
  if (!task->done || (timed && task->end_ns > now)) return Code::kNotReady;
  now = std::max(now, task->end_ns);
  clocks.host.Merge(clock);
  return Code::kOk;
}

Code Simulator::State::HostWait(const TaskPtr& task, const VectorClock& clock, int64_t limit_ns) {
  const bool limited = limit_ns >= 0;
  // `now` may be large, and so may the limit.
  if (limited && task->end_ns - now > limit_ns) {
    now += limit_ns;
    return Code::kNotReady;
  }
  const bool done = queues.RunUntil(task);
  const Code code = Answer(task->device);
  if (code != Code::kOk) return code;
  if (done) {
    now = std::max(now, task->end_ns);
    clocks.host.Merge(clock);
    return Code::kOk;
  }
  if (limited)
    now += limit_ns;
  else
    Reject(Fault::kEndlessWait, "host wait " + Here(),
           "give it a limit: a stream before it never goes on");
  return Code::kNotReady;
}

void Simulator::State::EndStream(const StreamState& stream) {
  // Nobody can wait for what never ends.
  if (!clocks.host.Knows(stream.last) && !queues.stalled() &&
      devices[stream.device].error == Code::kOk) {
    Reject(Fault::kDestroyInFlight, "stream " + std::to_string(stream.id) + " " + Here(),
           "the host must wait for its work first");
  }
  Note("end " + std::to_string(stream.id));
  devices[stream.device].ended.Merge(stream.clock);
  clocks.Give(stream.clock_lane, stream.clock);
}

}  // namespace ge_engines::device::sim

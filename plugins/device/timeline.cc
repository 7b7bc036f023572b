#include "plugins/device/timeline.h"

#include <algorithm>

#include "ge/ge_plugin.hpp"

using ge::plugin::Fail;
using namespace ge_engines::device;

ge_event::~ge_event() {
  for (const Signalled& s : signals_) device_.driver().EventDestroy(device_.number(), s.event);
  for (const EventHandle e : spare_) device_.driver().EventDestroy(device_.number(), e);
}

ge_event::Signalled* ge_event::Find(uint64_t value) {
  const auto it = std::lower_bound(signals_.begin(), signals_.end(), value,
                                   [](const Signalled& s, uint64_t v) { return s.value < v; });
  return it == signals_.end() ? nullptr : &*it;
}

void ge_event::Pass(Signalled* signal) {
  reached_ = std::max(reached_, signal->value);
  for (Signalled& s : signals_) {
    s.passed = s.passed || s.stream == signal->stream;
    if (&s == signal) break;
  }
  // Few are in flight.
  size_t gone = 0;
  for (; gone < signals_.size() && signals_[gone].passed; ++gone) {
    spare_.push_back(signals_[gone].event);
  }
  signals_.erase(signals_.begin(), signals_.begin() + static_cast<ptrdiff_t>(gone));
}

Result ge_event::TakeEvent(EventHandle* event) {
  Driver& driver = device_.driver();
  if (spare_.empty() && !signals_.empty()) {
    // Nobody may have waited for it on the host: its stream has gone on all the same.
    const Result result = driver.EventQuery(device_.number(), signals_.front().event);
    if (result.ok()) Pass(&signals_.front());
    if (!result.ok() && result.outcome != Outcome::kNotReady) return result;
  }
  if (spare_.empty()) return driver.EventCreate(device_.number(), false, event);
  *event = spare_.back();
  spare_.pop_back();
  return Result();
}

ge_rc ge_event::Signal(ge_stream* stream, uint64_t value, ge_err* err) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (value <= last_) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "%.40s: stream_signal of %llu behind %llu: an event counts up",
                device_.engine().c_str(), static_cast<unsigned long long>(value),
                static_cast<unsigned long long>(last_));
  }
  EventHandle event = EventHandle::kNone;
  Result result = TakeEvent(&event);
  if (!result.ok()) return device_.Answer(result, "stream_signal", UINT32_MAX, err);
  spare_.push_back(event);  // until it is recorded
  result = device_.driver().EventRecord(device_.number(), event, stream->handle);
  if (!result.ok()) return device_.Answer(result, "stream_signal", UINT32_MAX, err);
  signals_.push_back({value, event, stream, false});
  spare_.pop_back();
  last_ = value;
  return GE_OK;
}

ge_rc ge_event::StreamWait(ge_stream* stream, uint64_t value, ge_err* err) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (value <= reached_) return GE_OK;
  const Signalled* signal = Find(value);
  if (signal == nullptr) {
    return Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                "%.40s: stream_wait for %llu of an event that was signalled up to %llu: call the "
                "signal first",
                device_.engine().c_str(), static_cast<unsigned long long>(value),
                static_cast<unsigned long long>(last_));
  }
  if (signal->stream == stream) return GE_OK;  // it is behind it anyhow
  Device& waits = stream->device;
  const Result result = waits.driver().StreamWait(waits.number(), stream->handle, signal->event);
  return waits.Answer(result, "stream_wait", UINT32_MAX, err);
}

bool ge_event::Reached(uint64_t value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return value <= reached_;
}

// Under the lock: an event is not recorded anew while it is asked about.
Result ge_event::Ask(uint64_t value) {
  if (device_.faulty()) return {Outcome::kFailed, 0};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (value <= reached_) return Result();
  Signalled* signal = Find(value);
  if (signal == nullptr) return {Outcome::kNotReady, 0};
  const Result result = device_.driver().EventQuery(device_.number(), signal->event);
  if (result.ok()) Pass(signal);
  return result;
}

ge_rc ge_event::Wait(uint64_t value, uint64_t timeout_ns, ge_err* err) {
  const Result result = device_.Poll(timeout_ns, [this, value] { return Ask(value); });
  // Not reached yet is an answer and no failure.
  return result.outcome == Outcome::kNotReady
             ? static_cast<ge_rc>(GE_PENDING)
             : device_.Answer(result, "event_wait", UINT32_MAX, err);
}

#include "plugins/device/capture.h"

#include <algorithm>

#include "ge/ge_plugin.hpp"

using ge::plugin::Fail;
using namespace ge_engines::device;

ge_capture::~ge_capture() {
  Driver& driver = device_.driver();
  if (graph_ != GraphHandle::kNone) driver.GraphDestroy(device_.number(), graph_);
  for (const Signalled& s : signals_) driver.EventDestroy(device_.number(), s.binary);
}

ge_rc ge_capture::Spoil(ge_rc rc, ge_err* err) {
  if (rc == GE_OK || error_.code != GE_OK) return rc;
  if (err != nullptr) error_ = *err;
  error_.code = rc;
  return rc;
}

ge_rc ge_capture::Begin(ge_stream* const* stream, uint32_t n, ge_err* err) {
  const char* engine = device_.engine().c_str();
  if (!device_.facts().captures) {
    return Fail(err, GE_UNIMPLEMENTED, UINT32_MAX, "%.40s: device '%.40s' captures nothing", engine,
                device_.facts().name.c_str());
  }
  for (uint32_t i = 0; i < n; ++i) {
    const bool twice = std::find(stream, stream + i, stream[i]) != stream + i;
    if (stream[i]->capture == nullptr && &stream[i]->device == &device_ && !twice) continue;
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "%.40s: capture_begin: stream %u is captured already, of another device, or named "
                "twice",
                engine, i);
  }
  streams_.assign(stream, stream + n);
  const Result result = device_.driver().CaptureBegin(device_.number(), streams_[0]->handle);
  if (!result.ok()) return device_.Answer(result, "capture_begin", UINT32_MAX, err);
  for (ge_stream* s : streams_) {
    s->capture = this;
    s->joined = s == streams_[0];
  }
  return GE_OK;
}

ge_rc ge_capture::End(ge_err* err) {
  for (ge_stream* s : streams_) {
    s->capture = nullptr;
    s->joined = false;
  }
  GraphHandle graph = GraphHandle::kNone;
  const Result result = device_.driver().CaptureEnd(device_.number(), streams_[0]->handle, &graph);
  if (result.ok()) graph_ = graph;
  if (error_.code == GE_OK) return device_.Answer(result, "capture_end", UINT32_MAX, err);
  if (err == nullptr) return error_.code;
  const ge_hdr h = err->h;
  *err = error_;
  err->h = h;
  return error_.code;
}

ge_rc ge_capture::Joined(const ge_stream* stream, ge_err* err) {
  if (stream->joined) return GE_OK;
  return Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
              "%.40s: a stream of a capture works before it waits for a signal of the origin; its "
              "work would not be recorded",
              device_.engine().c_str());
}

ge_rc ge_capture::Signal(ge_stream* stream, const ge_event* event, uint64_t value, ge_err* err) {
  if (const ge_rc rc = Joined(stream, err)) return rc;
  Driver& driver = device_.driver();
  EventHandle binary = EventHandle::kNone;
  Result result = driver.EventCreate(device_.number(), false, &binary);
  if (result.ok()) {
    signals_.push_back({event, value, binary, stream});
    result = driver.EventRecord(device_.number(), binary, stream->handle);
  }
  return device_.Answer(result, "stream_signal in a capture", UINT32_MAX, err);
}

ge_rc ge_capture::Wait(ge_stream* stream, const ge_event* event, uint64_t value, ge_err* err) {
  if (value == 0) return GE_OK;
  for (const Signalled& s : signals_) {
    if (s.event != event || s.value < value) continue;
    if (s.stream == stream) return GE_OK;
    const Result result = device_.driver().StreamWait(device_.number(), stream->handle, s.binary);
    if (result.ok()) stream->joined = true;
    return device_.Answer(result, "stream_wait in a capture", UINT32_MAX, err);
  }
  return Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
              "%.40s: stream_wait in a capture for %llu of an event that nothing in it signals "
              "before",
              device_.engine().c_str(), static_cast<unsigned long long>(value));
}

ge_rc ge_capture::Launch(ge_stream* stream, ge_err* err) {
  if (stream->capture != nullptr || &stream->device != &device_) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "%.40s: capture_launch on a stream of another device, or inside a capture",
                device_.engine().c_str());
  }
  const Result result = device_.driver().GraphLaunch(device_.number(), graph_, stream->handle);
  return device_.Answer(result, "capture_launch", UINT32_MAX, err);
}

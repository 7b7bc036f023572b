#include "capture.h"

#include <cfenv>
#include <utility>

#include "engine.h"
#include "ge/ge_plugin.hpp"

namespace devsim {

using ge::plugin::Fail;
using ge::plugin::Guard;

// What the calling thread records: begin and end of a capture are called by one thread.
static thread_local std::unique_ptr<ge_capture> t_recording;

static void Release(ge_capture* capture) {
  for (ge_stream* s : capture->streams) s->set_capture(nullptr);
  capture->streams.clear();
}

ge_rc CaptureBegin(ge_engine* e, ge_stream* const* stream, uint32_t n, ge_err* err) {
  return Guard(err, "devsim: capture_begin", [&]() -> ge_rc {
    if (t_recording != nullptr) {
      return Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                  "devsim: capture_begin inside of a capture; end it first");
    }
    auto capture = std::make_unique<ge_capture>();
    for (uint32_t i = 0; i < n; ++i) {
      if (stream[i]->engine() != e || stream[i]->capture() != nullptr) {
        Release(capture.get());
        return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                    "devsim: stream %u of a capture is another engine's, or given twice", i);
      }
      stream[i]->set_capture(capture.get());
      capture->streams.push_back(stream[i]);
    }
    t_recording = std::move(capture);
    return GE_OK;
  });
}

ge_rc CaptureEnd(ge_engine* e, ge_capture** out, ge_err* err) {
  *out = nullptr;
  if (t_recording == nullptr) {
    return Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                "devsim: capture_end without a capture_begin in this thread");
  }
  Release(t_recording.get());
  std::unique_ptr<ge_capture> capture = std::move(t_recording);
  if (e->options.capture == 2) {
    return Fail(err, GE_UNAVAILABLE, UINT32_MAX,
                "devsim: option capture=2 lets no capture come to an end");
  }
  *out = capture.release();
  return GE_OK;
}

ge_rc CaptureLaunch(ge_capture* capture, ge_stream* stream, ge_err* err) {
  return Guard(err, "devsim: capture_launch", [&]() -> ge_rc {
    if (const ge_rc rc = stream->engine()->faults.OnDevice(stream->device(), err)) return rc;
    Task* task = stream->Take();
    (void)std::fegetenv(&task->float_mode);
    task->kind = Task::Kind::kCapture;
    task->capture = capture;
    task->queued_ns = stream->engine()->clock.HostNs();
    stream->Queue(task);
    return GE_OK;
  });
}

void CaptureDestroy(ge_capture* capture) { delete capture; }

}  // namespace devsim

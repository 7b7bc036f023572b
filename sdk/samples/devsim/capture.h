// A capture: tasks that were recorded in place of being queued. Launched, they are one task of a
// stream, done in the order of their calls, which fulfils all waits among them.
#ifndef GE_SAMPLES_DEVSIM_CAPTURE_H_
#define GE_SAMPLES_DEVSIM_CAPTURE_H_

#include <memory>
#include <vector>

#include "ge/ge_plugin.h"
#include "stream.h"

struct ge_capture {
  std::vector<std::unique_ptr<devsim::Task>> tasks;
  std::vector<ge_stream*> streams;  // while it records
};

namespace devsim {
// The four slots of ge_engine_api.
ge_rc CaptureBegin(ge_engine* e, ge_stream* const* stream, uint32_t n, ge_err* err);
ge_rc CaptureEnd(ge_engine* e, ge_capture** out, ge_err* err);
ge_rc CaptureLaunch(ge_capture* capture, ge_stream* stream, ge_err* err);
void CaptureDestroy(ge_capture* capture);
}  // namespace devsim
#endif  // GE_SAMPLES_DEVSIM_CAPTURE_H_

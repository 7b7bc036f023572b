// CallEngine: calls ge.h without the GIL, if the call may take long; Ctrl-C ends it. With the GIL
// held before and after.
#pragma once

#include <nanobind/nanobind.h>

#include "ge/ge.h"
#include "raise.h"
#include "without_gil.h"

namespace graphengine {

// While it lives, Ctrl-C ends the work in `session`, like ge_session_cancel, before Python hears of
// it. It does nothing outside the process's main thread, since that one gets KeyboardInterrupt, or
// if the program has its own handler for SIGINT: that handler runs after the call.
class EndedByCtrlC {
 public:
  // With the GIL held. One at a time.
  explicit EndedByCtrlC(ge_session* session);
  EndedByCtrlC(const EndedByCtrlC&) = delete;
  EndedByCtrlC& operator=(const EndedByCtrlC&) = delete;
  ~EndedByCtrlC();

 private:
  const bool watching_;
};

// Throws KeyboardInterrupt, or another exception of a signal handler.
inline void CheckSignals() {
  if (PyErr_CheckSignals() != 0) nanobind::raise_python_error();
}

// `call` fills in an error and returns a status; CallEngine throws that error.
template <typename F>
void CallEngine(ge_session* session, F&& call) {
  ge_error error = NoError();
  ge_status status;
  {
    const EndedByCtrlC watch(session);
    const WithoutGil release;
    status = call(&error);
  }
  if (status == GE_STATUS_CANCELLED) CheckSignals();
  Check(status, error);
}

}  // namespace graphengine

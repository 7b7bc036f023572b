// How a call of ge.h that may take long is made: without the GIL, and ended by Ctrl-C. With the GIL
// held before and after.
#pragma once

#include <nanobind/nanobind.h>

#include "ge/ge.h"
#include "raise.h"
#include "without_gil.h"

namespace graphengine {

// While it lives, Ctrl-C ends what goes on in `session`, as ge_session_cancel, before Python hears
// of it. Nothing happens in another thread than the process's main one, whose KeyboardInterrupt it
// is, nor where the program has a handler of its own for SIGINT: that one runs after the call.
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

// Leaves with KeyboardInterrupt, or what else a handler of signals raises.
inline void CheckSignals() {
  if (PyErr_CheckSignals() != 0) nanobind::raise_python_error();
}

// `call` gets an error to fill in and answers a status; leaves with that error.
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

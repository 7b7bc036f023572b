// WithGil: holds the GIL while it lives, in any thread, one that Python has never seen included.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace graphengine {

class WithGil {
 public:
  WithGil() {
    try {
      state_ = PyGILState_Ensure();
    } catch (...) {  // pthread_exit of a thread that asks at the interpreter's end: see WithoutGil
      for (;;) pause();
    }
  }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  ~WithGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace graphengine

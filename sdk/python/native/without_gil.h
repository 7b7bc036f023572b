// Gives the GIL up while it lives. Unlike nanobind's own it outlives the interpreter's end: there
// Python up to 3.13 ends a daemon thread that asks for the GIL by pthread_exit, whose unwinding
// meets a destructor and with that std::terminate; here such a thread sleeps until the process is
// gone, as Python 3.14 has it.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace graphengine {

class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(thread_);
    } catch (...) {  // nothing but pthread_exit leaves it so
      for (;;) pause();
    }
  }

 private:
  PyThreadState* thread_;
};

}  // namespace graphengine

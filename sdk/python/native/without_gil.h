// WithoutGil: releases the GIL while it lives. Unlike nanobind's own it is safe after the
// interpreter's end. There Python up to 3.13 ends a daemon thread that asks for the GIL by
// pthread_exit; its unwinding meets a destructor and with that std::terminate. Here such a thread
// sleeps until the process is gone, as in Python 3.14.
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

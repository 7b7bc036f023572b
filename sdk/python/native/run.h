// Run: a Python object for an asynchronous run. Any thread may use it, with the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "call.h"
#include "ge/ge.h"

namespace graphengine {

// Arguments stay unchanged and alive until the run is done; ~Run waits for a run that nobody
// keeps.
class Run {
 public:
  // Starts the run; throws graphengine.Error.
  explicit Run(std::unique_ptr<Call> call);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  bool Done();
  // Waits at most `seconds`, or without end for none; returns whether the run is done. Ctrl-C ends
  // the waiting and the run.
  bool Wait(std::optional<double> seconds);
  // Waits for the run if needed and returns its outputs by name, or throws its error.
  nanobind::object Result(std::optional<double> seconds);
  void Cancel();

 private:
  static void OnDone(void* self, ge_status status);

  std::unique_ptr<Call> call_;
  ge_run* run_ = nullptr;
  std::mutex result_mutex_;
  nanobind::object outputs_;  // after the first Result
  std::mutex mutex_;          // of what follows
  std::condition_variable changed_;
  bool done_ = false;
};

}  // namespace graphengine

// An asynchronous run, as Python holds it. Any thread may use it, with the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "call.h"
#include "ge/ge.h"

namespace graphengine {

// Arguments stay as they are, and alive, until the run is done; one that nobody keeps is waited
// for.
class Run {
 public:
  // Starts it; leaves with graphengine.Error.
  explicit Run(std::unique_ptr<Call> call);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  bool Done();
  // Waits at most `seconds`, without end for none; whether the run is done. Ctrl-C ends the waiting
  // and the run.
  bool Wait(std::optional<double> seconds);
  // The outputs by name, of a run that may have to be waited for; leaves with its error.
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

#include "run.h"

#include <algorithm>
#include <chrono>

#include "raise.h"
#include "without_gil.h"

namespace nb = nanobind;

namespace graphengine {

Run::Run(std::unique_ptr<Call> call) : call_(std::move(call)) {
  ge_error error = NoError();
  const ge_status status =
      ge_session_run_async(call_->session(), call_->entry(), call_->inputs(), call_->n_inputs(),
                           call_->outputs(), call_->n_outputs(), OnDone, this, &run_, &error);
  Check(status, error);
}

Run::~Run() {
  WithoutGil release;
  ge_run_destroy(run_);
}

void Run::OnDone(void* self, ge_status) {
  auto* run = static_cast<Run*>(self);
  std::lock_guard<std::mutex> lock(run->mutex_);
  run->done_ = true;
  run->changed_.notify_all();
}

bool Run::Done() {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

bool Run::Wait(std::optional<double> seconds) {
  using Clock = std::chrono::steady_clock;
  const auto slice = std::chrono::milliseconds(100);  // how soon Ctrl-C is seen
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(std::clamp(seconds.value_or(0), 0.0, 1e8)));
  for (;;) {
    {
      WithoutGil release;
      std::unique_lock<std::mutex> lock(mutex_);
      const auto next = Clock::now() + slice;
      if (changed_.wait_until(lock, seconds ? std::min(next, end) : next, [&] { return done_; })) {
        return true;
      }
    }
    if (PyErr_CheckSignals() != 0) {
      Cancel();  // so that nobody waits for it at its end
      nb::raise_python_error();
    }
    if (seconds && Clock::now() >= end) return false;
  }
}

nb::object Run::Result(std::optional<double> seconds) {
  if (!Wait(seconds)) {
    PyErr_SetString(PyExc_TimeoutError, "the run is still going; wait again or cancel it");
    nb::raise_python_error();
  }
  ge_error error = NoError();
  ge_status status;
  {
    WithoutGil release;
    status = ge_run_wait(run_, UINT64_MAX, &error);
  }
  Check(status, error);
  // Making arrays may let another thread in, which then waits without the GIL.
  std::unique_lock<std::mutex> lock(result_mutex_, std::defer_lock);
  {
    WithoutGil release;
    lock.lock();
  }
  if (!outputs_.is_valid()) outputs_ = call_->Results();
  return outputs_;
}

void Run::Cancel() { ge_run_cancel(run_); }

}  // namespace graphengine

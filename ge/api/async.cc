// ge.h: asynchronous runs. Each waits for its turn in the queue of its session's runtime.
#include <algorithm>
#include <chrono>

#include "ge/api/capi.h"
#include "ge/runtime/run_queue.h"

using ge::Code;
using ge::Status;
using ge::TensorView;

struct ge_run final : ge::RunQueue::Task {
  void Compute() override;
  void Tell() override;
  // From now on it can be cancelled, and its time runs.
  void BeginCall(ge::Session* s, const ge::capi::LimitedCall::Limits& limits);
  void EndCall() {
    token.reset();
    own_deadline.reset();
    deadline.reset();
    call.reset();
  }

  ge_session* session = nullptr;  // until it has run
  std::string entry;
  std::vector<TensorView> inputs;
  ge_tensor* outputs = nullptr;
  uint32_t n_outputs = 0;
  void (*done)(void* context, ge_status status) = nullptr;
  void* context = nullptr;
  ge_status code = GE_STATUS_INTERNAL;
  Status status{Code::kInternal, "the run ended unexpectedly"};
  bool destroyed_in_done = false;  // of the thread that tells alone

  std::mutex mutex;  // of the following, and of the status once it is finished
  std::condition_variable changed;
  std::optional<ge::Calls::Call> call;                 // until it has run
  std::optional<ge::Deadline> deadline, own_deadline;  // the session's; the call's
  std::optional<ge::CancelToken::Use> token;
  bool finished = false;
};

namespace ge::capi {
namespace {

// The run whose `done` this thread is in; null elsewhere.
thread_local ge_run* run_in_done = nullptr;

void CountDown(ge_session* session) {
  std::lock_guard<std::mutex> lock(session->mutex);
  --session->running;
  session->changed.notify_all();
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

void ge_run::BeginCall(ge::Session* s, const LimitedCall::Limits& limits) {
  call.emplace(&s->calls());
  deadline.emplace(&call->interrupt(), s->calls().time_limit_ms());
  own_deadline.emplace(&call->interrupt(), limits.time_limit_ms);
  token.emplace(limits.cancel, &call->interrupt());
}

void ge_run::Compute() {
  code = Guard(nullptr, [&] {
    const ge::InterruptScope scope(&call->interrupt());
    status = ge::CheckInterrupt();  // while it waited for its turn
    if (status.ok()) {
      status = RunNow(session->session.get(), entry, inputs, outputs, n_outputs);
    }
    return status;
  });
  {
    std::lock_guard<std::mutex> lock(mutex);
    EndCall();  // there is nothing left to cancel
  }
  // From here on the run does not need its session, which `done` may destroy.
  CountDown(session);
}

void ge_run::Tell() {
  run_in_done = this;
  if (done) done(context, code);
  run_in_done = nullptr;
  if (destroyed_in_done) {
    delete this;
    return;
  }
  std::lock_guard<std::mutex> lock(mutex);
  finished = true;
  changed.notify_all();
}

extern "C" {

ge_status ge_session_run_async(ge_session* session, const char* entry, const ge_tensor* inputs,
                               uint32_t n_inputs, ge_tensor* outputs, uint32_t n_outputs,
                               void (*done)(void* context, ge_status status), void* context,
                               ge_run** out, ge_error* error) {
  return ge_session_run_async_with(session, entry, inputs, n_inputs, outputs, n_outputs, nullptr,
                                   done, context, out, error);
}

ge_status ge_session_run_async_with(ge_session* session, const char* entry, const ge_tensor* inputs,
                                    uint32_t n_inputs, ge_tensor* outputs, uint32_t n_outputs,
                                    const ge_run_options* options,
                                    void (*done)(void* context, ge_status status), void* context,
                                    ge_run** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, Get(session));
    if (!out) return Null("out");
    LimitedCall::Limits limits;
    if (options != nullptr) {
      GE_ASSIGN_OR_RETURN(limits, LimitedCall::Read(options));
    }
    auto run = std::make_unique<ge_run>();
    GE_RETURN_IF_ERROR(ReadTensors("inputs", inputs, n_inputs, true, &run->inputs));
    GE_RETURN_IF_ERROR(CheckOutputs(outputs, n_outputs));
    run->session = session;
    run->entry = entry ? entry : "";
    run->outputs = outputs;
    run->n_outputs = n_outputs;
    run->done = done;
    run->context = context;
    run->BeginCall(s, limits);
    {
      std::lock_guard<std::mutex> lock(session->mutex);
      ++session->running;
    }
    *out = run.get();  // before the run begins: `done` may want it
    const Status queued = s->runtime().runs().Submit(run.get());
    if (queued.ok()) {
      (void)run.release();
      return queued;
    }
    *out = nullptr;
    run->EndCall();
    CountDown(session);
    return queued;
  });
}

ge_status ge_run_wait(ge_run* run, uint64_t timeout_ns, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!run) return Null("run");
    if (run == run_in_done) {
      return Status(Code::kFailedPrecondition,
                    "ge_run_wait was called by the `done` of this very run, which ends when `done` "
                    "returns; its status is what `done` was given");
    }
    std::unique_lock<std::mutex> lock(run->mutex);
    auto finished = [run] { return run->finished; };
    if (timeout_ns > uint64_t{1} << 62) {
      run->changed.wait(lock, finished);
    } else if (!run->changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns), finished)) {
      return Status(Code::kDeadlineExceeded, "the run is still going; wait again or cancel it");
    }
    return run->status;
  });
}

ge_status ge_run_cancel(ge_run* run) {
  return Guard(nullptr, [&]() -> Status {
    if (!run) return Null("run");
    std::lock_guard<std::mutex> lock(run->mutex);
    if (!run->call) return {};
    run->call->interrupt().Cancel();
    // Its session is there until it has run.
    run->session->session->runtime().runs().Hurry(run);
    return {};
  });
}

void ge_run_destroy(ge_run* run) {
  if (!run) return;
  if (run == run_in_done) {
    run->destroyed_in_done = true;
    return;
  }
  {
    std::unique_lock<std::mutex> lock(run->mutex);
    run->changed.wait(lock, [run] { return run->finished; });
  }
  delete run;
}

}  // extern "C"

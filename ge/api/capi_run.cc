// ge.h: tensors, synchronous and asynchronous runs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>

#include "ge/api/capi.h"
#include "ge/base/aligned.h"
#include "ge/base/checked.h"
#include "ge/run/output_memory.h"
#include "ge/run/tensor_view.h"

using ge::Code;
using ge::Status;
using ge::TensorView;

namespace ge::capi {

Status CheckArray(const char* what, const ge_tensor* tensors, uint32_t n) {
  if (n == 0) return {};
  if (!tensors) return Null(what);
  constexpr size_t kAlign = alignof(ge_tensor);
  if (reinterpret_cast<uintptr_t>(tensors) % kAlign != 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("the array of {} begins at an address that is no multiple of {}; let "
                              "the compiler lay it out",
                              what, kAlign));
  }
  const uint32_t stride = tensors[0].size;
  if (stride < kFirstTensor) return TooShort("ge_tensor", stride, kFirstTensor);
  if (stride % kAlign != 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} 0 has size {}, wanted a multiple of {}; set its size field to "
                              "sizeof",
                              what, stride, kAlign));
  }
  for (uint32_t i = 1; i < n; ++i) {
    const uint32_t size = TensorAt(tensors, i)->size;
    if (size == stride) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("{} {} has size {}, the first one {}; all of an array are alike",
                              what, i, size, stride));
  }
  return {};
}

Status ReadTensors(const char* what, const ge_tensor* tensors, uint32_t n, bool with_data,
                   std::vector<TensorView>* out) {
  GE_RETURN_IF_ERROR(CheckArray(what, tensors, n));
  out->resize(n);  // Elements are overwritten in place, so that kept ones keep their capacity.
  for (uint32_t i = 0; i < n; ++i) {
    const ge_tensor& t = *TensorAt(tensors, i);
    TensorView& v = (*out)[i];
    v.dtype = static_cast<DType>(t.dtype);
    if (!IsKnown(v.dtype) || t.rank < 0 || t.rank > GE_MAX_RANK) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} {} has dtype {} and rank {}; wanted a dtype of ONNX and a rank "
                                "from 0 to {}",
                                what, i, t.dtype, t.rank, GE_MAX_RANK));
    }
    v.dims.assign(t.dims, t.dims + t.rank);
    auto count = CheckedProduct(v.dims);
    auto bytes = count ? DTypeBytes(v.dtype, *count) : std::nullopt;
    if (!bytes) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("{} {} has a negative dim or more elements than 63 bits count", what, i));
    }
    v.data = t.data, v.bytes = t.bytes;
    if (with_data && v.bytes != static_cast<uint64_t>(*bytes)) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("{} {} has {} bytes, its dims and dtype need {}", what, i, v.bytes, *bytes));
    }
  }
  return {};
}

Status CheckOutputs(const ge_tensor* outputs, uint32_t n) {
  GE_RETURN_IF_ERROR(CheckArray("outputs", outputs, n));
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t flags = TensorAt(outputs, i)->flags;
    if ((flags & ~uint32_t{GE_TENSOR_ALLOCATED}) == 0) continue;
    return Status(
        Code::kInvalidArgument,
        fmt::format("output {} has flags {:#x}, wanted 0 or what a run wrote there; clear "
                    "a ge_tensor before its first use",
                    i, flags));
  }
  return {};
}

void ReadOutput(const ge_tensor& t, TensorView* out) {
  out->data = t.data;
  out->owned = t.data != nullptr && (t.flags & GE_TENSOR_ALLOCATED) != 0;
  out->bytes = out->owned ? CapacityOf(t.data) : t.bytes;
}

void WriteOutput(const TensorView& v, ge_tensor* out) {
  out->flags = v.owned ? GE_TENSOR_ALLOCATED : 0;
  out->dtype = static_cast<int32_t>(v.dtype);
  out->rank = static_cast<int32_t>(std::min<size_t>(v.dims.size(), GE_MAX_RANK));
  std::copy_n(v.dims.begin(), out->rank, out->dims);
  out->data = v.data, out->bytes = v.bytes;
}

namespace {

// Kept by each thread: a run of a known shape then allocates nothing.
thread_local std::vector<TensorView> input_views, output_views;
// The run whose `done` this thread is in; null elsewhere.
thread_local ge_run* run_in_done = nullptr;

Status RunNow(Session* s, std::string_view entry, const std::vector<TensorView>& inputs,
              ge_tensor* outputs, uint32_t n) {
  std::vector<TensorView>& views = output_views;
  views.resize(n);
  for (uint32_t i = 0; i < n; ++i) ReadOutput(*TensorAt(outputs, i), &views[i]);
  GE_RETURN_IF_ERROR(s->Run(entry, inputs, views));
  Status status;
  for (uint32_t i = 0; i < n; ++i) {
    WriteOutput(views[i], TensorAt(outputs, i));
    if (views[i].dims.size() <= GE_MAX_RANK || !status.ok()) continue;
    status =
        Status(Code::kLimitExceeded, fmt::format("output {} has rank {}, beyond the {} of ge.h", i,
                                                 views[i].dims.size(), GE_MAX_RANK));
  }
  return status;
}

Status CheckSession(ge_session* session) {
  if (!session || !session->session) return Null("session");
  return {};
}

// What a run's own thread does.
void RunOnThread(ge_session* session, ge_run* run, const std::function<Status()>& compute,
                 void (*done)(void* context, ge_status status), void* context) {
  // Begins when the handle holds its thread: `done` may destroy it.
  { std::lock_guard<std::mutex> lock(run->mutex); }
  Status result(Code::kInternal, "the run ended unexpectedly");
  const ge_status code = Guard(nullptr, [&] { return result = compute(); });
  {
    std::lock_guard<std::mutex> lock(run->mutex);
    run->call.reset();  // there is nothing left to cancel
  }
  {
    // From here on the run does not need its session, which `done` may destroy.
    std::lock_guard<std::mutex> lock(session->mutex);
    --session->running;
    session->changed.notify_all();
  }
  run_in_done = run;
  if (done) done(context, code);
  run_in_done = nullptr;
  if (run->destroyed_in_done) {
    run->thread.detach();
    delete run;
    return;
  }
  std::lock_guard<std::mutex> lock(run->mutex);
  run->status = std::move(result);
  run->finished = true;
  run->changed.notify_all();
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

void ge_tensor_release(ge_tensor* tensor) {
  if (!tensor || tensor->size < kFirstTensor || !(tensor->flags & GE_TENSOR_ALLOCATED)) return;
  std::free(tensor->data);
  tensor->data = nullptr;
  tensor->bytes = 0;
  tensor->flags = 0;
}

ge_status ge_tensor_feed(ge_tensor* output, ge_tensor* input, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_RETURN_IF_ERROR(CheckArray("output", output, 1));
    GE_RETURN_IF_ERROR(CheckArray("input", input, 1));
    if (!output || !input || output == input) {
      return Status(Code::kInvalidArgument,
                    "ge_tensor_feed wants an output and an input, two structs");
    }
    if (!output->data || output->flags != GE_TENSOR_ALLOCATED || output->rank < 0 ||
        output->rank > GE_MAX_RANK) {
      return Status(Code::kInvalidArgument,
                    "the memory of the output was not allocated by a run; give the run an output "
                    "with data = NULL and flags = 0, or pass the output as the input yourself");
    }
    const bool allocated = input->data && input->flags == GE_TENSOR_ALLOCATED;
    void* next = allocated ? input->data : nullptr;
    input->dtype = output->dtype, input->rank = output->rank;
    std::copy_n(output->dims, output->rank, input->dims);
    input->data = output->data, input->bytes = output->bytes, input->flags = GE_TENSOR_ALLOCATED;
    output->data = next, output->bytes = 0, output->flags = next ? GE_TENSOR_ALLOCATED : 0;
    return {};
  });
}

ge_status ge_session_compile(ge_session* session, const char* entry, const ge_tensor* inputs,
                             uint32_t n_inputs, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_RETURN_IF_ERROR(CheckSession(session));
    std::vector<TensorView> views;
    GE_RETURN_IF_ERROR(ReadTensors("inputs", inputs, n_inputs, false, &views));
    return session->session->PlanAhead(entry ? entry : "", views);
  });
}

ge_status ge_session_run(ge_session* session, const char* entry, const ge_tensor* inputs,
                         uint32_t n_inputs, ge_tensor* outputs, uint32_t n_outputs,
                         ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_RETURN_IF_ERROR(CheckSession(session));
    std::vector<TensorView>& views = input_views;
    GE_RETURN_IF_ERROR(ReadTensors("inputs", inputs, n_inputs, true, &views));
    GE_RETURN_IF_ERROR(CheckOutputs(outputs, n_outputs));
    return RunNow(session->session.get(), entry ? entry : "", views, outputs, n_outputs);
  });
}

ge_status ge_session_run_async(ge_session* session, const char* entry, const ge_tensor* inputs,
                               uint32_t n_inputs, ge_tensor* outputs, uint32_t n_outputs,
                               void (*done)(void* context, ge_status status), void* context,
                               ge_run** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    GE_RETURN_IF_ERROR(CheckSession(session));
    if (!out) return Null("out");
    std::vector<TensorView> views;
    GE_RETURN_IF_ERROR(ReadTensors("inputs", inputs, n_inputs, true, &views));
    GE_RETURN_IF_ERROR(CheckOutputs(outputs, n_outputs));
    auto run = std::make_unique<ge_run>();
    ge_run* r = run.get();
    std::string name = entry ? entry : "";
    ge::Session* s = session->session.get();
    r->call = std::make_unique<ge::Calls::Call>(&s->calls());  // from now on it can be cancelled
    std::function<Status()> compute = [=, views = std::move(views)] {
      const ge::CallScope call(&s->calls(), r->call.get());
      return RunNow(s, name, views, outputs, n_outputs);
    };
    {
      std::lock_guard<std::mutex> lock(session->mutex);
      ++session->running;
    }
    *out = r;  // before the run begins: `done` may want it
    try {
      std::lock_guard<std::mutex> lock(r->mutex);
      r->thread = std::thread(RunOnThread, session, r, std::move(compute), done, context);
      (void)run.release();
    } catch (const std::exception& e) {  // no thread, or no memory for one
      *out = nullptr;
      std::lock_guard<std::mutex> lock(session->mutex);
      --session->running;
      return Status(Code::kResourceExhausted,
                    fmt::format("no thread for the run: {}; wait for other runs", e.what()));
    }
    return {};
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
    if (run->call) run->call->interrupt().Cancel();
    return {};
  });
}

void ge_run_destroy(ge_run* run) {
  if (run && run == run_in_done) {
    run->destroyed_in_done = true;
    return;
  }
  if (run && run->thread.joinable()) run->thread.join();
  delete run;
}

}  // extern "C"

// ge.h: tensors, synchronous and asynchronous runs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "ge/base/checked.h"
#include "ge/session/capi.h"

using ge::Code;
using ge::Status;
using ge::TensorView;

namespace ge::capi {

Status ReadTensors(const char* what, const ge_tensor* tensors, uint32_t n, bool with_data,
                   std::vector<TensorView>* out) {
  out->resize(n);  // Elements are overwritten in place, so that kept ones keep their capacity.
  if (n == 0) return {};
  if (!tensors) return Null(what);
  uint32_t stride = tensors[0].size;
  if (stride < sizeof(ge_tensor)) return TooShort("ge_tensor", stride, sizeof(ge_tensor));
  for (uint32_t i = 0; i < n; ++i) {
    const auto& t = *reinterpret_cast<const ge_tensor*>(reinterpret_cast<const char*>(tensors) +
                                                        uint64_t{i} * stride);
    if (t.size != stride) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} {} has size {}, the first one {}; all of an array are alike",
                                what, i, t.size, stride));
    }
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

ge_tensor* TensorAt(ge_tensor* tensors, uint32_t i) {
  return reinterpret_cast<ge_tensor*>(reinterpret_cast<char*>(tensors) +
                                      uint64_t{i} * tensors[0].size);
}

namespace {

Status CheckOutputs(ge_tensor* outputs, uint32_t n) {
  if (n > 0 && !outputs) return Null("outputs");
  for (uint32_t i = 0; i < n; ++i) {
    if (outputs[0].size < sizeof(ge_tensor)) {
      return TooShort("ge_tensor", outputs[0].size, sizeof(ge_tensor));
    }
    if (TensorAt(outputs, i)->size != outputs[0].size) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("output {} has size {}, the first one {}; all of an array are alike", i,
                      TensorAt(outputs, i)->size, outputs[0].size));
    }
  }
  return {};
}

// Kept by each thread: a run of a known shape then allocates nothing.
thread_local std::vector<TensorView> input_views, output_views;

Status RunNow(Session* s, std::string_view entry, const std::vector<TensorView>& inputs,
              ge_tensor* outputs, uint32_t n, const std::atomic<bool>* cancel) {
  std::vector<TensorView>& views = output_views;
  views.resize(n);
  for (uint32_t i = 0; i < n; ++i) {
    views[i].data = TensorAt(outputs, i)->data;
    views[i].bytes = TensorAt(outputs, i)->bytes;
  }
  GE_RETURN_IF_ERROR(s->Run(entry, inputs, views, cancel));
  for (uint32_t i = 0; i < n; ++i) {
    ge_tensor* t = TensorAt(outputs, i);
    t->flags = t->data ? 0 : GE_TENSOR_ALLOCATED;
    t->dtype = static_cast<int32_t>(views[i].dtype);
    t->rank = static_cast<int32_t>(std::min<size_t>(views[i].dims.size(), GE_MAX_RANK));
    std::copy_n(views[i].dims.begin(), t->rank, t->dims);
    t->data = views[i].data;
    t->bytes = views[i].bytes;
  }
  return {};
}

Status CheckSession(ge_session* session) {
  if (!session || !session->session) return Null("session");
  return {};
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

void ge_tensor_release(ge_tensor* tensor) {
  if (!tensor || tensor->size < sizeof(ge_tensor) || !(tensor->flags & GE_TENSOR_ALLOCATED)) return;
  std::free(tensor->data);
  tensor->data = nullptr;
  tensor->flags = 0;
}

ge_status ge_session_compile(ge_session* session, const char* entry, const ge_tensor* inputs,
                             uint32_t n_inputs, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_RETURN_IF_ERROR(CheckSession(session));
    std::vector<TensorView> views;
    GE_RETURN_IF_ERROR(ReadTensors("inputs", inputs, n_inputs, false, &views));
    const std::string_view name = entry ? entry : "";
    const Status status = session->session->Compile(name, views).status();
    // What is planned piece by piece is planned when it runs.
    return session->session->RunsInPieces(name) ? Status() : status;
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
    return RunNow(session->session.get(), entry ? entry : "", views, outputs, n_outputs, nullptr);
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
    r->thread = std::thread([=, views = std::move(views)] {
      Status result(Code::kInternal, "the run ended unexpectedly");
      ge_status code = Guard(
          nullptr, [&] { return result = RunNow(s, name, views, outputs, n_outputs, &r->cancel); });
      if (done) done(context, code);
      std::lock_guard<std::mutex> lock(r->mutex);
      r->status = std::move(result);
      r->finished = true;
      r->changed.notify_all();
    });
    *out = run.release();
    return {};
  });
}

ge_status ge_run_wait(ge_run* run, uint64_t timeout_ns, ge_error* error) {
  return Guard(error, [&]() -> Status {
    if (!run) return Null("run");
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
    run->cancel.store(true, std::memory_order_relaxed);
    return {};
  });
}

void ge_run_destroy(ge_run* run) {
  if (run && run->thread.joinable()) run->thread.join();
  delete run;
}

}  // extern "C"

// ge.h: tensors, synchronous runs and their limits.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ge/api/capi.h"
#include "ge/base/aligned.h"
#include "ge/base/checked.h"
#include "ge/run/call_scratch.h"
#include "ge/run/output_memory.h"
#include "ge/run/tensor_view.h"

using ge::Code;
using ge::Result;
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
    v.data = t.data;
    v.bytes = t.bytes;
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

void ReadOutput(const ge_tensor& tensor, TensorView* out) {
  out->data = tensor.data;
  out->owned = tensor.data != nullptr && (tensor.flags & GE_TENSOR_ALLOCATED) != 0;
  out->bytes = out->owned ? CapacityOf(tensor.data) : tensor.bytes;
}

void WriteOutput(const TensorView& view, ge_tensor* out) {
  out->flags = view.owned ? GE_TENSOR_ALLOCATED : 0;
  out->dtype = static_cast<int32_t>(view.dtype);
  out->rank = static_cast<int32_t>(std::min<size_t>(view.dims.size(), GE_MAX_RANK));
  std::copy_n(view.dims.begin(), out->rank, out->dims);
  out->data = view.data;
  out->bytes = view.bytes;
}

namespace {

// A run of a known shape allocates nothing.
struct InputViews {
  std::vector<TensorView> views;
};
struct OutputViews {
  std::vector<TensorView> views;
};

}  // namespace

Status CheckRank(uint32_t output, const TensorView& view) {
  if (view.dims.size() <= GE_MAX_RANK) return {};
  return Status(Code::kLimitExceeded, fmt::format("output {} has rank {}, beyond the {} of ge.h",
                                                  output, view.dims.size(), GE_MAX_RANK));
}

Status RunNow(Session* session, std::string_view entry, const std::vector<TensorView>& inputs,
              ge_tensor* outputs, uint32_t n) {
  const CallScratch<OutputViews> scratch;
  std::vector<TensorView>& views = scratch->views;
  views.resize(n);
  for (uint32_t i = 0; i < n; ++i) ReadOutput(*TensorAt(outputs, i), &views[i]);
  GE_RETURN_IF_ERROR(session->Run(entry, inputs, views));
  Status status;
  for (uint32_t i = 0; i < n; ++i) {
    WriteOutput(views[i], TensorAt(outputs, i));
    if (status.ok()) status = CheckRank(i, views[i]);
  }
  return status;
}

Result<LimitedCall::Limits> LimitedCall::Read(const ge_run_options* options) {
  ge_run_options o{};
  if (options->size < kFirstRunOptions) {
    return TooShort("ge_run_options", options->size, kFirstRunOptions);
  }
  std::memcpy(&o, options, std::min<size_t>(options->size, sizeof o));
  Limits limits;
  limits.time_limit_ms = o.time_limit_ms;
  if (o.cancel != nullptr) limits.cancel = &o.cancel->token;
  return limits;
}

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
    input->dtype = output->dtype;
    input->rank = output->rank;
    std::copy_n(output->dims, output->rank, input->dims);
    input->data = output->data;
    input->bytes = output->bytes;
    input->flags = GE_TENSOR_ALLOCATED;
    output->data = next;
    output->bytes = 0;
    output->flags = next ? GE_TENSOR_ALLOCATED : 0;
    return {};
  });
}

ge_status ge_session_compile(ge_session* session, const char* entry, const ge_tensor* inputs,
                             uint32_t n_inputs, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, Get(session));
    std::vector<TensorView> views;
    GE_RETURN_IF_ERROR(ReadTensors("inputs", inputs, n_inputs, false, &views));
    return s->PlanAhead(entry ? entry : "", views);
  });
}

ge_status ge_session_run(ge_session* session, const char* entry, const ge_tensor* inputs,
                         uint32_t n_inputs, ge_tensor* outputs, uint32_t n_outputs,
                         ge_error* error) {
  return ge_session_run_with(session, entry, inputs, n_inputs, outputs, n_outputs, nullptr, error);
}

ge_status ge_session_run_with(ge_session* session, const char* entry, const ge_tensor* inputs,
                              uint32_t n_inputs, ge_tensor* outputs, uint32_t n_outputs,
                              const ge_run_options* options, ge_error* error) {
  return Guard(error, [&]() -> Status {
    GE_ASSIGN_OR_RETURN(ge::Session * s, Get(session));
    const ge::CallScratch<InputViews> scratch;
    std::vector<TensorView>& views = scratch->views;
    GE_RETURN_IF_ERROR(ReadTensors("inputs", inputs, n_inputs, true, &views));
    GE_RETURN_IF_ERROR(CheckOutputs(outputs, n_outputs));
    return WithLimits(s, options,
                      [&] { return RunNow(s, entry ? entry : "", views, outputs, n_outputs); });
  });
}

ge_status ge_cancel_token_create(ge_cancel_token** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    *out = new ge_cancel_token;
    return {};
  });
}

ge_status ge_cancel_token_cancel(ge_cancel_token* token) {
  return Guard(nullptr, [&]() -> Status {
    if (!token) return Null("token");
    token->token.Cancel();
    return {};
  });
}

ge_status ge_cancel_token_reset(ge_cancel_token* token) {
  return Guard(nullptr, [&]() -> Status {
    if (!token) return Null("token");
    token->token.Reset();
    return {};
  });
}

void ge_cancel_token_destroy(ge_cancel_token* token) { delete token; }

}  // extern "C"

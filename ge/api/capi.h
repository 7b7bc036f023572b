// What the files of the C API share: handles and error filling. Not for anybody else.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ge/ge.h"
#include "ge/run/tensor_view.h"
#include "ge/runtime/runtime.h"
#include "ge/session/session.h"

struct ge_runtime {
  std::shared_ptr<ge::Runtime> runtime;
};

struct ge_session {
  std::unique_ptr<ge::Session> session;
  std::mutex mutex;  // of the following
  std::condition_variable changed;
  uint32_t running = 0;  // asynchronous runs that have not computed their outputs yet
};

struct ge_run {
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_ptr<ge::Calls::Call> call;  // until it has run
  bool finished = false;
  bool destroyed_in_done = false;  // of the run's own thread alone
  ge::Status status;
};

namespace ge::capi {

// Bytes of each struct when it was first published, by number: no later version of ge.h wants more
// of a caller.
inline constexpr uint32_t kFirstError = 1024, kFirstSessionOptions = 32, kFirstRuntimeOptions = 16,
                          kFirstTensorInfo = 152, kFirstTensor = 160;
// What the function ge_session_options_init fills: ge_session_options before there was the sized
// one.
inline constexpr uint32_t kUnsizedSessionOptions = 80;
static_assert(kFirstError <= sizeof(ge_error) && kFirstTensorInfo <= sizeof(ge_tensor_info) &&
              kFirstTensor <= sizeof(ge_tensor) &&
              kFirstRuntimeOptions <= sizeof(ge_runtime_options) &&
              kUnsizedSessionOptions <= sizeof(ge_session_options));

// Copies the status into the caller's error (when there is one) and answers its code.
ge_status Answer(const Status& status, ge_error* error);
// The same of the exception that is being handled; allocates nothing.
ge_status AnswerThrown(ge_error* error) noexcept;
inline Status Null(const char* what) {
  return Status(Code::kInvalidArgument, std::string(what) + " is NULL; pass a valid pointer");
}
Status TooShort(const char* what, uint32_t size, uint32_t wanted);

// Runs `body`, which answers a Status; nothing that a library throws passes the C border.
template <typename Body>
ge_status Guard(ge_error* error, Body body) {
  try {
    return Answer(body(), error);
  } catch (const std::exception&) {
    return AnswerThrown(error);
  }
}

// An array is walked by its first element's size.
template <typename Tensor>
Tensor* TensorAt(Tensor* tensors, uint32_t i) {
  return reinterpret_cast<Tensor*>(reinterpret_cast<uintptr_t>(tensors) +
                                   uint64_t{i} * tensors[0].size);
}
// Whether it can be walked: where it lies, and that all are of one size.
Status CheckArray(const char* what, const ge_tensor* tensors, uint32_t n);
// The caller's array as views. Checks rank and dims too; data only when `with_data`.
Status ReadTensors(const char* what, const ge_tensor* tensors, uint32_t n, bool with_data,
                   std::vector<TensorView>* out);
// CheckArray, and the flags.
Status CheckOutputs(const ge_tensor* outputs, uint32_t n);
// Where a result may go: the caller's buffer, or the session's own of an earlier call.
void ReadOutput(const ge_tensor& t, TensorView* out);
void WriteOutput(const TensorView& v, ge_tensor* out);

}  // namespace ge::capi

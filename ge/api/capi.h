// Handles and error filling, shared by the files of the C API. Nobody else includes it.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ge/base/cancel_token.h"
#include "ge/control/value.h"
#include "ge/ge.h"
#include "ge/run/tensor_view.h"
#include "ge/runtime/runtime.h"
#include "ge/session/session.h"

struct ge_runtime {
  std::shared_ptr<ge::Runtime> runtime;
};

namespace ge::capi {

// That were given out, and live as long as their handle.
class Texts {
 public:
  const char* Keep(std::string text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return texts_.insert(std::move(text)).first->c_str();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> texts_;
};

}  // namespace ge::capi

struct ge_session {
  std::shared_ptr<ge::Session> session;  // prepared runs keep it, too
  std::mutex mutex;                      // of the following
  std::condition_variable changed;
  uint32_t running = 0;  // asynchronous runs that have not computed their outputs yet
  ge::capi::Texts texts;
};

struct ge_cancel_token {
  ge::CancelToken token;
};

struct ge_states {
  std::shared_ptr<ge::SharedStates> states;
  ge::Calls calls;
  ge::capi::Texts texts;
};

struct ge_any {
  ge::FlowValue value;
};

namespace ge::capi {

// Bytes of each struct when it was first published, by number: later versions of ge.h ask a caller
// for no more.
inline constexpr uint32_t kFirstError = 1024, kFirstSessionOptions = 32, kFirstRuntimeOptions = 16,
                          kFirstTensorInfo = 152, kFirstTensor = 160, kFirstRunOptions = 24,
                          kFirstValueInfo = 152, kFirstEngineInfo = 48, kFirstDeviceInfo = 32,
                          kFirstModelInfo = 72, kFirstObserveOptions = 40, kFirstGraphOptions = 24;
// Bytes that the function ge_session_options_init fills: ge_session_options before the sized init
// came.
inline constexpr uint32_t kUnsizedSessionOptions = 80;
static_assert(kFirstError <= sizeof(ge_error) && kFirstTensorInfo <= sizeof(ge_tensor_info) &&
              kFirstTensor <= sizeof(ge_tensor) &&
              kFirstRuntimeOptions <= sizeof(ge_runtime_options) &&
              kFirstRunOptions <= sizeof(ge_run_options) &&
              kFirstValueInfo <= sizeof(ge_any_info) &&
              kFirstEngineInfo <= sizeof(ge_engine_info) &&
              kFirstDeviceInfo <= sizeof(ge_device_info) &&
              kFirstModelInfo <= sizeof(ge_model_info) &&
              kFirstObserveOptions <= sizeof(ge_observe_options) &&
              kFirstGraphOptions <= sizeof(ge_graph_options) &&
              kUnsizedSessionOptions <= sizeof(ge_session_options));

// Copies the status into the caller's error (when there is one) and answers its code.
ge_status Answer(const Status& status, ge_error* error);
// The same for the exception being handled; allocates nothing.
ge_status AnswerThrown(ge_error* error) noexcept;
inline Status Null(const char* what) {
  return Status(Code::kInvalidArgument, std::string(what) + " is NULL; pass a valid pointer");
}
Status TooShort(const char* what, uint32_t size, uint32_t wanted);

// The session of a handle; INVALID_ARGUMENT for NULL, FAILED_PRECONDITION while no model is loaded.
Result<Session*> Get(ge_session* session);
Result<Session*> GetLoaded(ge_session* session);
// `name` and `texts` live as long as the handle.
Status FillInfo(Texts* texts, const DimTable& dims, const std::string& name, const Type& type,
                ge_tensor_info* out);
// A copy; ge_text_release frees it.
Status GiveText(const std::string& text, char** out);

// Runs `body`, which answers a Status; an exception of a library does not pass the C border.
template <typename Body>
ge_status Guard(ge_error* error, Body body) {
  try {
    return Answer(body(), error);
  } catch (const std::exception&) {
    return AnswerThrown(error);
  }
}

// The first element's size is the stride of an array.
template <typename Tensor>
Tensor* TensorAt(Tensor* tensors, uint32_t i) {
  return reinterpret_cast<Tensor*>(reinterpret_cast<uintptr_t>(tensors) +
                                   uint64_t{i} * tensors[0].size);
}
// Checks the array's address, and that all elements state one size.
Status CheckArray(const char* what, const ge_tensor* tensors, uint32_t n);
// The caller's array as views. Checks rank and dims too; data only when `with_data`.
Status ReadTensors(const char* what, const ge_tensor* tensors, uint32_t n, bool with_data,
                   std::vector<TensorView>* out);
// CheckArray, and the flags.
Status CheckOutputs(const ge_tensor* outputs, uint32_t n);
// Fills in where a result may go: the caller's buffer, or the session's own of an earlier call.
void ReadOutput(const ge_tensor& tensor, TensorView* out);
void WriteOutput(const TensorView& view, ge_tensor* out);
// LIMIT_EXCEEDED where ge.h has no room for a result's rank.
Status CheckRank(uint32_t output, const TensorView& view);
// Run, into the caller's tensors.
Status RunNow(Session* session, std::string_view entry, const std::vector<TensorView>& inputs,
              ge_tensor* outputs, uint32_t n);

// A call with limits of its own beside the session's, from its begin to its end.
class LimitedCall {
 public:
  // Limits that ge_run_options may state; none where the caller gives none.
  struct Limits {
    uint64_t time_limit_ms = 0;
    CancelToken* cancel = nullptr;
    bool any() const { return time_limit_ms != 0 || cancel != nullptr; }
  };
  static Result<Limits> Read(const ge_run_options* options);
  LimitedCall(Session* session, const Limits& limits) : LimitedCall(&session->calls(), limits) {}
  LimitedCall(Calls* calls, const Limits& limits)
      : call_(calls),
        scope_(calls, &call_),
        deadline_(&call_.interrupt(), limits.time_limit_ms),
        cancel_(limits.cancel, &call_.interrupt()) {}

 private:
  Calls::Call call_;
  CallScope scope_;
  Deadline deadline_;
  CancelToken::Use cancel_;
};
// Runs `body` within the limits of a call, if it has any.
template <typename Body>
Status WithLimits(Session* session, const ge_run_options* options, Body body) {
  if (options == nullptr) return body();
  GE_ASSIGN_OR_RETURN(const LimitedCall::Limits limits, LimitedCall::Read(options));
  if (!limits.any()) return body();
  const LimitedCall call(session, limits);
  GE_RETURN_IF_ERROR(CheckInterrupt());
  return body();
}

}  // namespace ge::capi

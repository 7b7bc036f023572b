// What the files of the C API share: handles and error filling. Not for anybody else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ge/ge.h"
#include "ge/session/session.h"

struct ge_session {
  std::unique_ptr<ge::Session> session;
};

struct ge_run {
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> cancel{false};
  bool finished = false;
  ge::Status status;
};

namespace ge::capi {

// Copies the status into the caller's error (when there is one) and answers its code.
ge_status Answer(const Status& status, ge_error* error);
inline Status Null(const char* what) {
  return Status(Code::kInvalidArgument, std::string(what) + " is NULL; pass a valid pointer");
}
Status TooShort(const char* what, uint32_t size, uint32_t wanted);

// Runs `body`, which answers a Status; nothing that a library throws passes the C border.
template <typename Body>
ge_status Guard(ge_error* error, Body body) {
  try {
    return Answer(body(), error);
  } catch (const std::bad_alloc&) {
    return Answer(Status(Code::kResourceExhausted, "out of memory"), error);
  } catch (const std::exception& e) {
    return Answer(Status(Code::kInternal, std::string("unexpected: ") + e.what()), error);
  }
}

// The caller's array as views. Checks size, rank, dims; data only when `with_data`.
Status ReadTensors(const char* what, const ge_tensor* tensors, uint32_t n, bool with_data,
                   std::vector<TensorView>* out);
// n outputs walked by the first one's size.
ge_tensor* TensorAt(ge_tensor* tensors, uint32_t i);

}  // namespace ge::capi

// CancelToken: a switch that ends any number of calls, of any sessions, at once. It holds the calls
// using it and stops their Interrupts; calls do not poll it. Any thread; not from a signal handler,
// since it locks.
#pragma once

#include <mutex>

#include "ge/base/interrupt.h"

namespace ge {

class CancelToken {
 public:
  CancelToken() = default;
  CancelToken(const CancelToken&) = delete;
  CancelToken& operator=(const CancelToken&) = delete;

  // Ends the calls using it, and those beginning to use it until Reset.
  void Cancel();
  // Calls cancelled before stay cancelled.
  void Reset();

  // A call uses the token while this lives. Token and Interrupt outlive it.
  class Use {
   public:
    // No token: nothing happens.
    Use(CancelToken* token, Interrupt* interrupt);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    friend class CancelToken;
    CancelToken* const token_;
    Interrupt* const interrupt_;
    Use *before_ = nullptr, *after_ = nullptr;  // in the token's list
  };

 private:
  std::mutex mutex_;
  bool cancelled_ = false;
  Use* first_ = nullptr;
};

}  // namespace ge

// CancelToken: a switch that ends any number of calls, of any sessions, at once. It holds the calls
// that have it now, and is asked by none of them: what it does is to stop their Interrupts.
// Any thread; not from a signal handler, since it locks.
#pragma once

#include <mutex>

#include "ge/base/interrupt.h"

namespace ge {

class CancelToken {
 public:
  CancelToken() = default;
  CancelToken(const CancelToken&) = delete;
  CancelToken& operator=(const CancelToken&) = delete;

  // Calls that have it end, and those that get it until Reset.
  void Cancel();
  // Calls that were cancelled stay so.
  void Reset();

  // A call that has the token, as long as this lives. Both outlive it.
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

// Ctrl-C (SIGINT) and SIGTERM end the tool's work: it cancels the session's computation, reports it
// and exits with 130. If work does not end within a second, e.g. in one call of a vendor's library,
// the whole process ends. The same happens after a time limit; the message names the plugin that
// has not returned.
#pragma once

#include <memory>

#include "ge/session/session.h"

namespace ge::tool {

inline constexpr int kExitInterrupted = 130;  // as a shell shows a program that SIGINT ended

void CatchSignals();
// Whether a signal came.
bool Signalled();

// A session cancelled by signals as long as this object owns it.
class SignalledSession {
 public:
  explicit SignalledSession(std::unique_ptr<Session> session);
  ~SignalledSession();
  SignalledSession(SignalledSession&&) = default;
  SignalledSession& operator=(SignalledSession&&) = delete;
  void Replace(std::unique_ptr<Session> session);
  Session* get() const { return session_.get(); }
  Session* operator->() const { return session_.get(); }
  Session& operator*() const { return *session_; }

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace ge::tool

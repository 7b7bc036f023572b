// Ctrl-C (SIGINT) and SIGTERM end whatever the tool does: what the session computes is cancelled,
// the tool says so and exits with 130. What does not end within a second, such as one call of a
// vendor's library, ends with the process, and so does what a time limit does not end; the message
// names the plugin that has not returned.
#pragma once

#include <memory>

#include "ge/session/session.h"

namespace ge::tool {

inline constexpr int kExitInterrupted = 130;  // as a shell shows a program that SIGINT ended

void CatchSignals();
// Whether one came.
bool Signalled();

// A session that signals cancel as long as it is owned here.
class SignalledSession {
 public:
  explicit SignalledSession(std::unique_ptr<Session> session);
  ~SignalledSession();
  SignalledSession(SignalledSession&&) = default;
  SignalledSession& operator=(SignalledSession&&) = delete;
  Session* get() const { return session_.get(); }
  Session* operator->() const { return session_.get(); }
  Session& operator*() const { return *session_; }

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace ge::tool

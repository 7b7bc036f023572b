#include "tools/ge/signals.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace ge::tool {
namespace {

std::atomic<Calls*> g_calls{nullptr};
std::atomic<bool> g_signalled{false};
static_assert(std::atomic<Calls*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

[[noreturn]] void End(const char* text) {
  (void)!write(STDERR_FILENO, text, std::strlen(text));
  _exit(kExitInterrupted);
}

void OnSignal(int) {
  if (g_signalled.exchange(true)) End("ge: interrupted twice, ended at once\n");
  Calls* calls = g_calls.load();
  if (calls == nullptr) End("ge: interrupted\n");
  calls->CancelForGood();
  // Not a whole second: the process takes a while to go.
  const itimerval once = {{0, 0}, {0, 700000}};
  (void)setitimer(ITIMER_REAL, &once, nullptr);
}

void OnAlarm(int) {
  End("ge: interrupted; what was going on did not end soon, so the process did\n");
}

}  // namespace

void CatchSignals() {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  action.sa_handler = OnAlarm;
  sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = OnSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool Signalled() { return g_signalled.load(); }

SignalledSession::SignalledSession(std::unique_ptr<Session> session)
    : session_(std::move(session)) {
  g_calls.store(&session_->calls());
}

SignalledSession::~SignalledSession() {
  if (session_) g_calls.store(nullptr);
}

}  // namespace ge::tool

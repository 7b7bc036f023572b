#include "tools/ge/signals.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

namespace ge::tool {
namespace {

// Of the sessions that live; a command has few. More are not cancelled.
std::array<std::atomic<Calls*>, 16> g_calls{};
std::atomic<bool> g_signalled{false};
constexpr int kExitOverdue = 3;  // as any other time limit
static_assert(std::atomic<Calls*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void Say(const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

[[noreturn]] void End(const char* text) {
  Say(text);
  _exit(kExitInterrupted);
}

void OnSignal(int) {
  if (g_signalled.exchange(true)) End("ge: interrupted twice, ended at once\n");
  bool any = false;
  for (const std::atomic<Calls*>& at : g_calls) {
    Calls* calls = at.load();
    any = any || calls != nullptr;
    if (calls != nullptr) calls->CancelForGood();
  }
  if (!any) End("ge: interrupted\n");
  // Not a whole second: the process takes a while to go.
  const itimerval once = {{0, 0}, {0, 700000}};
  (void)setitimer(ITIMER_REAL, &once, nullptr);
}

void OnAlarm(int) {
  const char* plugin = nullptr;
  for (const std::atomic<Calls*>& at : g_calls) {
    const Calls* calls = at.load();
    if (plugin == nullptr && calls != nullptr) plugin = calls->in_plugin();
  }
  if (plugin == nullptr) {
    End("ge: interrupted; what was going on did not end soon, so the process did\n");
  }
  Say("ge: interrupted; ");
  Say(plugin);
  End(" did not return soon, so the process ended\n");
}

// The first place that holds `from`.
void Change(Calls* from, Calls* to) {
  for (std::atomic<Calls*>& at : g_calls) {
    Calls* held = from;
    if (at.compare_exchange_strong(held, to)) return;
  }
}

// Of a call that --time-limit could not end.
void OnOverdue(const char* plugin) {
  Say("ge: DEADLINE_EXCEEDED: the call took longer than its time limit, and a second later ");
  Say(plugin != nullptr ? plugin : "what was going on");
  Say(" had not returned, so the process ended\n");
  _exit(kExitOverdue);
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
  Deadline::SetOverdue(&OnOverdue);
}

bool Signalled() { return g_signalled.load(); }

SignalledSession::SignalledSession(std::unique_ptr<Session> session)
    : session_(std::move(session)) {
  Change(nullptr, &session_->calls());
}

void SignalledSession::Replace(std::unique_ptr<Session> session) {
  Change(&session_->calls(), nullptr);
  session_ = std::move(session);
  Change(nullptr, &session_->calls());
}

SignalledSession::~SignalledSession() {
  if (session_) Change(&session_->calls(), nullptr);
}

}  // namespace ge::tool

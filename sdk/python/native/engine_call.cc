#include "engine_call.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace nb = nanobind;

namespace graphengine {
namespace {

// What the main thread waits for, and how many handlers are reading it.
std::atomic<ge_session*> watched{nullptr};
std::atomic<int> reading{0};
static_assert(std::atomic<ge_session*>::is_always_lock_free);
// Python's handler, which ours stands before. Written by the main thread alone.
std::atomic<void (*)(int)> pythons{nullptr};

void OnInterrupt(int signal) {
  reading.fetch_add(1);
  if (ge_session* session = watched.load()) ge_session_cancel(session);
  reading.fetch_sub(1);
  if (void (*next)(int) = pythons.load()) next(signal);
}

// Whether Ctrl-C raises KeyboardInterrupt, and no handler of the program's own decides.
bool HasDefaultHandler() {
  // Looked up once, since a program with a handler of its own asks at each call.
  const auto find = [](const char* name) {
    return nb::object(nb::module_::import_("signal").attr(name)).release().ptr();
  };
  static PyObject *getsignal = nullptr,
                  *raises = nullptr;  // no lock of C++: imports let the GIL go
  if (!getsignal) getsignal = find("getsignal");
  if (!raises) raises = find("default_int_handler");
  return nb::handle(getsignal)(SIGINT).is(nb::handle(raises));
}

// Puts our handler before Python's, once: it stays until the program sets another one.
bool StandBefore() {
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) != 0) return false;
  if (now.sa_flags & SA_SIGINFO) return false;
  if (now.sa_handler == OnInterrupt) return true;
  if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN || !HasDefaultHandler()) return false;
  pythons.store(now.sa_handler);
  now.sa_handler = OnInterrupt;
  return sigaction(SIGINT, &now, nullptr) == 0;
}

bool InMainThread() { return syscall(SYS_gettid) == getpid(); }

}  // namespace

EndedByCtrlC::EndedByCtrlC(ge_session* session)
    : watching_(InMainThread() && watched.load() == nullptr && StandBefore()) {
  if (watching_) watched.store(session);
}

EndedByCtrlC::~EndedByCtrlC() {
  if (!watching_) return;
  watched.store(nullptr);
  // A handler in another thread may have the session still. One in this thread has returned.
  while (reading.load() != 0) {
  }
}

}  // namespace graphengine

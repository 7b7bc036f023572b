#include "tools/ge/capsule/reduce/check_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "ge/base/clock.h"

namespace ge::tool {
namespace {

std::string WithPath(const std::string& command, const std::string& path) {
  std::string out;
  for (size_t at = 0; at < command.size();) {
    const size_t next = std::min(command.find("{}", at), command.size());
    out += command.substr(at, next - at);
    if (next < command.size()) out += path;
    at = next + 2;
  }
  return out;
}

[[noreturn]] void BeCommand(const std::string& text) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)setpgid(0, 0);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) (void)dup2(nowhere, fd);
  execl("/bin/sh", "sh", "-c", text.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

// Waits for it; false when the time is over.
bool HasEnded(pid_t child, double until_ms, int* status) {
  for (double pause_ms = 0.2;; pause_ms = std::min(pause_ms * 1.5, 5.0)) {
    const pid_t found = waitpid(child, status, WNOHANG);
    if (found == child) return true;
    if (found < 0 && errno != EINTR) return true;
    if (NowMs() > until_ms) return false;
    (void)usleep(static_cast<useconds_t>(pause_ms * 1e3));
  }
}

}  // namespace

Result<Failure> RunCheck(const std::string& command, const std::string& path, double seconds) {
  const std::string text = WithPath(command, path);
  const pid_t child = fork();
  if (child < 0) return Status(Code::kResourceExhausted, "no process for the command of --check");
  if (child == 0) BeCommand(text);
  int status = 0;
  const bool ended = HasEnded(child, NowMs() + seconds * 1e3, &status);
  if (!ended) {
    (void)kill(-child, SIGKILL);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &status, 0);
  }
  Failure f;
  if (!ended) {
    f.kind = Failure::Kind::kHang;
    f.text = fmt::format("the command has not ended after {} s", seconds);
  } else if (WIFSIGNALED(status)) {
    f.kind = Failure::Kind::kSignal;
    f.key = fmt::format("signal {}", WTERMSIG(status));
    f.text = fmt::format("the command ended by {} ({})", f.key, strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 0) {
    f.kind = Failure::Kind::kCheck;
    f.key = fmt::format("{}", WEXITSTATUS(status));
    f.text = fmt::format("the command ends with {}", f.key);
  }
  return f;
}

}  // namespace ge::tool

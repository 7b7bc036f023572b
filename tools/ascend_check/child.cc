#include "tools/ascend_check/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "tools/ascend_check/numbers.h"

namespace ascend_check {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 20;

void Silence() {
  const int nowhere = open("/dev/null", O_WRONLY);
  (void)dup2(nowhere, STDOUT_FILENO);
  (void)dup2(nowhere, STDERR_FILENO);
}

// In the child: the outcome as a digit, then the text. Nothing of the libraries' is ended.
[[noreturn]] void Answer(const std::function<Finding()>& run, int to) {
  const Finding finding = run();
  const std::string text = std::to_string(static_cast<int>(finding.outcome)) + finding.text;
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = write(to, text.data() + at, text.size() - at);
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  _exit(0);
}

void Take(int from, std::string* text) {
  char some[4096];
  for (ssize_t n; (n = read(from, some, sizeof some)) > 0;)
    text->append(some, static_cast<size_t>(n));
}

Finding Read(const std::string& text, int status, bool late, double seconds) {
  if (late) return {Outcome::kHung, "no answer in " + TextOf(seconds) + " s; it was ended"};
  if (!text.empty() && WIFEXITED(status)) {
    return {static_cast<Outcome>(text[0] - '0'), text.substr(1)};
  }
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return {Outcome::kCrashed, "signal " + std::to_string(number) + " (" + strsignal(number) + ")"};
  }
  return {Outcome::kCrashed,
          "the process ended by itself, with " + std::to_string(WEXITSTATUS(status))};
}

}  // namespace

Run RunApart(const std::function<Finding()>& run, double seconds, bool loud) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {{Outcome::kSkipped, "there is no pipe for a process"}, 0};
  (void)std::fflush(nullptr);
  const auto begin = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    (void)close(ends[0]);
    if (!loud) Silence();
    Answer(run, ends[1]);
  }
  (void)close(ends[1]);
  if (child < 0) {
    (void)close(ends[0]);
    return {{Outcome::kSkipped, "there is no process for it"}, 0};
  }
  (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::string text;
  int status = 0;
  double passed = 0;
  bool late = false;
  for (pid_t ended = 0; ended == 0;) {
    pollfd wait = {ends[0], POLLIN, 0};
    if (poll(&wait, 1, kPollMs) > 0 && (wait.revents & POLLIN) == 0) (void)usleep(1000);
    Take(ends[0], &text);
    ended = waitpid(child, &status, WNOHANG);
    passed = std::chrono::duration<double>(Clock::now() - begin).count();
    if (ended != 0 || passed < seconds) continue;
    late = true;
    (void)kill(child, SIGKILL);
    ended = waitpid(child, &status, 0);
  }
  Take(ends[0], &text);
  (void)close(ends[0]);
  return {Read(text, status, late, seconds), passed};
}

Run RunCheck(const Check& check, const std::string& folder, double seconds, bool loud) {
  const auto run = [&]() -> Finding {
    Case one(folder);
    try {
      check.run(one);
      return one.Result();
    } catch (const Finding& finding) {
      const Finding noted = one.Result();
      if (noted.outcome != Outcome::kDiffers || finding.outcome != Outcome::kDiffers)
        return finding;
      return {Outcome::kDiffers, noted.text + "; " + finding.text};
    } catch (const std::exception& x) {
      return {Outcome::kDiffers, std::string("the check itself fails: ") + x.what()};
    }
  };
  return RunApart(run, seconds, loud);
}

}  // namespace ascend_check

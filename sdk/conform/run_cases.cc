#include "run_cases.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "board.h"
#include "timing.h"

extern char** environ;

namespace ge::conform {
namespace {

using Clock = std::chrono::steady_clock;

struct Running {
  size_t at = 0;  // index of the case
  pid_t pid = 0;
  int board_fd = -1, output_fd = -1;
  Clock::time_point begin;
  bool killed = false;
};

// The last line that the process printed, for a crash that says more than its signal does.
std::string LastLine(int fd) {
  char text[4096];
  const off_t size = lseek(fd, 0, SEEK_END);
  const off_t from = size > static_cast<off_t>(sizeof text) ? size - off_t(sizeof text) : 0;
  const ssize_t n = pread(fd, text, sizeof text, from);
  std::string out(text, n > 0 ? static_cast<size_t>(n) : 0);
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  const size_t line = out.rfind('\n');
  if (line != std::string::npos) out = out.substr(line + 1);
  return out.size() > 200 ? out.substr(0, 200) : out;
}

std::string CrashReason(const Board& b, int status, int output_fd) {
  std::string what = b.fault;
  const std::string call = b.call[0] != '\0' ? fmt::format(" in {}", b.call) : "";
  if (WIFEXITED(status)) {
    what = fmt::format("the plugin ended the process (exit code {}){}", WEXITSTATUS(status), call);
  } else if (what.empty()) {
    what = fmt::format("ended by signal {} ({}){}", WTERMSIG(status), strsignal(WTERMSIG(status)),
                       call);
  }
  const std::string line = LastLine(output_fd);
  return line.empty() ? what : fmt::format("{}; it printed: {}", what, line);
}

Outcome Judge(const Running& r, int status, double timeout_s) {
  const Board* b = MapBoard(r.board_fd);
  if (b == nullptr) return {Verdict::kFail, "the kit has no memory to read the verdict from"};
  Outcome out;
  const std::string call = b->call[0] != '\0' ? b->call : b->done ? "the end of the process" : "it";
  if (r.killed) {
    out = {Verdict::kHang, fmt::format("{} did not return within {:g} s", call, timeout_s)};
  } else if (b->done != 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    out = {static_cast<Verdict>(b->verdict), b->reason};
  } else if (b->done != 0) {
    out = {Verdict::kCrash, CrashReason(*b, status, r.output_fd) +
                                " when the process ended, after the case was through"};
  } else {
    out = {Verdict::kCrash, CrashReason(*b, status, r.output_fd)};
  }
  UnmapBoard(const_cast<Board*>(b));
  return out;
}

bool Start(const Setup& setup, const Case& c, Running* r) {
  r->board_fd = memfd_create("ge-conform board", MFD_CLOEXEC);
  r->output_fd = memfd_create("ge-conform output", MFD_CLOEXEC);
  if (r->board_fd < 0 || r->output_fd < 0 || ftruncate(r->board_fd, sizeof(Board)) != 0) {
    return false;
  }
  std::vector<std::string> words = {
      "ge-conform", setup.plugin, kCaseFlag, c.id(),
      "--ref",      setup.ref,    "--seed",  std::to_string(setup.seed)};
  if (!setup.options.empty()) words.insert(words.end(), {"--options", setup.options});
  if (!setup.library.empty()) words.insert(words.end(), {"--library", setup.library});
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  const std::string link = "/proc/self/exe";  // leads to this file even when it was replaced
  const std::string file = access(link.c_str(), X_OK) == 0 ? link : OwnProgram();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, r->output_fd, 1);
  posix_spawn_file_actions_adddup2(&actions, r->output_fd, 2);
  posix_spawn_file_actions_adddup2(&actions, r->board_fd, kBoardFd);
  const int failed = posix_spawn(&r->pid, file.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  r->begin = Clock::now();
  return failed == 0;
}

void CloseFiles(const Running& r) {
  if (r.board_fd >= 0) close(r.board_fd);
  if (r.output_fd >= 0) close(r.output_fd);
}

}  // namespace

std::string OwnProgram() {
  namespace fs = std::filesystem;
  std::error_code ec;
  const fs::path file = fs::read_symlink("/proc/self/exe", ec);
  if (!ec) return file.string();
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return started != nullptr ? fs::absolute(started, ec).string() : "";
}

std::vector<Result> RunCases(const Setup& setup, const std::vector<Case>& cases,
                             const std::function<void(const Result&)>& done, std::string* error) {
  std::vector<Result> results(cases.size());
  std::vector<Running> running;
  size_t next = 0;
  while (next < cases.size() || !running.empty()) {
    // One that measures time waits for the others, and they for it.
    while (next < cases.size() && static_cast<int>(running.size()) < setup.jobs) {
      const bool busy = !running.empty();
      if (busy && (cases[next].alone || cases[running.front().at].alone)) break;
      Running r;
      r.at = next++;
      if (!Start(setup, cases[r.at], &r)) {
        *error = fmt::format("no process for case {}: {}", cases[r.at].id(), std::strerror(errno));
        CloseFiles(r);
        for (const Running& x : running) {
          kill(x.pid, SIGKILL);
          waitpid(x.pid, nullptr, 0);
        }
        return {};
      }
      running.push_back(r);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (size_t k = 0; k < running.size();) {
      Running& r = running[k];
      int status = 0;
      const pid_t ended = waitpid(r.pid, &status, WNOHANG);
      if (ended == 0) {
        if (!r.killed && MsSince(r.begin) > setup.timeout_s * 1000) {
          r.killed = true;
          kill(r.pid, SIGKILL);
        }
        ++k;
        continue;
      }
      results[r.at] = {cases[r.at], Judge(r, status, setup.timeout_s), MsSince(r.begin)};
      CloseFiles(r);
      done(results[r.at]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  return results;
}

}  // namespace ge::conform

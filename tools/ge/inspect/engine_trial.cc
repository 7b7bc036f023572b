#include "tools/ge/inspect/engine_trial.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ge/base/clock.h"
#include "ge/engine/engine.h"

namespace ge::tool {
namespace {

constexpr double kMostMs = 20'000;  // libraries of devices take some seconds to start

// What the child says: one JSON object.
std::string Answer(const std::shared_ptr<const Plugin>& plugin, const std::string& options) {
  const auto engine = Engine::Create(plugin, options);
  nlohmann::json j = {{"devices", nlohmann::json::array()}};
  if (engine.ok()) {
    for (const EngineDevice& d : (*engine)->devices()) j["devices"].push_back(d.name);
  } else {
    j["why"] = engine.status().message();
    j["unavailable"] = engine.status().code() == Code::kFailedPrecondition;
  }
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// All that the child writes until its end. False where it takes too long.
bool ReadAll(int from, std::string* out) {
  const double end = NowMs() + kMostMs;
  for (;;) {
    const double left = end - NowMs();
    pollfd p{from, POLLIN, 0};
    const int ready = left > 0 ? poll(&p, 1, static_cast<int>(left) + 1) : 0;
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    char text[4096];
    const ssize_t n = read(from, text, sizeof text);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    out->append(text, static_cast<size_t>(n));
  }
}

EngineTrial TrialOf(const std::string& said, int status) {
  const nlohmann::json j = nlohmann::json::parse(said, nullptr, false);
  if (!j.is_object()) {
    const std::string how = WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status),
                                                              strsignal(WTERMSIG(status)))
                                                : fmt::format("exit code {}", WEXITSTATUS(status));
    return {EngineTrial::State::kDied,
            "its engine_create ended the process that tried it, with " + how,
            {}};
  }
  if (!j.contains("why")) return {EngineTrial::State::kReady, "", j["devices"]};
  return {j["unavailable"] ? EngineTrial::State::kUnavailable : EngineTrial::State::kFailed,
          j["why"],
          {}};
}

}  // namespace

std::string_view NameOf(EngineTrial::State state) {
  static constexpr std::string_view kNames[] = {"ready", "unavailable", "failed", "died", "hung"};
  return kNames[static_cast<size_t>(state)];
}

EngineTrial TryEngine(const std::shared_ptr<const Plugin>& plugin, const std::string& options) {
  int ends[2];
  if (pipe(ends) != 0) return {EngineTrial::State::kFailed, "no pipe for a child process", {}};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string said = Answer(plugin, options);
    const ssize_t n = write(ends[1], said.data(), said.size());
    _exit(n == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  const bool ended = child > 0 && ReadAll(ends[0], &said);
  close(ends[0]);
  if (child < 0) return {EngineTrial::State::kFailed, "no child process could be made", {}};
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (ended) return TrialOf(said, status);
  return {EngineTrial::State::kHung,
          fmt::format("its engine_create did not return within {:.0f} s", kMostMs / 1e3),
          {}};
}

}  // namespace ge::tool

#include "tools/ge/capsule/trial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "ge/base/clock.h"
#include "ge/base/descriptor.h"
#include "ge/base/replace_file.h"
#include "ge/session/recorder.h"
#include "ge/stage/pass.h"

namespace ge::tool {
namespace {

// The answer of a child: its code, its message and the outputs, each with its size before it.
void Append(uint64_t number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof number);
}
void AppendText(std::string_view text, std::string* out) {
  Append(text.size(), out);
  out->append(text);
}

class Answer {
 public:
  explicit Answer(const std::string& bytes) : bytes_(bytes) {}
  bool Take(uint64_t* number) {
    if (bytes_.size() - at_ < sizeof *number) return false;
    std::memcpy(number, bytes_.data() + at_, sizeof *number);
    at_ += sizeof *number;
    return true;
  }
  bool Take(std::string_view* text) {
    uint64_t size = 0;
    if (!Take(&size) || size > bytes_.size() - at_) return false;
    *text = std::string_view(bytes_).substr(at_, size);
    at_ += size;
    return true;
  }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
};

struct Planned {
  std::unique_ptr<Session> session;
  std::shared_ptr<Compiled> compiled;
};
Result<Planned> PlanHere(const Recorded& r, const Trial& trial) {
  Options o = trial.options;
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  GE_RETURN_IF_ERROR(UseRecordedMachine(r, &options));
  for (const auto& pass : MakePipeline()) options.skip_passes.insert(std::string(pass->name()));
  for (const CapsuleGraph& g : r.manifest.graphs) {  // those of plugins, which edited the graph
    if (!o.plugins.empty() && g.stage.starts_with(kPassStage)) {
      options.skip_passes.insert(g.stage.substr(sizeof kPassStage - 1));
    }
  }
  Planned out;
  GE_ASSIGN_OR_RETURN(out.session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(out.session->LoadGraph(trial.graph));
  if (trial.with_states) GE_RETURN_IF_ERROR(SetStates(r, out.session.get()));
  BuildOptions build = out.session->build_options();
  Apply(trial.memory, &build);
  GE_ASSIGN_OR_RETURN(out.compiled, out.session->CompileApart(trial.entry, trial.inputs, build));
  return out;
}

// A byte for each constant: whether a pack is made of it.
Result<TrialAnswer> PackedHere(const Recorded& r, const Trial& trial) {
  GE_ASSIGN_OR_RETURN(const Planned p, PlanHere(r, trial));
  std::vector<std::byte> packed(trial.graph.consts.size());
  for (const auto& segment : p.compiled->residents()) {
    for (const auto& resident : segment) {
      for (const PackSource& s : resident->sources()) {
        for (ConstId c = 1; c < packed.size(); ++c) {
          const bool same = s.data != nullptr && trial.graph.consts[c].data == s.data;
          if (same) packed[c] = std::byte{1};
        }
      }
    }
  }
  return TrialAnswer{std::move(packed)};
}

[[noreturn]] void BeChild(const std::function<Result<TrialAnswer>()>& work, int to) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody else would end one that hangs
  const rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);  // crashes are expected here
  std::string answer;
  const auto made = work();
  Append(static_cast<uint64_t>(made.status().code()), &answer);
  AppendText(made.status().message(), &answer);
  AppendText(made.status().node(), &answer);
  Append(made.ok() ? made->size() : 0, &answer);
  for (size_t i = 0; made.ok() && i < made->size(); ++i) {
    const auto& bytes = (*made)[i];
    AppendText({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, &answer);
  }
  (void)WriteBytes(to, answer);
  _exit(0);  // engines' own ends are not asked for
}

Result<TrialAnswer> Parsed(const std::string& bytes) {
  Answer answer(bytes);
  uint64_t code = 0, count = 0;
  std::string_view text, node;
  if (!answer.Take(&code) || !answer.Take(&text) || !answer.Take(&node) || !answer.Take(&count)) {
    return Status(Code::kInternal, "a trial's process ended without an answer");
  }
  if (code != 0) return Status(static_cast<Code>(code), std::string(text)).AtNode(node);
  TrialAnswer out;
  for (uint64_t i = 0; i < count; ++i) {
    if (!answer.Take(&text)) return Status(Code::kInternal, "a trial's answer is cut short");
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    out.emplace_back(data, data + text.size());
  }
  return out;
}

// Everything until the writer's end, or false when the time is over.
bool ReadAll(int fd, double until_ms, std::string* out) {
  std::vector<char> part(1 << 16);
  for (;;) {
    const double left = until_ms - NowMs();
    if (left <= 0) return false;
    pollfd ready{fd, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::min(left, 1000.0)) + 1) <= 0) continue;
    const ssize_t n = read(fd, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    out->append(part.data(), static_cast<size_t>(n));
  }
}

}  // namespace

void Apply(const TrialMemory& memory, BuildOptions* build) {
  build->memory.reuse = !memory.apart;
  build->memory.own_places = memory.own_places;
  build->red_zones = memory.red_zones;
  if (memory.packs_apart) ResidentStore::OfProcess().ShareNone();
}

Result<TrialAnswer> RunTrialHere(const Recorded& r, const Trial& trial) {
  GE_ASSIGN_OR_RETURN(const Planned p, PlanHere(r, trial));
  GE_ASSIGN_OR_RETURN(OutputBuffers outputs, MakeOutputs(*p.compiled));
  GE_RETURN_IF_ERROR(p.session->RunApart(p.compiled.get(), trial.inputs, outputs.views));
  TrialAnswer answer;
  for (const TensorView& v : outputs.views) {
    const auto* bytes = static_cast<const std::byte*>(v.data);
    answer.emplace_back(bytes, bytes + v.bytes);
  }
  return answer;
}

Result<TrialAnswer> RunTrial(const Recorded& r, const Trial& trial, double seconds) {
  return InChild(seconds, [&] { return RunTrialHere(r, trial); });
}

Result<std::vector<ConstId>> PackedConstants(const Recorded& r, const Trial& trial,
                                             double seconds) {
  GE_ASSIGN_OR_RETURN(const TrialAnswer answer,
                      InChild(seconds, [&] { return PackedHere(r, trial); }));
  std::vector<ConstId> out;
  for (size_t c = 0; !answer.empty() && c < answer[0].size(); ++c) {
    if (answer[0][c] != std::byte{0}) out.push_back(static_cast<ConstId>(c));
  }
  return out;
}

Result<TrialAnswer> InChild(double seconds, const std::function<Result<TrialAnswer>()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Status(Code::kResourceExhausted, "no pipe to a trial's process");
  }
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return Status(Code::kResourceExhausted, "no process for a trial");
  if (child == 0) BeChild(work, to.get());
  to = Descriptor();
  std::string answer;
  const bool ended = ReadAll(from.get(), NowMs() + seconds * 1e3, &answer);
  if (!ended) (void)kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    return Status(Code::kDeadlineExceeded, fmt::format("it has not ended after {} s", seconds));
  }
  if (WIFSIGNALED(status)) {
    return Status(Code::kPluginError, fmt::format("it ended by signal {} ({})", WTERMSIG(status),
                                                  strsignal(WTERMSIG(status))));
  }
  return Parsed(answer);
}

}  // namespace ge::tool

// ge-test --random-models N: makes the models, runs each mix of engines on them, shrinks and prints
// what differs, and says at the end how much was seen.
#include "tools/ge_test/models/random_models.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "ge/engine/engine_list.h"
#include "ge/engine/plugin/discovery.h"

namespace ge::test {
namespace {

constexpr unsigned kModelSeconds = 300;  // of one model, all mixes and shrinking: else it hangs
constexpr int kShownModels = 5;          // failures that are shrunk and printed
constexpr int64_t kModelsPerLine = 200;  // of progress

// What a crash says before it goes its way; written ahead, since a handler may not format.
char model_at_work[512];
struct sigaction model_old_actions[64];

void SayWhereModelCrashed(int signal) {
  const size_t n = std::strlen(model_at_work);
  if (write(STDOUT_FILENO, model_at_work, n) < 0) _exit(3);
  if (signal == SIGALRM) _exit(3);
  // The fault comes again, for whoever watched before: a sanitizer, or the system.
  sigaction(signal, &model_old_actions[signal], nullptr);
}

void WatchForCrashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    struct sigaction action = {};
    action.sa_handler = SayWhereModelCrashed;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, &model_old_actions[signal]);
  }
}

// Long lines, which are the numbers of tensors, are cut; --save writes them whole.
std::string CutLines(const std::string& text) {
  constexpr size_t kShown = 300;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += text.substr(at, std::min(end - at, kShown));
    if (end - at > kShown) out += fmt::format(" ... {} more, see --save", end - at - kShown);
    out += '\n';
    at = end + 1;
  }
  return out;
}

struct ModelMix {
  std::string engines;
  bool found = true;
};

// "native,ref;ref,devsim:take=50;price=30" -> the mixes. A part that begins like an option belongs
// to the engine before it.
std::vector<ModelMix> SplitMixes(const std::string& list) {
  std::vector<ModelMix> mixes;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(';', at), list.size());
    const std::string part = list.substr(at, end - at);
    const size_t word = part.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
    const bool option = word != 0 && word != std::string::npos && part[word] == '=';
    if (option && !mixes.empty()) {
      mixes.back().engines += ";" + part;
    } else if (!part.empty()) {
      mixes.push_back({part});
    }
    at = end + 1;
  }
  return mixes;
}

// Every engine that is built beside ref, alone and all together, and the device simulator. Small
// prices and a fast link let it take its half of the nodes.
std::vector<ModelMix> DefaultMixes() {
  std::vector<ModelMix> mixes = {
      {"ref"}, {"native,ref"}, {"onednn,ref"}, {"openblas,ref"}, {"native,onednn,openblas,ref"}};
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto devsim = program.parent_path().parent_path() / "lib/samples/devsim.so";
  if (std::filesystem::exists(devsim, error)) {
    mixes.push_back(
        {"ref," + devsim.string() + ":take=50;price=30;link_latency_ns=50;link_gbps=1000"});
  } else {
    mixes.push_back({"devsim,ref"});
  }
  return mixes;
}

// False when the list is wrong, an engine that the user named is missing, or one that is built is
// refused: models that ran without it would tell nothing. The message is printed.
bool LookUpEngines(bool named, std::vector<ModelMix>* mixes) {
  std::set<std::string> known, refused;
  for (const Found& f : DiscoverPlugins()) {
    if (f.HasEngine()) known.insert(f.plugin->name);
    if (f.state == Found::State::kRefused) refused.insert(f.name());
  }
  for (ModelMix& mix : *mixes) {
    auto specs = ParseEngineList(mix.engines);
    if (!specs.ok()) {
      fmt::print(stderr, "ge-test: {}\n", specs.status().ToString());
      return false;
    }
    for (const EngineSpec& s : *specs) {
      const bool path = s.name.find('/') != std::string::npos;
      if (path || known.count(s.name) != 0) continue;
      mix.found = false;
      if (!named && refused.count(s.name) == 0) continue;
      fmt::print(stderr, "ge-test: {}\n", FindPlugin(s.name).status().ToString());
      return false;
    }
  }
  return true;
}

class ModelSweep {
 public:
  ModelSweep(const SweepOptions& options, std::vector<ModelMix> mixes)
      : options_(options), mixes_(std::move(mixes)) {}

  int Run() {
    WatchForCrashes();
    for (const ModelMix& mix : mixes_) {
      if (mix.found) continue;
      ++skipped_;
      fmt::print("skipped {}: not every engine of it is built\n", mix.engines);
    }
    fmt::print("seed {}, models {} to {}\n", options_.seed, options_.first,
               options_.first + options_.count - 1);
    for (int64_t i = 0; i < options_.count; ++i) {
      One(options_.first + i);
      if ((i + 1) % kModelsPerLine != 0) continue;
      fmt::print("  {} of {} models, {} failed\n", i + 1, options_.count, failed_);
      std::fflush(stdout);
    }
    alarm(0);
    Report();
    return failed_ == 0 ? 0 : 1;
  }

 private:
  // Every other model by priority, so that an engine is also given what another one does cheaper.
  static std::string Placed(const std::string& engines, int64_t index) {
    return index % 2 == 0 ? engines : engines + " policy=priority";
  }

  std::string Repeat(int64_t index, const std::string& engines) const {
    return fmt::format("--random-models 1 --first {} --seed {} --engines '{}'", index,
                       options_.seed, engines);
  }

  void AtWork(int64_t index, const std::string& engines) {
    const std::string text = fmt::format("FAILED  model {} crashed or hung: ge-test {}\n", index,
                                         Repeat(index, engines));
    const size_t n = std::min(text.size(), sizeof model_at_work - 1);
    std::memcpy(model_at_work, text.data(), n);
    model_at_work[n] = 0;
  }

  void One(int64_t index) {
    alarm(kModelSeconds);
    AtWork(index, "ref");
    const RandomModel model = MakeRandomModel(options_.seed, index, &refused_);
    Count(model);
    auto reference = MakeModelReference(model);
    if (!reference.ok()) return Fail(model, index, "ref", "ref: " + reference.status().ToString());
    judged_ += reference->judged;
    loose_ += reference->loose;
    if (!options_.save.empty()) {
      const Status saved =
          SaveModel(model, *reference, fmt::format("{}/{:05}", options_.save, index));
      if (!saved.ok()) return Fail(model, index, "", saved.ToString());
    }
    for (const ModelMix& mix : mixes_) {
      if (!mix.found) continue;
      AtWork(index, mix.engines);
      const std::string why = CompareModel(model, *reference, Placed(mix.engines, index));
      if (!why.empty()) return Fail(model, index, mix.engines, why);
    }
    ++passed_;
  }

  void Fail(const RandomModel& model, int64_t index, const std::string& engines,
            const std::string& why) {
    ++failed_;
    fmt::print("FAILED  model {} of seed {} on {}: {}\n  ge-test {}\n", index, options_.seed,
               engines, why, Repeat(index, engines));
    if (failed_ > kShownModels || engines.empty()) return;
    const std::string placed = Placed(engines, index);
    const RandomModel small = ShrinkModel(model, placed);
    const std::string text =
        fmt::format("# Model {} of seed {} on {}, shrunk: {}\n{}", index, options_.seed, placed,
                    JudgeModel(small, placed), ModelTextCase(small, placed));
    fmt::print("shrunk to {} nodes:\n{}", CountModelNodes(small, true), CutLines(text));
    std::fflush(stdout);
    if (options_.save.empty()) return;
    const Status saved = SaveModelText(
        fmt::format("{}/failed/seed{}_model{}.gt", options_.save, options_.seed, index), text);
    if (!saved.ok()) fmt::print("{}\n", saved.ToString());
  }

  void Count(const RandomModel& model) {
    bool control = false;
    for (const Function& f : model.graph.functions) {
      for (const Node& n : f.nodes) {
        ops_.insert(FullName(n.domain, n.op));
        control |= !n.callees.empty();
      }
    }
    nodes_ += CountModelNodes(model, true);
    own_nodes_ += CountModelNodes(model, false);
    symbolic_ += HasSymbols(model);
    control_ += control;
    outputs_ += static_cast<int64_t>(model.main().results.size());
  }

  void Report() const {
    const auto n = static_cast<double>(options_.count);
    fmt::print(
        "{} models, {:.1f} nodes in the mean ({:.1f} without those that fit values), {:.1f} "
        "outputs\n",
        options_.count, static_cast<double>(nodes_) / n, static_cast<double>(own_nodes_) / n,
        static_cast<double>(outputs_) / n);
    fmt::print(
        "{} operators, {:.0f} % of the models with symbolic sizes, {:.0f} % with If or "
        "Loop, {} of {} float outputs judged loosely ({:.1f} %)\n",
        ops_.size(), 100 * static_cast<double>(symbolic_) / n,
        100 * static_cast<double>(control_) / n, loose_, judged_,
        100 * static_cast<double>(loose_) / static_cast<double>(std::max<int64_t>(judged_, 1)));
    if (options_.verbose) {
      std::string never;
      for (const OpDef* op : AllOps()) {
        if (FindRandomOp(*op) != nullptr && ops_.count(FullName(*op)) == 0) {
          never += " " + FullName(*op);
        }
      }
      fmt::print("never seen:{}\n", never.empty() ? " none" : never);
      for (const auto& [what, times] : refused_) fmt::print("dropped {} times: {}\n", times, what);
    }
    fmt::print("{} passed, {} failed, {} skipped\n", passed_, failed_, skipped_);
  }

  const SweepOptions& options_;
  const std::vector<ModelMix> mixes_;
  std::map<std::string, int64_t> refused_;
  std::set<std::string> ops_;
  int64_t passed_ = 0, failed_ = 0, skipped_ = 0;
  int64_t nodes_ = 0, own_nodes_ = 0, outputs_ = 0, symbolic_ = 0, control_ = 0;
  int64_t judged_ = 0, loose_ = 0;
};

}  // namespace

int RunRandomModels(const SweepOptions& options) {
  const bool named = !options.engines.empty();
  std::vector<ModelMix> mixes = named ? SplitMixes(options.engines) : DefaultMixes();
  if (!LookUpEngines(named, &mixes)) return 2;
  return ModelSweep(options, std::move(mixes)).Run();
}

}  // namespace ge::test

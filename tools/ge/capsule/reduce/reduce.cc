// ge reduce F.gecap|MODEL -o G.gecap: the fewest nodes that fail for the same reason.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "frontend/text/text.h"
#include "ge/base/mapped_file.h"
#include "ge/base/replace_file.h"
#include "ge/capsule/graph_members.h"
#include "tools/ge/capsule/reduce/check_command.h"
#include "tools/ge/capsule/reduce/part_run.h"
#include "tools/ge/capsule/reduce/reduction.h"
#include "tools/ge/capsule/trial.h"
#include "tools/ge/command.h"
#include "tools/ge/progress_line.h"

namespace ge::tool {
namespace {

constexpr uint64_t kMostFileBytes = uint64_t{1} << 40;  // as of CapsuleLimits

// A folder of this process, which goes with it.
class OwnFolder {
 public:
  static Result<OwnFolder> Make() {
    std::error_code none;
    std::string path = (std::filesystem::temp_directory_path(none) / "ge-reduce.XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) {
      return Status(Code::kIoError, fmt::format("no folder '{}' for trials; see TMPDIR", path));
    }
    return OwnFolder(path);
  }
  OwnFolder(OwnFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  OwnFolder& operator=(OwnFolder&&) = delete;
  ~OwnFolder() {
    std::error_code none;
    if (!path_.empty()) std::filesystem::remove_all(path_, none);
  }
  const std::string& path() const { return path_; }

 private:
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

void DrawProgress(const ReductionProgress& p, ProgressLine* line) {
  if (!line->Due()) return;
  // By halvings: as many are ahead of 8 nodes as of 500.
  const double whole = std::log2(std::max<double>(2, static_cast<double>(p.nodes_before)));
  const double left = std::log2(std::max<double>(1, static_cast<double>(p.nodes)));
  line->Draw(fmt::format("{} -> {} nodes", p.nodes_before, p.nodes), 1 - left / whole,
             fmt::format("{} trials, {:.0f} s", p.trials, p.seconds));
}

Status CheckReduceOptions(const Options& o) {
  const std::string form = std::filesystem::path(o.output_file).extension().string();
  if (form != ".gecap" && form != ".gt" && form != ".onnx") {
    return Status(Code::kInvalidArgument,
                  fmt::format("-o is '{:.64}', wanted F.gecap, F.gt or, with --check, F.onnx",
                              o.output_file));
  }
  if (form == ".onnx" && o.check.empty()) {
    return Status(Code::kInvalidArgument,
                  "-o names an ONNX model, which has no place for the inputs that show the fault; "
                  "write a capsule, -o F.gecap, or judge the model by a command of yours, --check");
  }
  if (!o.check.empty() && o.check.find("{}") == std::string::npos) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--check is '{:.64}', wanted a command with {{}} where the file goes",
                              o.check));
  }
  return CheckReplaceable(o.output_file);
}

bool IsCapsule(const std::string& path) {
  const auto file = MappedFile::Open(path, kMostFileBytes);
  return file.ok() && LooksLikeCapsule((*file)->bytes());
}

// A capsule of one run on the reference, in a process of its own: the model and its inputs count.
Result<Recorded> RecordedOf(const Options& o, const std::string& folder) {
  if (IsCapsule(o.model)) return OpenRecorded(o.model, false);
  Options recording = o;
  recording.engines = o.against;
  recording.pins.clear();
  recording.policy = "cost";
  recording.values = "none";
  recording.output_file = folder + "/model.gecap";
  GE_RETURN_IF_ERROR(InChild(o.budget_s, [&]() -> Result<TrialAnswer> {
                       const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
                       (void)dup2(nowhere, STDOUT_FILENO);
                       GE_RETURN_IF_ERROR(RecordModel(recording));
                       return TrialAnswer();
                     }).status());
  GE_ASSIGN_OR_RETURN(Recorded r, OpenRecorded(recording.output_file, false));
  r.manifest.engines.clear();  // those of the command line, or all
  r.manifest.model = std::filesystem::path(o.model).filename().string();
  return r;
}

class Reducing {
 public:
  Reducing(const Options& o, const Recorded& r, const std::string& folder)
      : o_(o),
        r_(r),
        file_(folder + "/reduced" + std::filesystem::path(o.output_file).extension().string()),
        line_(o.json),
        reduction_(r, o, folder, [this](const ReductionProgress& p) { DrawProgress(p, &line_); }) {}

  Status Run(int* code) {
    *code = 1;
    GE_ASSIGN_OR_RETURN(const bool fails, reduction_.Fails());
    if (!fails) {
      Print(false, "the fault does not show: " + WhySound());
      return {};
    }
    reduction_.Search();
    GE_ASSIGN_OR_RETURN(const bool shown,
                        reduction_.WriteSmallest([this](const Piece& p) { return Write(p); },
                                                 [this] { return Again(); }));
    if (!shown) {
      Print(false,
            "the fault does not show again from a file: it comes and goes, or needs what a "
            "file does not hold; at first: " +
                reduction_.failure().text);
      return {};
    }
    GE_RETURN_IF_ERROR(Publish());
    *code = 0;
    Print(true, reduction_.failure().text);
    return {};
  }

 private:
  std::string WhySound() const {
    if (!o_.check.empty()) return "the command ends with 0 on the whole model";
    return fmt::format("on {} the whole model gives what {} gives, within {:.3g}", EnginesText(),
                       o_.against, reduction_.bound());
  }
  std::string EnginesText() const {
    const std::string& engines = reduction_.engine_options().engines;
    return engines.empty() ? "all engines" : engines;
  }

  Status Write(const Piece& piece) {
    piece_ = piece;
    if (piece.ended && o_.output_file.ends_with(".gt")) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("the model does not run on {}, so that a case has nothing to "
                                "expect; write a capsule: -o F.gecap",
                                o_.against));
    }
    return WritePart(file_, r_, piece);
  }

  // What the file says, in a new process.
  Result<Failure> Again() const {
    if (!o_.check.empty()) return RunCheck(o_.check, file_, o_.seconds_a_trial);
    if (o_.output_file.ends_with(".gt")) {
      GE_ASSIGN_OR_RETURN(const Graph graph, ParseText(PrintText(piece_.graph), file_));
      return RunRead(r_, graph);
    }
    GE_ASSIGN_OR_RETURN(const Recorded r, OpenRecorded(file_, false));
    GE_ASSIGN_OR_RETURN(const CapsuleGraph* loaded, GraphOf(r.manifest, "load"));
    GE_ASSIGN_OR_RETURN(const Graph graph, ReadGraphMember(r.capsule, loaded->member));
    return RunRead(r, graph);
  }
  Result<Failure> RunRead(const Recorded& r, const Graph& graph) const {
    const ModelPart& part = reduction_.smallest();
    const auto found =
        RunPart(r, reduction_.engine_options(), graph, "main", part.inputs, o_.seconds_a_trial);
    return FailureOf(found, part.results, part.result_names, reduction_.bound());
  }

  Status Publish() const {
    GE_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(file_, kMostFileBytes));
    const auto bytes = file->bytes();
    return ReplaceFile(o_.output_file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                       false);
  }

  // The command that shows the fault again.
  std::string SeeIt() const {
    if (!o_.check.empty() || !o_.output_file.ends_with(".gecap")) return "";
    const Options& e = reduction_.engine_options();
    std::string line = "ge replay " + o_.output_file;
    if (!o_.engines.empty()) line += " --engines " + o_.engines;
    if (!o_.plugins.empty()) line += " --plugins " + o_.plugins;
    return e.policy == o_.policy ? line : line + " --policy " + e.policy;
  }

  void Print(bool written, const std::string& text) {
    const Failure& f = reduction_.failure();
    const ReductionProgress& p = reduction_.progress();
    const std::string node = written ? reduction_.FailingNode() : "";
    const size_t nodes = written ? piece_.nodes.size() : p.nodes_before;
    if (o_.json) {
      const nlohmann::json j = {
          {"capsule", o_.model},
          {"written", written ? nlohmann::json(o_.output_file) : nlohmann::json()},
          {"kind", FailureName(f.kind)},
          {"why", text},
          {"node", node},
          {"nodes", written ? piece_.nodes : std::vector<std::string>()},
          {"nodes_before", p.nodes_before},
          {"nodes_after", nodes},
          {"trials", p.trials},
          {"seconds", p.seconds},
          {"in_time", reduction_.in_time()},
          {"again", written ? SeeIt() : ""}};
      fmt::print("{}\n", j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
      return;
    }
    if (!written) {
      fmt::print("{}\n", text);
      return;
    }
    constexpr size_t kNamed = 10;
    for (size_t i = 0; i < nodes && i < kNamed; ++i) fmt::print("  {}\n", piece_.nodes[i]);
    if (nodes > kNamed) fmt::print("  and {} more\n", nodes - kNamed);
    if (!SeeIt().empty()) fmt::print("again: {}\n", SeeIt());
    fmt::print("{}: {} -> {} nodes in {} trials, {:.1f} s{}: {}{}: {}\n", o_.output_file,
               p.nodes_before, nodes, p.trials, p.seconds,
               reduction_.in_time() ? "" : ", when the time was over", FailureName(f.kind),
               node.empty() ? "" : " at '" + node + "'", text);
  }

  const Options& o_;
  const Recorded& r_;
  const std::string file_;  // where it is tried first
  ProgressLine line_;
  Reduction reduction_;
  Piece piece_;
};

Status ReduceCapsule(const Options& o, int* code) {
  GE_RETURN_IF_ERROR(CheckReduceOptions(o));
  GE_ASSIGN_OR_RETURN(const OwnFolder folder, OwnFolder::Make());
  GE_ASSIGN_OR_RETURN(const Recorded r, RecordedOf(o, folder.path()));
  return Reducing(o, r, folder.path()).Run(code);
}

}  // namespace

int Reduce(const Options& options) {
  int code = 0;
  const Status status = ReduceCapsule(options, &code);
  return status.ok() ? code : Fail(status);
}

}  // namespace ge::tool

#include "ge/stage/runner.h"

#include <chrono>
#include <optional>

#include "ge/base/interrupt.h"

namespace ge {
namespace {

constexpr int kMaxRounds = 8;  // Passes that undo each other stop here.

class Stopwatch {
 public:
  double ms() const {
    const std::chrono::duration<double, std::milli> d = std::chrono::steady_clock::now() - start_;
    return d.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void AddTime(std::vector<StageTime>* times, const std::string& name, double ms, int edits) {
  for (StageTime& t : *times) {
    if (t.name == name) {
      t.ms += ms;
      t.edits += edits;
      return;
    }
  }
  times->push_back(StageTime{name, ms, edits});
}

// A misspelt name would leave a pass running that the caller believes to be off.
Status CheckSkipped(const std::set<std::string>& skip,
                    const std::vector<std::unique_ptr<Pass>>& passes) {
  for (const std::string& name : skip) {
    std::string known;
    for (const auto& pass : passes) {
      if (pass->name() == name) break;
      known += (known.empty() ? "" : ", ") + std::string(pass->name());
      if (&pass == &passes.back()) {
        return Status(Code::kInvalidArgument,
                      "there is no pass '" + name + "' to skip; the passes are " + known);
      }
    }
  }
  return {};
}

}  // namespace

Status Runner::RunStage(StageId id, const std::function<Status()>& body,
                        const std::function<Status()>& verify) {
  const std::string name = StageName(id);
  GE_RETURN_IF_ERROR(CheckInterrupt().AtStage(name));
  const Stopwatch watch;
  Status status = body();
  AddTime(&times_, name, watch.ms(), 0);
  if (!status.ok()) return std::move(status).AtStage(name);
  if (verify) {
    const Stopwatch verify_watch;
    status = verify();
    AddTime(&times_, name + "/verify", verify_watch.ms(), 0);
    if (!status.ok()) return std::move(status).AtStage(name);
  }
  if (options_.after) options_.after(name);
  return {};
}

// Of one that a pass has edited by hand nothing is left to infer.
static bool AllTyped(const Graph& graph) {
  for (const Function& f : graph.functions) {
    for (const Node& n : f.nodes) {
      for (const ValueId v : n.outputs) {
        const Type& type = f.value(v).type;
        if (v && !(type.is_tensor() && type.is_static())) return false;
      }
    }
  }
  return true;
}

Status Runner::VerifyAll(const Graph& graph, const std::function<Status(const Graph&)>& verify) {
  const Stopwatch watch;
  const Status status = verify(graph);
  AddTime(&times_, "rewrite/verify", watch.ms(), 0);
  if (status.ok()) return {};
  return Status(Code::kInternal, "the passes left an illegal graph (" + status.message() +
                                     "); run with --skip PASS to find out which")
      .AtNode(status.node());
}

Status Runner::RunPass(Graph* graph, Pass& pass, const PassContext& context,
                       const std::function<Status(const Graph&)>& verify,
                       const std::function<Status(Graph*)>& reinfer, int* edits) {
  const std::string name(pass.name());
  const Stopwatch watch;
  Status status;
  {
    Transaction t(graph, name);
    status = pass.Run(t, context);
    t.Commit();
    *edits = t.edits();
  }
  AddTime(&times_, "rewrite/" + name, watch.ms(), *edits);
  if (!status.ok()) {
    return Status(status.code(), "pass '" + name + "' failed: " + status.message())
        .AtNode(status.node());
  }
  if (!*edits) return {};
  if (!options_.roll_back && AllTyped(*graph)) return {};
  const Stopwatch verify_watch;
  if (verify) status = verify(*graph);
  if (!status.ok()) {
    return Status(Code::kInternal, "pass '" + name + "' left an illegal graph (" +
                                       status.message() + "); run with the pass skipped")
        .AtNode(status.node());
  }
  if (reinfer) status = reinfer(graph);
  AddTime(&times_, "rewrite/verify", verify_watch.ms(), 0);
  if (!status.ok()) {
    // Folding may show for the first time that the user's shapes contradict each other.
    return Status(status.code(), "after pass '" + name + "': " + status.message())
        .AtNode(status.node());
  }
  return {};
}

Status Runner::RunPasses(Graph* graph, const std::vector<std::unique_ptr<Pass>>& passes,
                         const PassContext& context,
                         const std::function<Status(const Graph&)>& verify,
                         const std::function<Status(Graph*)>& reinfer) {
  const char* stage = StageName(StageId::kRewrite);
  GE_RETURN_IF_ERROR(CheckSkipped(options_.skip, passes).AtStage(stage));
  std::optional<Graph> before;  // Good until a pass makes an edit.
  bool any = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    int round_edits = 0;
    for (const auto& pass : passes) {
      const std::string name(pass->name());
      if (options_.skip.count(name)) continue;
      GE_RETURN_IF_ERROR(CheckInterrupt().AtStage(stage));
      if (!before && options_.roll_back) before = *graph;
      int edits = 0;
      Status status = RunPass(graph, *pass, context, verify, reinfer, &edits);
      if (!status.ok()) {
        if (before) *graph = std::move(*before);
        return std::move(status).AtStage(stage);
      }
      if (edits) before.reset();
      round_edits += edits;
      // A later round that changes nothing has nothing new to show.
      if (options_.after && (edits || round == 0)) options_.after(std::string(stage) + "/" + name);
    }
    any |= round_edits > 0;
    if (!round_edits) break;
  }
  if (any) Compact(graph);
  if (any && verify && !options_.roll_back) return VerifyAll(*graph, verify);
  return {};
}

}  // namespace ge

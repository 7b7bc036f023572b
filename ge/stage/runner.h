// Runner: the single funnel through which every stage and pass runs: interrupt (of this
// thread's call), skip by name, time, run, dump, verify. It owns no graph and no plan. One Runner
// is used by one thread.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/stage/pass.h"

namespace ge {

// The stages in order; names are those of `--to`, dumps and messages (ge/stage/stages.def).
enum class StageId : int {
#define GE_STAGE(id, name, summary) id,
#include "ge/stage/stages.def"
#undef GE_STAGE
};
const char* StageName(StageId id);
const char* StageSummary(StageId id);
// INVALID_ARGUMENT listing the legal names.
Result<StageId> StageFromName(std::string_view name);
std::vector<StageId> AllStages();

// INVALID_ARGUMENT where a name is no pass of the list: otherwise a pass would run although the
// caller believes it to be off.
Status CheckSkipped(const std::set<std::string>& skip, const PassList& passes);

struct StageTime {
  std::string name;  // "infer", "rewrite/fold-constants"
  double ms = 0;
  int edits = 0;  // of a pass
};

class Runner {
 public:
  struct Options {
    std::set<std::string> skip;  // pass names that are not run; unknown ones are refused
    // Called after each stage or pass with its name; used by --to and by dump folders.
    std::function<void(const std::string& name)> after;
    // Called after each pass that has edited the graph; types may not be inferred yet.
    std::function<void(const std::string& pass, const Graph& graph)> edited;
    // Called behind each stretch of work that counts as StageTime: its name, and when it began by
    // the clock of NowMs.
    std::function<void(const std::string& name, double begin_ms, double ms)> timed;
    // True: after a failure RunPasses restores the graph as it was before the pass, and verifies
    // each pass's edits. False, for callers that throw a failed graph away: nothing is copied, all
    // edits are verified once, and types are inferred anew only where some are not known.
    bool roll_back = true;
  };
  explicit Runner(Options options) : options_(std::move(options)) {}

  // Runs one stage body; adds the stage's name to a failing Status.
  Status RunStage(StageId id, const std::function<Status()>& body,
                  const std::function<Status()>& verify);
  // Runs all passes to a fixed point (at most 8 rounds). A pass that fails or leaves an
  // illegal graph is rolled back, if roll_back is set, and reported (INTERNAL naming the
  // pass; PLUGIN_ERROR for a plugin's pass). A plugin's pass is always rolled back, is
  // verified each time, and fails if it still edits in the last round: the graph is then as
  // it was at first.
  Status RunPasses(Graph* graph, const PassList& passes, const PassContext& context,
                   const std::function<Status(const Graph&)>& verify,
                   const std::function<Status(Graph*)>& reinfer);
  // Runs one pass, once; rolled back when it fails. *edits: how many it made.
  Status RunOnce(Graph* graph, Pass& pass, const PassContext& context,
                 const std::function<Status(const Graph&)>& verify,
                 const std::function<Status(Graph*)>& reinfer, int* edits);
  // The pass behind the last failure of RunPasses or RunOnce; null: no pass failed.
  const Pass* culprit() const { return culprit_; }
  const std::vector<StageTime>& times() const { return times_; }

 private:
  struct Hooks {
    const PassContext& context;
    const std::function<Status(const Graph&)>& verify;
    const std::function<Status(Graph*)>& reinfer;
  };
  // `before`: the copy of the graph, if one was made.
  Status RunPass(Graph* graph, Pass& pass, const Hooks& hooks, const std::optional<Graph>& before,
                 int* edits);
  // The state of types after a pass's edits: everything is inferred, everything is inferred as far
  // as sizes are known (Transaction::SayTyped), or inference must run.
  enum class Types : uint8_t { kHold, kSaid, kOpen };
  Status CheckEdits(Graph* graph, const Pass& pass, const Hooks& hooks,
                    const std::optional<Graph>& before, Types types);
  Status TypeEdits(Graph* graph, const Pass& pass, const Hooks& hooks, Types types);
  Status InferStale(Graph* graph, const Pass& pass, const Hooks& hooks);
  Status RunRound(Graph* graph, const PassList& passes, const Hooks& hooks,
                  std::optional<Graph>* before, bool first, int* edits);
  // Of work that began then and ends now.
  void AddTime(const std::string& name, double begin_ms, int edits);
  Status VerifyAll(const Graph& graph, const std::function<Status(const Graph&)>& verify);
  // Whether the graph is copied before the pass runs.
  bool Guarded(const Pass& pass, const PassContext& context) const;
  Options options_;
  const Pass* culprit_ = nullptr;
  bool stale_ = false;   // edits of this round may tell more of types than the graph says
  size_t unranked_ = 0;  // values of unknown rank after the last inference
  const Pass* last_editor_ = nullptr;  // of a plugin, in the present round
  std::vector<StageTime> times_;
};

}  // namespace ge

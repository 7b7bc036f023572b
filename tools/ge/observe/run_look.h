// RunLook: what `ge run` looks at beside the results: a trace of the load, the planning and the
// runs, times of nodes, values that stop a run. Without a wish for any it does nothing, and runs
// are plain runs. One thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ge/base/clock.h"
#include "ge/session/run_watch.h"
#include "ge/session/session.h"
#include "tools/ge/command.h"
#include "tools/ge/observe/profile.h"
#include "tools/ge/observe/run_times.h"
#include "tools/ge/observe/trace.h"
#include "tools/ge/observe/value_watch.h"

namespace ge::tool {

class RunLook : public RunWatch {
 public:
  // `o` outlives it.
  RunLook(const Options& o, const LookOptions& look) : o_(o), options_(look) {}
  // Before any work: whether conditions are right and the files can be written. Makes the session
  // tell of its stages.
  Status Begin(SessionOptions* session);
  // Does a part of the work before the runs.
  template <typename Do>
  auto Stage(const char* name, Do work) {
    const double begin = NowMs();
    auto result = work();
    stages_.push_back({name, begin, NowMs() - begin});
    return result;
  }
  // Of the run that begins now; null where nobody looks.
  Result<RunWatch*> NextRun(Session* session);
  // It has ended so.
  Status RunEnded(const Status& run);
  // The watch that has stopped a run; null where none has.
  const ValueWatch* stopped() const { return stopped_ ? watch_.get() : nullptr; }
  // Behind all runs: writes the files.
  Status Finish();
  bool profiled() const { return options_.profile; }
  Profile MakeProfile() const { return ProfileOf(runs_); }
  // Lets go of plans, which the session that made them outlives.
  class OfSession {
   public:
    explicit OfSession(RunLook* look) : look_(look) {}
    ~OfSession();
    OfSession(const OfSession&) = delete;
    OfSession& operator=(const OfSession&) = delete;

   private:
    RunLook* look_;
  };

  RunObserver* Whole(const std::shared_ptr<Compiled>& plan,
                     std::span<const TensorView> inputs) override;
  void PiecesBegin(const Entry&, std::span<const FlowValue>, std::span<const StateId>,
                   std::span<const FlowValue>) override {}
  RunObserver* PieceBegins(const std::shared_ptr<Compiled>& piece,
                           std::span<const TensorView> inputs) override;
  void PieceEnds(const Status& run, std::span<const TensorView> outputs) override;
  void PiecesEnd(std::span<const FlowValue>, std::span<const StateId>,
                 std::span<const void* const>) override {}

 private:
  bool on() const { return !options_.trace.empty() || options_.profile; }
  Status BeginWatch(SessionOptions* session);

  const Options& o_;
  const LookOptions options_;
  WatchConditions conditions_;
  std::unique_ptr<ValueWatch> watch_;  // of the last run
  bool stopped_ = false;
  std::vector<StageSpan> stages_;
  std::vector<ObservedRun> runs_;
  std::optional<ObservedRun> run_;  // that goes on
  std::optional<RunTimes> times_;   // of its plan that runs now
};

}  // namespace ge::tool

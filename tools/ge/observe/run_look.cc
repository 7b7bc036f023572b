#include "tools/ge/observe/run_look.h"

#include <utility>

#include "ge/base/replace_file.h"

namespace ge::tool {

Status RunLook::BeginWatch(SessionOptions* session) {
  if (on()) {
    return Status(Code::kInvalidArgument,
                  "--watch slows the runs that --trace and --profile would time; ask for it alone");
  }
  GE_ASSIGN_OR_RETURN(conditions_, WatchConditions::Parse(options_.watch));
  session->build.keep_graph = true;
  session->keep_edits = true;
  return CheckReplaceable(options_.watch_file);
}

Status RunLook::Begin(SessionOptions* session) {
  if (!options_.watch.empty()) return BeginWatch(session);
  if (options_.profile) session->build.keep_graph = true;  // what its nodes do
  if (options_.trace.empty()) return {};
  session->build.runner.timed = [this](const std::string& name, double begin_ms, double ms) {
    stages_.push_back({name, begin_ms, ms});
  };
  return CheckReplaceable(options_.trace);
}

Result<RunWatch*> RunLook::NextRun(Session* session) {
  if (!options_.watch.empty()) {
    watch_.reset();
    GE_ASSIGN_OR_RETURN(watch_, ValueWatch::Begin(session, o_, conditions_));
    return static_cast<RunWatch*>(watch_.get());
  }
  if (!on()) return static_cast<RunWatch*>(nullptr);
  times_.reset();
  run_.emplace();
  run_->begin_ns = RunClock::Now();
  return static_cast<RunWatch*>(this);
}

Status RunLook::RunEnded(const Status& run) {
  if (watch_ != nullptr) {
    GE_ASSIGN_OR_RETURN(stopped_, watch_->Ended(run));
  }
  if (!run_ || !run.ok()) return run;
  if (times_) run_->plans.push_back(times_->Take());
  times_.reset();
  run_->end_ns = RunClock::Now();
  runs_.push_back(*std::move(run_));
  run_.reset();
  return {};
}

RunObserver* RunLook::Whole(const std::shared_ptr<Compiled>& plan, std::span<const TensorView>) {
  return &times_.emplace(plan);
}

RunObserver* RunLook::PieceBegins(const std::shared_ptr<Compiled>& piece,
                                  std::span<const TensorView>) {
  return &times_.emplace(piece);
}

void RunLook::PieceEnds(const Status&, std::span<const TensorView>) {
  run_->plans.push_back(times_->Take());
  times_.reset();
}

Status RunLook::Finish() {
  if (options_.trace.empty()) return {};
  return WriteTrace(options_.trace, stages_, runs_);
}

RunLook::OfSession::~OfSession() {
  look_->runs_.clear();
  look_->run_.reset();
  look_->times_.reset();
  look_->watch_.reset();
}

}  // namespace ge::tool

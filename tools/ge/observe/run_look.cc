#include "tools/ge/observe/run_look.h"

#include <utility>

#include "ge/base/replace_file.h"

namespace ge::tool {

Status RunLook::Begin(SessionOptions* session) {
  if (options_.profile) session->build.keep_graph = true;  // what its nodes do
  if (options_.trace.empty()) return {};
  session->build.runner.timed = [this](const std::string& name, double begin_ms, double ms) {
    stages_.push_back({name, begin_ms, ms});
  };
  return CheckReplaceable(options_.trace);
}

RunWatch* RunLook::NextRun() {
  if (!on()) return nullptr;
  times_.reset();
  run_.emplace();
  run_->begin_ns = RunClock::Now();
  return this;
}

void RunLook::RunEnded() {
  if (!run_) return;
  if (times_) run_->plans.push_back(times_->Take());
  times_.reset();
  run_->end_ns = RunClock::Now();
  runs_.push_back(*std::move(run_));
  run_.reset();
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
}

}  // namespace ge::tool

// The smallest part of a recorded run's model that fails as the whole does. Every trial has a
// process of its own; the caller must have made no session. Writes nothing but what --check is
// given.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/ge/capsule/piece.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/capsule/reduce/failure.h"
#include "tools/ge/capsule/reduce/model_part.h"
#include "tools/ge/command.h"

namespace ge::tool {

struct ReductionProgress {
  uint64_t trials = 0;
  size_t nodes_before = 0, nodes = 0;
  double seconds = 0;
};

class Reduction {
 public:
  // `files`: a folder for what --check is given. `tell`: called after each trial.
  Reduction(const Recorded& r, const Options& options, std::string files,
            std::function<void(const ReductionProgress&)> tell);

  // Whether the whole model fails. An error where nothing can be said: no engine, no such option.
  Result<bool> Fails();
  // Then: searches until the time is over.
  void Search();
  // Writes the smallest part for which `write` and `again` hold: a file, and the same failure of
  // what is read back from it.
  using Writer = std::function<Status(const Piece&)>;
  using Again = std::function<Result<Failure>()>;
  Result<bool> WriteSmallest(const Writer& write, const Again& again);

  const Failure& failure() const { return best_failure_; }
  const ModelPart& smallest() const { return best_; }
  const ReductionProgress& progress() const { return progress_; }
  bool in_time() const { return in_time_; }
  const Options& engine_options() const { return engines_; }
  double bound() const { return bound_; }
  // The node that makes the first wrong value, or the only node left; empty: it cannot be told.
  std::string FailingNode() const;

 private:
  Status KnowValues();
  void TakeRecordedValues();
  Result<Failure> TryWhole();
  Result<Failure> Try(const ModelPart& part);
  std::optional<std::vector<ValueId>> Test(const NodeChoice& choice);
  double LimitOfTrial() const;
  void Tell(size_t nodes);

  const Recorded& r_;
  const Options& options_;
  Options engines_;  // those of the trials
  const std::string files_;
  const std::function<void(const ReductionProgress&)> tell_;
  const double began_ms_;
  Graph graph_;
  std::vector<FlowValue> inputs_, values_;
  std::optional<KnownModel> model_;
  double bound_ = 0, longest_ms_ = 0;
  Failure first_;
  std::vector<NodeChoice> failed_;  // each smaller than the one before
  ModelPart best_;
  Failure best_failure_;
  ReductionProgress progress_;
  bool in_time_ = true;
};

// What the files of a part hold: its values are right ones.
Piece PieceOf(const ModelPart& part, std::string engine);
// As -o is called: a capsule, a case or an ONNX model.
Status WritePart(const std::string& path, const Recorded& r, const Piece& piece);

}  // namespace ge::tool

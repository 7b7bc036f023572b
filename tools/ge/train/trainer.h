// Trainer: the loop of a training run, from its first step or from a checkpoint to its last. One
// thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/ge/train/checkpoint.h"
#include "tools/ge/train/journal.h"
#include "tools/ge/train/train.h"
#include "tools/ge/train/train_data.h"
#include "tools/ge/train/trained_export.h"

namespace ge::tool {

// Destinations of a run's results; all were found to be writable.
struct TrainTargets {
  std::unique_ptr<Checkpoint> checkpoint;  // null = none is kept
  std::unique_ptr<TrainedExport> trained;  // null = no export
  Journal journal;
};

class Trainer {
 public:
  // `pass`: its options. `options` outlives it.
  Trainer(const TrainOptions& options, std::string pass, std::unique_ptr<TrainData> data,
          TrainedNet net, TrainTargets to);
  ~Trainer();
  Status Run();
  // Whether Run failed because a loss or a weight was no number: an error of the
  // run.
  bool diverged() const { return diverged_; }

 private:
  Status Begin();
  void TakeFacts();
  Status CompareRanks();
  Status Resume();
  Status Epoch(uint64_t epoch);
  Status Step(uint64_t epoch);
  Status Test();
  Status Save();
  Status End();
  bool WantsStates() const;
  Status CheckLoss(double loss, const std::string& what);
  Status CheckStates();
  Status Diverged(const std::string& what);
  RunProgress Now(uint64_t epoch) const;
  std::optional<double> Accuracy() const;

  const TrainOptions& o_;
  std::string pass_;
  std::unique_ptr<TrainData> data_;
  TrainedNet net_;
  TrainTargets to_;
  RunFacts run_;
  std::set<std::string> not_finite_;  // states that began so
  uint64_t per_epoch_ = 0, steps_ = 0, began_at_ = 0, saved_at_ = UINT64_MAX,
           tested_at_ = UINT64_MAX, checked_at_ = UINT64_MAX;
  Progress at_;
  std::vector<double> step_ms_;
  double train_loss_ = 0;
  std::optional<double> train_accuracy_, test_loss_, test_accuracy_;
  bool diverged_ = false;
};

}  // namespace ge::tool

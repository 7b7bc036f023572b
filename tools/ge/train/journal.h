// Journal: all output of a training run while it goes: a bar on a terminal, lines, JSON,
// TensorBoard's events, a .csv and the curves of the plot. One thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "tools/ge/progress_line.h"
#include "tools/ge/train/chart.h"
#include "tools/ge/train/csv_log.h"
#include "tools/ge/train/events.h"
#include "tools/ge/train/train.h"
#include "tools/ge/train/trained_net.h"

namespace ge::tool {

struct RunProgress {  // in a run, after a step
  uint64_t step = 0, steps = 0, epoch = 0, epochs = 0;
  double steps_per_s = 0;
};

class Journal {
 public:
  // Before the work: tests that all outputs are writable.
  static Result<Journal> Open(const TrainOptions& o);
  // At the run's beginning: the step to resume from, 0 for a new run.
  Status Begin(uint64_t step);
  Status Step(const RunProgress& at, const Metrics& metrics, int64_t batch);
  Status Tested(const RunProgress& at, double loss, std::optional<double> accuracy);
  // states: for histograms.
  Status Epoch(const RunProgress& at, double loss, std::optional<double> accuracy,
               const std::vector<Tensor>& states);
  Status Finish(const nlohmann::json& last, bool json);

 private:
  void Bar(const RunProgress& at, const Metrics& metrics);

  bool json_ = false;
  bool silent_ = false;  // another rank prints
  ProgressLine line_;
  std::string plot_;
  std::optional<Events> events_;
  std::optional<CsvLog> csv_;
  Curves curves_;
  std::optional<double> tested_loss_, tested_accuracy_;  // latest
};

}  // namespace ge::tool

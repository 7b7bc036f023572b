// TrainData: the rows that a net is trained on and tested with, as batches of a pipe's entries
// `data` and `data_test`. A place in the data is a number, the position of a row, so a resumed run
// makes the batches that it would have had. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ge/batches/batches.h"
#include "tools/ge/data/data.h"
#include "tools/ge/samples/net_columns.h"
#include "tools/ge/train/train.h"

namespace ge::tool {

class TrainData {
 public:
  // Opens the pipes, and finds the column of each input. Errors name files, columns and steps.
  static Result<std::unique_ptr<TrainData>> Open(const TrainOptions& o, const NetInputs& inputs);

  uint64_t rows() const { return static_cast<uint64_t>(facts_.rows); }
  uint64_t test_rows() const { return test_rows_; }  // 0 = nothing to test with
  const std::string& digest() const { return facts_.digest; }

  // Batches to train on, without end, from the row at this position on: this rank's rows.
  Status Begin(uint64_t position);
  Result<std::shared_ptr<const Batch>> Next() { return batches_->Next(); }
  const NetColumns& columns() const { return *columns_; }
  double waited_ms() const {
    return batches_ ? static_cast<double>(batches_->waited_ns()) / 1e6 : 0;
  }

  // The rows to test with, in order, the last batch as short as it is.
  Result<std::unique_ptr<Batches>> TestBatches();
  const NetColumns& test_columns() const { return *test_columns_; }

 private:
  explicit TrainData(SignalledSession session) : session_(std::move(session)) {}
  Status FindTest(const TrainOptions& o, const NetInputs& inputs);

  SignalledSession session_;
  PipeFacts facts_;
  uint64_t test_rows_ = 0;
  BatchesOptions options_;
  uint64_t test_run_ = 0;  // rows a run of the test before, so that plans are made once
  std::optional<NetColumns> columns_, test_columns_;
  Ranks ranks_;
  std::unique_ptr<Batches> batches_;
};

}  // namespace ge::tool

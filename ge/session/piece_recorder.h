// PieceRecorder: the pieces of a run and their executions as members of a capsule. One run; one
// thread.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/pieces.h"
#include "ge/capsule/statistics.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/run/observer.h"
#include "ge/run/tensor_view.h"
#include "ge/session/observed_values.h"
#include "ge/session/recorder.h"
#include "ge/session/value_members.h"

namespace ge {

class PieceRecorder : public RunObserver {
 public:
  PieceRecorder(CapsuleWriter* writer, GraphMembers* graphs, ValueMembers* tensors,
                RecordedValues values)
      : writer_(*writer), graphs_(*graphs), tensors_(*tensors), values_(values) {}
  // The piece, where it is new, and what it reads; before it runs. This is the observer.
  Status Begin(const std::shared_ptr<Compiled>& piece, std::span<const TensorView> inputs);
  // What the execution begun last has made.
  Status End(std::span<const TensorView> outputs);
  size_t executions() const { return executions_; }
  uint64_t values() const { return count_; }  // that were shown
  uint64_t left_out() const;

  void AfterStep(uint32_t index, uint32_t step, const ge_launch& launch) override;
  void After(uint32_t index, std::span<const ge_buf> written, bool queued) override;

 private:
  struct Known {
    uint32_t number = 0;
    std::unique_ptr<ObservedValues> observed;  // null: its values are not wanted, or have no names
    std::vector<int64_t> places;  // by position in observed->list(): in the execution's, or -1
  };
  Result<Known*> Know(const std::shared_ptr<Compiled>& piece);
  void ListOutputs(const Compiled& piece, size_t execution);
  void ListValues(const Compiled& piece, size_t execution);
  void Take(size_t index, std::span<const std::byte> bytes);

  CapsuleWriter& writer_;
  GraphMembers& graphs_;
  ValueMembers& tensors_;
  const RecordedValues values_;
  std::map<std::shared_ptr<Compiled>, Known> known_;
  Known* of_ = nullptr;  // the current execution
  CapsuleExecution current_;
  std::vector<TensorStatistics> statistics_;  // of it
  size_t executions_ = 0;
  uint64_t count_ = 0;
  Status status_;
  const ObservedValues::Take take_ = [this](size_t index, std::span<const std::byte> bytes) {
    Take(index, bytes);
  };
};

}  // namespace ge

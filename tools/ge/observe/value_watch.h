// ValueWatch: looks at the values of one run and stops it behind the first one that meets a
// condition. It records the run all along, so that the stopped one is on disk and none is repeated;
// the file has its name only after a stop. Called by the thread of the run; the session outlives
// it.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ge/session/observed_values.h"
#include "ge/session/recorder.h"
#include "tools/ge/command.h"
#include "tools/ge/observe/watch_conditions.h"

namespace ge::tool {

// What stopped a run.
struct WatchedHit {
  std::string node, value;  // by the model's names
  // The value is an input of the node, and the step's result does not show what became of it.
  bool hidden = false;
  std::vector<std::string> parts;  // the model's nodes that became this one, where they are several
  std::vector<std::string> beside;  // the other nodes of the same step
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  WatchedElement element;
  TensorStatistics statistics;
  struct Input {
    std::string name;
    DType dtype = DType::kUndefined;
    std::vector<int64_t> dims;
    std::optional<TensorStatistics> statistics;  // none where the run does not show it
  };
  std::vector<Input> inputs;  // of the node
};

class ValueWatch : public RunWatch, public RunObserver {
 public:
  // Begins to record. `o`: conditions' file, seed, flags of sessions.
  static Result<std::unique_ptr<ValueWatch>> Begin(Session* session, const Options& o,
                                                   const WatchConditions& conditions);
  ~ValueWatch() override;

  // The run has ended so: true where this has stopped it. Then the file has its name.
  Result<bool> Ended(const Status& run);
  const WatchedHit& hit() const { return *hit_; }

  RunObserver* Whole(const std::shared_ptr<Compiled>& plan,
                     std::span<const TensorView> inputs) override;
  void PiecesBegin(const Entry& entry, std::span<const FlowValue> inputs,
                   std::span<const StateId> states, std::span<const FlowValue> values) override;
  RunObserver* PieceBegins(const std::shared_ptr<Compiled>& piece,
                           std::span<const TensorView> inputs) override;
  void PieceEnds(const Status& run, std::span<const TensorView> outputs) override;
  void PiecesEnd(std::span<const FlowValue> results, std::span<const StateId> states,
                 std::span<const void* const> values) override;
  void Begin(std::span<const void* const> states) override;
  void End(std::span<void* const> states) override;
  void After(uint32_t index, std::span<const ge_buf> written, bool queued) override;
  void AfterStep(uint32_t index, uint32_t step, const ge_launch& launch) override;

 private:
  ValueWatch(Session* session, const Options& o, const WatchConditions& conditions);
  RunObserver* LookAt(const std::shared_ptr<Compiled>& plan, std::span<const TensorView> inputs,
                      RunObserver* recorder);
  void Look(size_t index, std::span<const std::byte> bytes);
  // Of a step that shows the value and none that meets a condition: an input of its other nodes
  // that makes their result NaN.
  void LookAtInputs(size_t index);
  void Stop(size_t index, const std::string& value, const TensorView& tensor,
            const WatchedElement& element);
  void DescribeNode(const Node& node);
  // Of the nodes of a step that show one value alone, the first whose own result meets a
  // condition, as the reference makes it of the recorded values.
  void FindNode();

  Session& session_;
  const Options& options_;
  const WatchConditions conditions_;
  const std::string part_;  // the file while the run goes on
  std::unique_ptr<RunRecorder> recorder_;
  RunObserver* recording_ = nullptr;  // of the plan that runs now
  std::shared_ptr<Compiled> plan_;
  std::unique_ptr<ObservedValues> values_;
  std::map<ValueId, TensorStatistics> seen_;  // of the plan's values so far
  std::map<ValueId, TensorView> given_;       // of its inputs
  const ObservedValues::Take take_ = [this](size_t index, std::span<const std::byte> bytes) {
    Look(index, bytes);
  };
  std::optional<WatchedHit> hit_;
  uint32_t instruction_ = 0;        // that made the hit
  std::vector<NodeId> step_nodes_;  // of its step, more than one
  bool in_pieces_ = false;
};

nlohmann::json HitJson(const WatchedHit& hit, const std::string& capsule);
void PrintHit(const WatchedHit& hit, const std::string& capsule);

}  // namespace ge::tool

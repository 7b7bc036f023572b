// Flow: runs a function that one plan cannot hold: control flow, sequences, strings, and
// data-dependent shapes. It cuts the function (cut.h), has each piece planned for the shapes at
// hand, remembers the pieces, runs them one after the other, and executes the host's nodes between
// them. A second run of the same shapes finds every piece made. It knows no engine and no stage:
// planning, inferring and running a plan are hooks. Run is thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ge/control/cut.h"
#include "ge/control/host_op.h"
#include "ge/run/tensor_view.h"

namespace ge {

// A plan made by the planner hook, ready to run.
class FlowPlan {
 public:
  struct Port {
    DType dtype = DType::kUndefined;
    FlowDims dims;
  };
  // Of tensors only data and bytes are given.
  using RunHook = std::function<Status(std::span<const TensorView>, std::span<TensorView>)>;
  // Called behind a run that failed; none = nobody.
  using FailedHook =
      std::function<void(std::span<const FlowValue* const> in, std::span<const FlowValue> out)>;
  FlowPlan(std::vector<Port> ports, RunHook run, std::function<uint64_t()> bytes_held,
           FailedHook failed = {})
      : results(std::move(ports)),
        run_(std::move(run)),
        bytes_held_(std::move(bytes_held)),
        failed_(std::move(failed)) {}
  // Gives results their dims and memory.
  Status Run(std::span<const FlowValue* const> in, std::span<FlowValue> out) const;
  // Bytes held now: arenas, packed weights.
  uint64_t BytesHeld() const { return bytes_held_(); }
  const std::vector<Port> results;

 private:
  const RunHook run_;
  const std::function<uint64_t()> bytes_held_;
  const FailedHook failed_;
};

// A piece to plan. The graphs of one cut differ in types and in the contents of constants
// alone.
struct FlowPlanned {
  Graph graph;  // has one entry, all of whose shapes are known
  FunctionId fn = 0;
  uint64_t cut = 0;
};

struct FlowHooks {
  InferHook infer;
  std::function<Result<std::shared_ptr<FlowPlan>>(FlowPlanned)> plan;
  // Bytes that the values of a run with these arguments may take; none = no limit.
  std::function<uint64_t(std::span<const FlowValue> args)> memory_limit = {};
};

class FlowFunction;
class FlowPoint;
class FlowRun;
struct FlowActivation;

class Flow {
 public:
  // The graph is inferred and rewritten, and outlives this. Where plans hold more than `max_bytes`,
  // the oldest of a point give way to the new one.
  Flow(const Graph& graph, FlowHooks hooks, uint64_t max_bytes);
  ~Flow();
  // `results` get a value for each result of the function.
  Status Run(FunctionId fn, std::span<const FlowValue> args, std::vector<FlowValue>* results);
  // Plans made so far, for reports.
  uint32_t plans() const { return plans_.load(std::memory_order_relaxed); }
  // Pieces evicted for others.
  uint64_t evicted() const { return evicted_.load(std::memory_order_relaxed); }
  // Cuts made so far; most pieces use a cut made before.
  uint32_t cuts() const { return cuts_.load(std::memory_order_relaxed); }

 private:
  friend class FlowFunction;
  friend class FlowPoint;
  friend class FlowRun;
  FlowFunction* At(FunctionId fn);
  // A constant of the graph as a value; stays.
  Result<const FlowValue*> ConstantOf(ConstId c);
  // Makes a plan and counts it.
  Result<std::shared_ptr<FlowPlan>> MakePlan(FlowPlanned planned);
  bool IsFull();  // Whether the plans together exceed their limit.
  const Graph& graph_;
  const FlowHooks hooks_;
  const uint64_t max_bytes_;
  std::mutex mutex_;                           // of what follows up to idle_
  std::vector<std::weak_ptr<FlowPlan>> held_;  // existing ones, and some former ones
  size_t uncounted_ = 0;                       // plans since the last count of all bytes
  bool full_ = false;                          // as it was then
  std::map<FunctionId, std::unique_ptr<FlowFunction>> functions_;
  std::map<ConstId, FlowValue> constants_;      // that the host reads
  std::vector<std::unique_ptr<FlowRun>> idle_;  // with the memory of the run that each did last
  std::atomic<uint32_t> plans_{0}, cuts_{0};
  std::atomic<uint64_t> evicted_{0};
};

// Buffers that loops keep between their trips; see control.cc.
struct ControlScratch;
struct DeleteScratch {
  void operator()(ControlScratch* scratch) const;
};

// One run, and after it the next: state shared by the activations of its functions. Used by one
// thread at a time. A failed run is dropped.
class FlowRun {
 public:
  explicit FlowRun(Flow* flow);
  ~FlowRun();
  // Calls a function; `results` may be the storage of earlier results, which is used again.
  Status Call(FunctionId fn, std::span<const FlowValue* const> args,
              std::vector<FlowValue>* results);
  FlowPool& pool() { return pool_; }
  std::vector<std::unique_ptr<ControlScratch, DeleteScratch>>& scratch() { return scratch_; }

 private:
  friend class FlowFunction;
  std::unique_ptr<FlowActivation> Take(FunctionId fn);
  Flow& flow_;
  FlowPool pool_;
  std::vector<std::unique_ptr<ControlScratch, DeleteScratch>> scratch_;  // that no loop uses now
  std::map<FunctionId, std::vector<std::unique_ptr<FlowActivation>>> idle_;
  int depth_ = 0;
};

// Runs If, Loop or Scan; outputs are set by position. `types` give their types as far as known
// before: the outputs of a loop without a trip. Calls and Ifs need none.
Status RunControl(FlowRun* run, const HostStep& step, std::span<const Type> types,
                  std::span<const FlowValue* const> inputs, std::vector<FlowValue>* outputs);

}  // namespace ge

// Session: one model, the engines that may run it, and its compiled plans. The only class that
// drives every stage. ge.h is a thin C interface to it; tools and tests use it directly. Run and
// the inspecting calls are thread-safe; Load and destruction need the session alone. A run of a
// known shape with the caller's own buffers allocates nothing.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "frontend/load.h"
#include "ge/base/calls.h"
#include "ge/base/clock.h"
#include "ge/base/float_mode.h"
#include "ge/base/status.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/compile/classes/shape_class.h"
#include "ge/compile/compiled/check_buffers.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/compile/compiled/kv_caches.h"
#include "ge/compile/compiled/plan_cache.h"
#include "ge/compile/rewrite/rewriter.h"
#include "ge/compile/states/lift_states.h"
#include "ge/host/host_load.h"
#include "ge/run/state_store.h"
#include "ge/run/tensor_view.h"
#include "ge/runtime/runtime.h"
#include "ge/session/part_bound.h"
#include "ge/session/piece_programs.h"

namespace ge {

struct SessionOptions {
  std::shared_ptr<Runtime> runtime;         // null = the process's own
  std::vector<EngineSpec> engines;          // empty = every engine found, without options
  Denormals denormals = Denormals::kFlush;  // of all runs, and of constants folded at load
  Numerics numerics = Numerics::kFast;
  Precision precision = Precision::kF32;
  ProcessFacts process;
  uint64_t plan_cache_bytes = uint64_t{1} << 30;
  uint64_t time_limit_ms = 0;  // of each load, compile and run; 0 = none
  std::set<std::string> skip_passes;
  std::string plugins;              // plugins with operators and passes, "acme_ops,./mine.so"
  std::vector<PassRequest> passes;  // passes to run on request, and options of any
  LoadOptions load;
  bool strict_dims = false;  // refuses inputs with two sizes of one dim, instead of a warning
  int64_t kv_cache = 0;      // first capacity of caches for a model's past; 0 = they stay inputs
  BuildOptions build;
  bool strict = false;      // refuses a compiled model that does not fit, instead of a warning
  bool keep_edits = false;  // the graphs after passes, for records of runs
  std::shared_ptr<SharedStates> states;  // the model's states are these; null: its own
  // The placement of pieces known by their key (bound_key.h); null: prices decide all.
  std::function<void(const std::string& key, PlaceOptions* place)> place_piece;
};

class CompiledFile;
struct CompiledPlan;
struct PlanToSave;
class Flow;
class FlowPlan;
class Observation;
class RunWatch;
struct ObserveOptions;
struct PluginPass;
struct FlowValue;
struct KeptRun;

class Session {
 public:
  static Result<std::unique_ptr<Session>> Create(SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Each long call below is registered here: it can be cancelled and obeys the session's time
  // limit. Calls beginning within one belong to it.
  Calls& calls() { return calls_; }
  Status LoadFile(const std::string& path, Format format = Format::kAuto);
  Status LoadBytes(std::string bytes, Format format = Format::kAuto);
  Status LoadGraph(Graph graph);

  const SessionOptions& options() const { return options_; }
  // The file of the model, without its folder; empty where it came as bytes or a graph.
  const std::string& model_name() const { return model_name_; }
  // With SessionOptions::keep_edits, after passes of the load.
  const std::vector<EditedGraph>& load_edits() const { return load_edits_; }
  Runtime& runtime() { return *options_.runtime; }
  bool loaded() const { return loaded_; }
  const Graph& graph() const { return graph_; }  // after rewrite
  const Graph& loaded_graph() const { return loaded_graph_; }
  // All of them: those that a compiled model has left closed are opened. FAILED_PRECONDITION where
  // there are none.
  Result<const EngineList*> Engines();
  // Of those that are open now.
  std::vector<std::string> OpenEngineNames() const;
  const std::vector<StageTime>& times() const { return times_; }
  double load_ms() const { return load_ms_; }
  uint64_t weight_bytes() const { return weight_bytes_; }
  // Initializers that a caller may override, by LoadOptions::initializer_inputs.
  const std::vector<DefaultInput>& defaults() const { return defaults_; }
  const PortWords& words() const { return words_; }
  // `name` empty = the first entry. INVALID_ARGUMENT listing the present names.
  Result<const Entry*> FindEntry(std::string_view name) const { return EntryOf(graph_, name); }

  // The plan for these input shapes: cached, or made now.
  Result<std::shared_ptr<Compiled>> Compile(std::string_view entry,
                                            std::span<const TensorView> inputs);
  // Compiles ahead of the runs. Only checks entries planned piece by piece.
  Status PlanAhead(std::string_view entry, std::span<const TensorView> inputs);
  // A plan of its own made with `build` instead of the session's options, to compare or inspect;
  // not kept, and Latest does not answer it. With build.stop_after it may be unfinished.
  Result<std::shared_ptr<Compiled>> CompileApart(std::string_view entry,
                                                 std::span<const TensorView> inputs,
                                                 const BuildOptions& build);
  // Runs such a finished plan; every output has its data. `observer`, if any, is told of the run's
  // instructions.
  Status RunApart(Compiled* compiled, std::span<const TensorView> inputs,
                  std::span<TensorView> outputs, RunObserver* observer = nullptr);
  // Searches for a plan to save, whatever plans of other shapes there are.
  Result<std::shared_ptr<Compiled>> CompileToSave(std::string_view entry,
                                                  std::span<const TensorView> inputs);
  // Writes the rewritten graph and the plans so far as a compiled model; compiled_file.h.
  // FAILED_PRECONDITION where there are none.
  Status SaveCompiled(const std::string& path);
  // The pieces that were planned and are still held, with graphs where BuildOptions::keep_graph.
  std::vector<PlanToSave> PiecesToSave();
  // What of a compiled model does not fit this session; empty where all does.
  const std::string& misfit() const { return misfit_; }
  const BuildOptions& build_options() const { return options_.build; }
  // outputs[i].data null: allocated with AllocateAligned and owned by the caller from then on; see
  // TensorView::owned. Fills dtype, dims and bytes of every output.
  Status Run(std::string_view entry, std::span<const TensorView> inputs,
             std::span<TensorView> outputs);

  // Runs a plan given by Compile for these inputs, on buffers accepted by CheckBuffers, all of them
  // given. Not where states grow.
  Status RunChecked(std::string_view entry, const std::shared_ptr<Compiled>& compiled,
                    std::span<const TensorView> inputs, std::span<TensorView> outputs);
  // Changes when a plan given by Compile before may have been replaced.
  uint64_t plan_changes() const { return plans_.changes(); }
  int64_t kv_capacity() const { return caches_.capacity(); }  // rows; 0: no state grows
  bool states_grow() const { return !caches_.empty(); }

  // The same as Run and RunValues, each told to `watch`, and recorded by no observation.
  Status RunWatched(std::string_view entry, std::span<const TensorView> inputs,
                    std::span<TensorView> outputs, RunWatch* watch);
  Status RunValuesWatched(std::string_view entry, std::span<const FlowValue> inputs,
                          std::vector<FlowValue>* outputs, RunWatch* watch);
  // From now on runs are recorded; null: no longer. See observation.h.
  Status Observe(const ObserveOptions* options);
  // The graph of a plan for these inputs, which it may not have kept.
  Result<Graph> GraphOfPlan(std::string_view entry, std::span<const TensorView> inputs,
                            const Compiled& plan);

  // Runs on any values, sequences and strings too, planned piece by piece.
  Status RunValues(std::string_view entry, std::span<const FlowValue> inputs,
                   std::vector<FlowValue>* outputs);

  // States by Graph::states index, from 1. A cancel ends waits for others and for devices.
  Status GetState(StateId id, TensorView* out) {
    const CancelScope call(&calls_);
    return states_.Get(graph_.states[id], id, out);
  }
  Status SetState(StateId id, const TensorView& value) {
    const CancelScope call(&calls_);
    return states_.Set(graph_.states[id], id, graph_.dims, value);
  }
  StateStore& states() { return states_; }
  // The last used plan of this entry; null when there is none.
  std::shared_ptr<Compiled> Latest(std::string_view entry);
  // Text of the graph or plan after a stage. From bind on, `inputs` gives the shapes; for an entry
  // that RunsInPieces, stages after bind show the finished plans made by its runs.
  Result<std::string> DumpText(std::string_view entry, StageId stage,
                               std::span<const TensorView> inputs);
  // Stores the prices learned from the runs so far in the price cache; the destructor does it too.
  void SavePrices();
  // Times the engines on a sample of work and keeps the results; see probe_engines.h. Needs no
  // model.
  Result<MeasureReport> Tune(double budget_ms);
  // The known prices; null where there are none and none would be kept.
  const PriceCache* price_cache() const { return price_cache_.get(); }
  uint32_t replans() const { return replans_.load(std::memory_order_relaxed); }
  // Whether Run plans the entry piece by piece; known once Compile has refused it or it ran so.
  bool RunsInPieces(std::string_view entry) { return FlowEntry(entry) != nullptr; }
  // Runs that were repeated without a device that was lost under them.
  uint64_t repeated_runs() const { return repeated_runs_.load(std::memory_order_relaxed); }
  // The living plans of pieces of control flow, in order of their making.
  std::vector<std::shared_ptr<Compiled>> Pieces();
  // Evicted plans of all entries; see SessionOptions::plan_cache_bytes.
  uint64_t EvictedPlans();
  // How often control flow was cut into pieces; most pieces of further shapes need no cut.
  uint64_t FlowCuts();
  // One JSON object about the entry's latest plan, or about all pieces planned so far; see ge.h.
  Result<std::string> ReportJson(std::string_view entry);

 private:
  explicit Session(SessionOptions options);
  template <typename Read>
  Status LoadBy(Read read);
  // Opens all engines, reads prices and makes the passes; once. The caller has the session alone or
  // holds compile_mutex_.
  Status OpenEngines();
  // Opens those that the plans of the compiled model name; all where these are not enough, as they
  // are where one brings operators.
  Status OpenPlanEngines();
  // Of saved plans.
  const EngineList& plan_engines() const {
    return plan_engines_.empty() ? engines_ : plan_engines_;
  }
  void StartPricing();
  void StartRewriting(std::vector<std::shared_ptr<const PluginPass>> plugins);
  // With PriceMode::kMeasure: the fastest plan in whole runs; see rehearse.h. On the caller's
  // inputs where there are any, else on made-up ones.
  std::shared_ptr<Compiled> RehearsePlans(const Entry& entry, std::span<const TensorView> inputs,
                                          std::shared_ptr<Compiled> made);
  void Remember(Compiled* compiled, double observe_budget_ms);
  uint32_t TryRivals(const Compiled& compiled, double budget_ms, double within);
  // After a run: makes another plan for these shapes when this one's time differs from the
  // prediction, or offers that may beat it were timed, and another is clearly cheaper by present
  // prices.
  void ReplanIfSurprised(std::string_view entry, std::span<const TensorView> inputs,
                         const std::shared_ptr<Compiled>& compiled);
  Result<std::string> PiecesText(std::string_view entry);
  Result<std::string> StageText(std::string_view entry, StageId stage,
                                std::span<const TensorView> inputs);
  Status Prepare();  // verify, infer, rewrite, states
  Status PrepareGraph(Graph* graph, std::vector<StageTime>* times);
  // Removes the traces of a failed load; `none` are two empty graphs, made before.
  void ForgetModel(Graph (&none)[2]) noexcept;
  // The graph to bind for these shapes.
  struct Model {
    std::shared_ptr<const Graph> graph;
    bool part = false;  // see part_bound.h
  };
  Result<Model> ModelToBind(const Entry& entry, std::span<const TensorView> inputs);
  // The model, or the one with distinct dims where inputs have two sizes for one name.
  Result<std::shared_ptr<const Graph>> WholeModel(const Entry& entry,
                                                  std::span<const TensorView> inputs);
  // `status` of a bind from that model, or the refusal of the two sizes where it failed.
  Status OfTwoSizes(const Model& from, const Entry& entry, std::span<const TensorView> inputs,
                    Status status);
  Result<Graph> BindAndFold(const Model& from, const Entry& entry,
                            std::span<const TensorView> inputs, std::vector<StageTime>* times);
  // PartBound::Bind, as a stage.
  Result<bool> BindKnown(const Entry& entry, std::span<const TensorView> inputs,
                         ReshapeInputs* reshape, std::vector<StageTime>* times);
  // IO_ERROR where the model's files have changed since the load, for any bytes read of them.
  Result<std::shared_ptr<Compiled>> CompileNew(const Entry& entry,
                                               std::span<const TensorView> inputs,
                                               const BuildOptions& build);
  Result<std::shared_ptr<Compiled>> CompileUnchecked(const Entry& entry,
                                                     std::span<const TensorView> inputs,
                                                     const BuildOptions& build);
  // BuildCompiled, with a plan found by a rehearsal where one is kept.
  Result<std::shared_ptr<Compiled>> BuildOrRecall(Graph bound, FunctionId fn,
                                                  const BuildOptions& build);
  // Compiles for a run with turn->inputs().
  Result<std::shared_ptr<Compiled>> CompileIn(std::string_view entry,
                                              std::span<const TensorView> inputs,
                                              KvCaches::Turn* turn);
  // Of a compiled model: compiled_session.cc.
  Status OpenCompiled(std::shared_ptr<const CapsuleReader> capsule);
  // Entries that run in pieces, without an attempt to plan them whole.
  void KnowFlows();
  Status CheckCompiled(Graph* graph, std::vector<StageTime>* times);
  // The plan that the file has for these inputs; null where it has none. Where it has, and the plan
  // cannot be taken, the file does not fit.
  Result<std::shared_ptr<Compiled>> TakeSaved(const Entry& entry,
                                              std::span<const TensorView> inputs);
  Status PortsOfSaved(const Function& f, const CompiledPlan& plan, const Entry& entry,
                      std::vector<Compiled::Port>* in, std::vector<Compiled::Port>* out) const;
  Result<std::shared_ptr<Compiled>> MakeSaved(const Entry& entry, size_t plan);
  // The plan that the file has for the piece with this ExactKey; null where it has none.
  Result<std::shared_ptr<Compiled>> TakeSavedPiece(const std::string& key);
  // The i-th plan of the file with these ports.
  using PortsOfPlan = std::function<Status(const Function&, std::vector<Compiled::Port>* in,
                                           std::vector<Compiled::Port>* out)>;
  Result<std::shared_ptr<Compiled>> BuildSaved(size_t i, const PortsOfPlan& ports);
  // Takes the entry's other plans, once: shapes that the file does not have are planned like them.
  Status TakeOthers(const Entry& entry);
  // The plan of these inputs, found or made.
  Result<std::shared_ptr<Compiled>> PlanIn(const Entry& entry, std::span<const TensorView> inputs);
  // Makes a finished plan of a bound function, after the passes.
  Result<std::shared_ptr<Compiled>> CompileBound(Graph bound, FunctionId fn,
                                                 const BuildOptions& build);
  // Puts the passes' result for the piece in piece->graph; *reshape gets its inputs.
  Result<std::shared_ptr<FlowPlan>> PlanPiece(FlowPlanned piece, bool by_programs);
  Result<std::shared_ptr<Compiled>> CompilePiece(FlowPlanned piece, bool by_programs);
  Status FoldPiece(FlowPlanned* piece, bool by_programs, ReshapeInputs* reshape);
  Result<std::shared_ptr<Flow>> FlowOf();
  // by_programs: pieces are made by programs of pieces like them.
  std::unique_ptr<Flow> MakeFlow(const Graph& graph, bool by_programs);
  struct DistinctFlow;
  Result<std::shared_ptr<DistinctFlow>> DistinctFlowOf(const std::shared_ptr<const Graph>& model);
  Status RunWithStates(const std::shared_ptr<const Graph>& model, const Entry& entry,
                       const std::vector<FlowValue>& given,
                       const std::function<Status(std::vector<FlowValue>)>& give, RunWatch* watch);
  // A run while an observation is on.
  Status RunObserved(std::string_view entry, std::span<const TensorView> outputs,
                     const std::function<Status(RunWatch*)>& run);
  Status ExecutePiece(const std::shared_ptr<Compiled>& piece, std::span<const TensorView> inputs,
                      std::span<TensorView> outputs);
  Status ObserveAsAsked();  // by GE_OBSERVE
  bool observed() const { return observed_.load(std::memory_order_relaxed); }
  bool watched() const { return observed() || options_.build.keep_graph; }
  // The entry, when it is known to need a flow; else null.
  const Entry* FlowEntry(std::string_view name);
  Result<std::shared_ptr<const Graph>> CheckFlowShapes(const Entry& entry,
                                                       std::span<const TensorView> inputs);
  Status RunFlow(const Entry& entry, std::span<const TensorView> inputs,
                 std::span<TensorView> outputs, RunWatch* watch);
  Status Execute(Compiled* compiled, std::span<const TensorView> inputs,
                 std::span<TensorView> outputs, RunObserver* observer = nullptr,
                 std::shared_ptr<KeptRun>* kept = nullptr);
  Status RunOnce(std::string_view entry, std::span<const TensorView> inputs,
                 std::span<TensorView> outputs, RunWatch* watch, bool* callers_in_use);
  // Runs, and once more where the run failed since a device was lost; see loss.cc. `once` sets its
  // argument where a device may still write to buffers of the caller.
  template <typename Once>
  Status RunDespiteLoss(bool repeats, const Once& once);
  bool MayRepeat(const Status& ran, uint64_t losses);
  static Status NotRepeated(const Status& ran);  // what an observed run answers instead
  void DropLostPlans();
  const EngineList& OpenOnes() const {
    return all_open_.load(std::memory_order_acquire) ? engines_ : plan_engines_;
  }
  bool HasLoss() const;

  SessionOptions options_;
  Calls calls_;
  EngineWords engine_words_;
  EngineList engines_;       // those of plugins' kernels last; none before all_open_
  EngineList plan_engines_;  // of a compiled model that found the others closed, from its load on
  std::atomic<bool> all_open_{false};
  std::shared_ptr<const OpTable> ops_;  // of plugins
  Graph loaded_graph_;                  // as loaded, for dumps; shares payloads with graph_
  Graph graph_;
  std::mutex distinct_mutex_;              // of the two
  std::set<SymbolId> distinct_dims_;       // told apart in the following
  std::shared_ptr<const Graph> distinct_;  // null: no inputs showed any at two sizes
  MappedFiles files_;                      // of its constants
  bool loaded_ = false;
  std::unique_ptr<CompiledFile> compiled_file_;  // null: none, or one that does not fit
  bool compiled_model_ = false;                  // the graph was rewritten when it was saved
  std::string misfit_;
  std::map<size_t, std::shared_ptr<Compiled>> saved_;  // plans of the file that were taken
  std::string model_name_;
  std::vector<EditedGraph> load_edits_;
  const double made_ms_ = NowMs();  // by the clock of NowMs
  double load_ms_ = 0;
  uint64_t weight_bytes_ = 0, import_copied_bytes_ = 0;
  std::vector<DefaultInput> defaults_;
  PortWords words_;  // empty where the model is none of ONNX
  std::vector<StageTime> times_;
  std::unique_ptr<Evaluator> evaluator_;
  std::optional<Rewriter> rewriter_;
  std::shared_ptr<PriceCache> price_cache_;  // the runtime's; null with analytic prices
  LoadWatch load_watch_;                     // since the session began
  std::atomic<uint32_t> replans_{0};
  std::atomic<uint64_t> compiles_{0}, flow_plans_{0};  // plans that were made; those of pieces
  std::atomic<uint64_t> flow_programs_{0};             // of these, without the passes
  std::atomic<uint64_t> placed_[4] = {};               // by Compiled::Placing
  std::atomic<uint64_t> losses_seen_{0}, repeated_runs_{0};  // DeviceLosses::Count
  StateStore states_;
  std::mutex compile_mutex_;  // one plan is made at a time
  PartBound part_bound_;
  PiecePrograms piece_programs_;
  bool whole_binds_ = false;  // part_bound_ is not asked
  PlanCache plans_;
  KvCaches caches_{&states_, &plans_};
  ShapeClasses classes_;
  static constexpr size_t kMaxFlowShapes = 4096;
  std::mutex flow_mutex_;       // of the following
  LiftedGraph lifted_;          // run by flows where there are states
  std::shared_ptr<Flow> flow_;  // made when an entry first needs it, and after a loss
  bool flows_made_ = false;
  std::shared_ptr<DistinctFlow> distinct_flow_;  // the latest of distinct_
  std::vector<std::weak_ptr<Compiled>> pieces_;
  std::atomic<uint64_t> flow_given_bytes_{0};  // the most given to a run
  std::set<const Entry*> flows_;
  std::atomic<bool> has_flows_{false};
  std::set<std::pair<const Entry*, std::vector<std::vector<int64_t>>>> flow_shapes_;  // checked
  std::atomic<bool> observed_{false};
  std::atomic<uint32_t> watched_runs_{0};  // in pieces, that go on now
  std::mutex observation_mutex_;           // of the following
  std::shared_ptr<Observation> observation_;
};

}  // namespace ge

// Entries that one plan cannot hold: Flow runs them, and asks the session for plans of pieces.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ge/base/mapping_faults.h"
#include "ge/compile/compiled/memory_limit.h"
#include "ge/compile/fold/folding.h"
#include "ge/compile/fold/sink_sources.h"
#include "ge/control/flow.h"
#include "ge/control/tensor_values.h"
#include "ge/infer/infer.h"
#include "ge/place/pins.h"
#include "ge/run/tensor_view.h"
#include "ge/session/bound_key.h"
#include "ge/session/loss.h"
#include "ge/session/run_watch.h"
#include "ge/session/session.h"
#include "ge/verify/verify.h"

namespace ge {
namespace {

// Of what a piece folds: loading has folded weights, and what sizes alone decide is made faster by
// each run than once for each piece.
constexpr FoldLimits kFoldOfPiece{4 << 10, /*fills=*/false};
// Runs that are expected of each shape of a piece whose sizes the data decide.
constexpr double kRunsOfDataSizes = 3;

// Of the run in pieces that this thread is in: its plans are called through a flow, which knows no
// watch. Asked only where a run of the session is watched.
thread_local RunWatch* watch_of_thread = nullptr;
// Of a piece that failed on this thread while a device was at work for it.
thread_local std::shared_ptr<KeptRun> kept_of_thread;

// The values of a piece that failed go to the run that is kept, if one is.
void KeepValues(std::span<const FlowValue* const> in, std::span<const FlowValue> out) {
  if (!kept_of_thread) return;
  auto values = std::make_shared<std::vector<FlowValue>>(out.begin(), out.end());
  for (const FlowValue* v : in) values->push_back(*v);
  kept_of_thread->values.push_back(std::move(values));
  kept_of_thread.reset();
}

class WatchScope {
 public:
  WatchScope(RunWatch* watch, std::atomic<uint32_t>* runs) : runs_(watch ? runs : nullptr) {
    if (runs_ == nullptr) return;
    ++*runs_;
    outer_ = std::exchange(watch_of_thread, watch);
  }
  ~WatchScope() {
    if (runs_ == nullptr) return;
    watch_of_thread = outer_;
    --*runs_;
  }
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;

 private:
  std::atomic<uint32_t>* const runs_;
  RunWatch* outer_ = nullptr;
};

}  // namespace

const Entry* Session::FlowEntry(std::string_view name) {
  if (!has_flows_.load(std::memory_order_acquire)) return nullptr;
  const auto entry = FindEntry(name);
  if (!entry.ok()) return nullptr;
  std::lock_guard<std::mutex> lock(flow_mutex_);
  return flows_.count(*entry) != 0 ? *entry : nullptr;
}

// As BindAndFold does it for a part of a model: verified once for each structure.
Status Session::FoldPiece(FlowPlanned* piece, bool by_programs, ReshapeInputs* reshape) {
  std::vector<StageTime> times;  // nobody's: a piece is a part of a run
  if (!by_programs) return rewriter_->Bind(&piece->graph, weight_bytes_, &times, kFoldOfPiece);
  const auto fold = [&](Graph* g) {
    return rewriter_->BindUnverified(g, weight_bytes_, &times, kFoldOfPiece);
  };
  GE_ASSIGN_OR_RETURN(const bool known, piece_programs_.Bind(*piece, fold, reshape));
  if (known) {
    piece->graph = std::move(reshape->graph);
    reshape->graph = {};
    ++flow_programs_;
    return {};
  }
  GE_RETURN_IF_ERROR(fold(&piece->graph));
  if (!part_bound_.IsNew(piece->graph, piece->fn)) return {};
  return Verify(piece->graph).AtStage(StageName(StageId::kRewrite));
}

struct Session::DistinctFlow {
  std::shared_ptr<const Graph> graph;
  LiftedGraph lifted;
  std::unique_ptr<Flow> flow;
};

Result<std::shared_ptr<Flow>> Session::FlowOf() {
  std::lock_guard<std::mutex> lock(flow_mutex_);
  if (flow_) return flow_;
  GE_RETURN_IF_ERROR(CheckPins(graph_, options_.build.place.pins));
  if (!flows_made_) {
    GE_ASSIGN_OR_RETURN(lifted_, LiftEntries(graph_));
  }
  // Programs of pieces go by the numbers of the first one's cuts.
  flow_ = MakeFlow(lifted_.Of(graph_), !whole_binds_ && !flows_made_);
  flows_made_ = true;
  return flow_;
}

Result<std::shared_ptr<Session::DistinctFlow>> Session::DistinctFlowOf(
    const std::shared_ptr<const Graph>& model) {
  std::lock_guard<std::mutex> lock(flow_mutex_);
  if (distinct_flow_ && distinct_flow_->graph == model) return distinct_flow_;
  auto made = std::make_shared<DistinctFlow>();
  made->graph = model;
  GE_ASSIGN_OR_RETURN(made->lifted, LiftEntries(*model));
  // Programs of pieces go by the numbers of one flow's cuts.
  made->flow = MakeFlow(made->lifted.Of(*model), false);
  distinct_flow_ = made;
  return made;
}

Result<std::shared_ptr<Compiled>> Session::CompilePiece(FlowPlanned piece, bool by_programs) {
  std::string key, exact;
  const bool saved = compiled_file_ && !compiled_file_->index().in_pieces.empty();
  if (saved || options_.build.keep_graph) exact = ExactKey(piece.graph, piece.fn);
  if (saved) {
    GE_ASSIGN_OR_RETURN(auto c, TakeSavedPiece(exact));
    if (c != nullptr) return c;
  }
  const FoldBudget& folding = *FoldingScope::budget();
  const double folded = folding.spent_bytes();
  ReshapeInputs reshape;
  GE_RETURN_IF_ERROR(FoldPiece(&piece, by_programs, &reshape));
  // A piece's inputs are the run's own values: what it may take goes by what the caller gave.
  BuildOptions given = options_.build;
  given.keep_graph = watched();
  if (given.keep_graph || options_.place_piece) {
    SinkSources(&piece.graph.fn(piece.fn));  // as plans keep it
    key = BoundKey(piece.graph, piece.fn);
  }
  if (options_.place_piece) options_.place_piece(key, &given.place);
  given.of_data = true;
  given.runs_a_shape = kRunsOfDataSizes;
  given.place.pins_may_miss = true;
  given.given_bytes = std::max(given.given_bytes, flow_given_bytes_.load());
  if (by_programs) given.reshape = &reshape;
  auto made = CompileBound(std::move(piece.graph), piece.fn, given);
  if (by_programs) piece_programs_.TakeBack(piece.cut, std::move(reshape));
  GE_ASSIGN_OR_RETURN(auto c, std::move(made));
  ++flow_plans_;
  c->bound_key = std::move(key);
  c->exact_key = std::move(exact);
  c->folded_bytes = static_cast<uint64_t>(folding.spent_bytes() - folded);
  return c;
}

Result<std::shared_ptr<FlowPlan>> Session::PlanPiece(FlowPlanned piece, bool by_programs) {
  std::unique_lock<std::mutex> one(compile_mutex_, std::defer_lock);
  GE_RETURN_IF_ERROR(LockOrStop(&one));
  GE_ASSIGN_OR_RETURN(const auto c, CompilePiece(std::move(piece), by_programs));
  {
    std::lock_guard<std::mutex> lock(flow_mutex_);
    if (pieces_.size() % 64 == 0) std::erase_if(pieces_, [](auto& p) { return p.expired(); });
    pieces_.push_back(c);
  }
  std::vector<FlowPlan::Port> ports;
  for (const Compiled::Port& p : c->outputs) ports.push_back({p.dtype, p.dims});
  const auto run = [this, c](std::span<const TensorView> in, std::span<TensorView> out) {
    if (watched_runs_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      return ExecutePiece(c, in, out);
    }
    return Execute(c.get(), in, out, nullptr, &kept_of_thread);
  };
  return std::make_shared<FlowPlan>(
      std::move(ports), run, [c] { return c->BytesHeld(); }, KeepValues);
}

std::unique_ptr<Flow> Session::MakeFlow(const Graph& graph, bool by_programs) {
  FlowHooks hooks;
  hooks.infer = [](Graph* g) { return Infer(g); };
  hooks.plan = [this, by_programs](FlowPlanned piece) {
    return PlanPiece(std::move(piece), by_programs);
  };
  hooks.memory_limit = [this](std::span<const FlowValue> args) {
    BuildOptions given = options_.build;
    for (const FlowValue& v : args) given.given_bytes += v.bytes;
    uint64_t seen = flow_given_bytes_.load();
    while (seen < given.given_bytes &&
           !flow_given_bytes_.compare_exchange_weak(seen, given.given_bytes)) {
    }
    return MemoryLimitOf(given);
  };
  return std::make_unique<Flow>(graph, std::move(hooks), options_.plan_cache_bytes);
}

// The piece's buffers come without their types.
Status Session::ExecutePiece(const std::shared_ptr<Compiled>& c, std::span<const TensorView> inputs,
                             std::span<TensorView> outputs) {
  RunWatch* const watch = watch_of_thread;
  if (watch == nullptr) return Execute(c.get(), inputs, outputs, nullptr, &kept_of_thread);
  const auto typed = [](const std::vector<Compiled::Port>& ports,
                        std::span<const TensorView> views) {
    std::vector<TensorView> out(views.begin(), views.end());
    for (size_t i = 0; i < out.size() && i < ports.size(); ++i) {
      out[i].dtype = ports[i].dtype;
      out[i].dims = ports[i].dims;
    }
    return out;
  };
  RunObserver* observer = watch->PieceBegins(c, typed(c->inputs, inputs));
  const Status ran = Execute(c.get(), inputs, outputs, observer, &kept_of_thread);
  watch->PieceEnds(ran, typed(c->outputs, outputs));
  return ran;
}

// Shapes that the model does not allow are refused as they are where one plan holds all. The model
// that is to run on these: another one where dims of one name have two sizes.
Result<std::shared_ptr<const Graph>> Session::CheckFlowShapes(const Entry& entry,
                                                              std::span<const TensorView> inputs) {
  GE_RETURN_IF_ERROR(CheckInputs(graph_, entry, inputs));
  GE_ASSIGN_OR_RETURN(auto model, WholeModel(entry, inputs));
  std::vector<std::vector<int64_t>> shapes;
  for (const TensorView& t : inputs) shapes.push_back(t.dims);
  {
    std::lock_guard<std::mutex> lock(flow_mutex_);
    if (flow_shapes_.count({&entry, shapes}) != 0) return model;
  }
  Graph bound = *model;
  GE_RETURN_IF_ERROR(OfTwoSizes(Model{model}, entry, inputs, Bind(&bound, entry.name, shapes)));
  std::lock_guard<std::mutex> lock(flow_mutex_);
  if (flow_shapes_.size() < kMaxFlowShapes) flow_shapes_.insert({&entry, std::move(shapes)});
  return model;
}

Status Session::RunValues(std::string_view entry, std::span<const FlowValue> inputs,
                          std::vector<FlowValue>* outputs) {
  const auto run = [&](RunWatch* watch) { return RunValuesWatched(entry, inputs, outputs, watch); };
  return observed() ? RunObserved(entry, {}, run) : run(nullptr);
}

Status Session::RunValuesWatched(std::string_view entry_name, std::span<const FlowValue> inputs,
                                 std::vector<FlowValue>* outputs, RunWatch* watch) {
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
  GE_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(entry_name));
  GE_RETURN_IF_ERROR(CheckValues(graph_, *entry, inputs));
  std::vector<TensorView> views;
  std::shared_ptr<const Graph> model(std::shared_ptr<void>(), &graph_);
  if (TensorsOf(graph_.fn(entry->fn), inputs, &views)) {
    GE_ASSIGN_OR_RETURN(model, CheckFlowShapes(*entry, views));
  }
  const auto give = [&](std::vector<FlowValue> results) {
    for (FlowValue& v : results) GE_RETURN_IF_ERROR(OwnValue(&v));
    GE_RETURN_IF_ERROR(files_.Check());  // values may have lain in them
    *outputs = std::move(results);
    return Status();
  };
  return RunDespiteLoss(watch == nullptr, [&](bool*) {
    return RunWithStates(model, *entry, {inputs.begin(), inputs.end()}, give, watch);
  });
}

// What the run wrote is taken over when its results are given out.
Status Session::RunWithStates(const std::shared_ptr<const Graph>& model, const Entry& entry,
                              const std::vector<FlowValue>& given,
                              const std::function<Status(std::vector<FlowValue>)>& give,
                              RunWatch* watch) {
  GE_RETURN_IF_ERROR(Engines().status());
  GE_RETURN_IF_ERROR(caches_.CheckWhole(graph_, entry));
  const FoldingScope folding(weight_bytes_);
  GE_ASSIGN_OR_RETURN(const std::shared_ptr<Flow> whole, FlowOf());
  Flow* flow = whole.get();
  std::shared_ptr<DistinctFlow> distinct;  // until the run has ended
  if (model.get() != &graph_) {
    GE_ASSIGN_OR_RETURN(distinct, DistinctFlowOf(model));
    flow = distinct->flow.get();
  }
  const LiftedGraph::States& of = (distinct ? distinct->lifted : lifted_).states.at(entry.fn);
  GE_RETURN_IF_ERROR(of.refused);
  const std::vector<bool> beside(of.out.size());
  StateStore::Access access;
  std::vector<const void*> from;
  std::vector<void*> to;
  GE_RETURN_IF_ERROR(states_.Begin(of.in, of.out, beside, &access, &from, &to));
  std::vector<FlowValue> args = given;
  const size_t own = args.size();
  AppendStates(graph_, of.in, from, &args);
  const std::span<const FlowValue> all = args;
  if (watch != nullptr) watch->PiecesBegin(entry, all.first(own), of.in, all.subspan(own));
  std::vector<FlowValue> results;
  const FaultScope faults(!files_.empty());
  const WatchScope watching(watch, &watched_runs_);
  const Status ran = flow->Run(entry.fn, args, &results);
  if (!ran.ok()) GE_RETURN_IF_ERROR(files_.Check());  // before what came of it
  GE_RETURN_IF_ERROR(ran);
  GE_RETURN_IF_ERROR(TakeStates(graph_, of.out, to, &results));
  if (watch != nullptr) watch->PiecesEnd(results, of.out, to);
  // Nothing fails once results are given: who is told of a failure releases none.
  GE_RETURN_IF_ERROR(CheckInterrupt());
  GE_RETURN_IF_ERROR(give(std::move(results)));
  states_.Commit(of.out, beside);
  return {};
}

Status Session::RunFlow(const Entry& entry, std::span<const TensorView> inputs,
                        std::span<TensorView> outputs, RunWatch* watch) {
  const Function& f = graph_.fn(entry.fn);
  GE_RETURN_IF_ERROR(CheckInputs(graph_, entry, inputs));
  GE_RETURN_IF_ERROR(CheckGiven(f, entry.name, inputs));
  GE_ASSIGN_OR_RETURN(const auto model, CheckFlowShapes(entry, inputs));
  if (outputs.size() != f.results.size()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("entry '{}' has {} outputs, {} were given", entry.name,
                              f.results.size(), outputs.size()));
  }
  std::vector<FlowValue> args;
  for (const TensorView& t : inputs) args.push_back(ValueOf(t));
  const auto give = [&](const std::vector<FlowValue>& results) {
    return GiveOut(f, results, files_, inputs, outputs);
  };
  return RunWithStates(model, entry, args, give, watch);
}

}  // namespace ge

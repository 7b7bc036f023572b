#include "ge/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "frontend/externals.h"
#include "ge/base/clock.h"
#include "ge/base/file_mapping.h"
#include "ge/base/interrupt.h"
#include "ge/base/log.h"
#include "ge/base/mapping_faults.h"
#include "ge/compile/compiled/memory_limit.h"
#include "ge/compile/decompose/quantized_weights.h"
#include "ge/compile/fold/folding.h"
#include "ge/compile/fold/sink_sources.h"
#include "ge/compile/fold/spill.h"
#include "ge/compile/states/add_states.h"
#include "ge/compile/states/shareable_states.h"
#include "ge/control/cut.h"
#include "ge/control/flow.h"
#include "ge/engine/plugin/discovery.h"
#include "ge/host/machine.h"
#include "ge/infer/infer.h"
#include "ge/ir/graph_files.h"
#include "ge/ops/defaults.h"
#include "ge/place/placed.h"
#include "ge/run/tensor_view.h"
#include "ge/session/compiled_file.h"
#include "ge/session/distinct_dims.h"
#include "ge/session/edits_scope.h"
#include "ge/session/observation.h"
#include "ge/tune/measure.h"
#include "ge/verify/verify.h"

namespace ge {
namespace {

PartBound::Shapes ShapesOf(std::span<const TensorView> inputs) {
  PartBound::Shapes shapes;
  for (const TensorView& t : inputs) shapes.push_back(t.dims);
  return shapes;
}

// Runs that are expected of each shape of a model whose sizes its inputs decide.
constexpr double kRunsOfFreeSizes = 4;

// Dims are 0, 1 or more where the function's parameters have them.
bool HasPatternOf(const Function& f, std::span<const TensorView> inputs) {
  const auto of = [](int64_t d) { return std::min<int64_t>(d, 2); };
  return std::equal(f.params.begin(), f.params.end(), inputs.begin(), inputs.end(),
                    [&](ValueId v, const TensorView& t) {
                      const Type& type = f.value(v).type;
                      return type.is_tensor() && type.is_static() &&
                             std::equal(
                                 type.dims.begin(), type.dims.end(), t.dims.begin(), t.dims.end(),
                                 [&](const Dim& a, int64_t b) { return of(a.value) == of(b); });
                    });
}

// What a plan that keeps its graph could have handed back; none where another graph became of it
// than the passes left, or where it is no model for these inputs.
ReshapeInputs ReshapeInputsFrom(const Compiled& c, std::span<const TensorView> inputs) {
  ReshapeInputs reshape;
  const bool whole = c.graph.functions.size() > 1 && c.graph.states.size() <= 1 &&
                     c.expanded.empty() && c.shape_class;
  if (!whole || !HasPatternOf(c.graph.fn(c.fn), inputs)) return reshape;
  reshape.shape_class = c.shape_class;
  reshape.graph = c.graph;
  return reshape;
}

bool HasFreeSizes(const Function& f) {
  return std::any_of(f.params.begin(), f.params.end(), [&](ValueId v) {
    return f.value(v).type.is_tensor() && !f.value(v).type.is_static();
  });
}

}  // namespace

Result<std::unique_ptr<Session>> Session::Create(SessionOptions options) {
  std::unique_ptr<Session> s(new Session(std::move(options)));
  const char* guarded = secure_getenv("GE_RED_ZONES");
  if (guarded != nullptr && std::string_view(guarded) == "1") s->options_.build.red_zones = true;
  s->calls_.SetTimeLimit(s->options_.time_limit_ms);
  if (s->options_.precision != Precision::kF32 && s->options_.numerics == Numerics::kExact) {
    return Status(Code::kInvalidArgument,
                  "precision bf16 rounds what products read, and exact numerics forbid that; leave "
                  "one of them out");
  }
  if (s->options_.runtime) {
    GE_RETURN_IF_ERROR(FixProcessFacts(s->options_.process));
  } else {
    GE_ASSIGN_OR_RETURN(s->options_.runtime, Runtime::OfProcess(s->options_.process));
  }
  s->engine_words_ = {
      s->options_.denormals == Denormals::kKeep ? GE_DENORMALS_KEEP : GE_DENORMALS_FLUSH,
      s->options_.numerics == Numerics::kExact ? GE_NUMERICS_EXACT : GE_NUMERICS_FAST,
      s->options_.precision == Precision::kBf16 ? GE_PRECISION_BF16 : GE_PRECISION_F32};
  // Folding multiplies weights before they meet their operands, and adds in another order.
  if (s->options_.numerics == Numerics::kExact) {
    s->options_.skip_passes.insert({"fold-batchnorm", "fold-bias"});
  }
  GE_RETURN_IF_ERROR(s->ObserveAsAsked());
  if (s->options_.keep_edits) s->options_.build.runner.edited = EditsScope::Take;
  s->options_.build.measure = [session = s.get()](const Graph& graph, const Function& f,
                                                  const std::vector<PlanLayout>& layouts,
                                                  GraphView* view, const OfferSet& offers,
                                                  double budget_ms) {
    MeasureOptions measure;
    measure.budget_ms = budget_ms;
    return MeasureOffers(session->engines_, graph, f, layouts, view, offers,
                         session->price_cache_.get(), measure);
  };
  s->options_.build.classes = &s->classes_;
  s->options_.build.weight_floats = std::make_shared<WeightFloats>();
  s->options_.build.arenas = std::make_shared<ArenaPool>();
  s->options_.build.fold_parts = [session = s.get()](Graph* g) {
    return session->rewriter_->BindParts(g, session->weight_bytes_);
  };
  // Whoever names engines or plugins hears now of one that is missing; else it is the model that
  // tells how many are needed.
  const bool named = !s->options_.engines.empty() || !s->options_.plugins.empty();
  if (named || !MayFindEngine()) GE_RETURN_IF_ERROR(s->OpenEngines());
  return s;
}

Session::Session(SessionOptions options)
    : options_(std::move(options)),
      plans_(options_.plan_cache_bytes, [this](Compiled* c) { Remember(c, 0); }) {}

Session::~Session() {
  try {
    SavePrices();
  } catch (const std::exception& e) {  // Of libraries, for want of memory.
    LogLine(1, std::string("prices are not saved: ") + e.what());
  }
}

template <typename Read>
Status Session::LoadBy(Read read) {
  if (loaded_) {
    return Status(Code::kFailedPrecondition,
                  "this session has a model already; create another session for another model");
  }
  const CallScope call(&calls_);
  const double start = NowMs();
  Result<LoadedModel> model = read();
  if (!model.ok()) return model.status();
  import_copied_bytes_ = model->copied_bytes;
  defaults_ = std::move(model->defaults);
  words_ = std::move(model->words);
  if (model->compiled) GE_RETURN_IF_ERROR(OpenCompiled(std::move(model->compiled)));
  load_ms_ = NowMs() - start;
  return LoadGraph(std::move(model->graph));
}

Status Session::LoadFile(const std::string& path, Format format) {
  model_name_ = path.substr(path.rfind('/') + 1);
  return LoadBy([&] { return LoadModelFile(path, format, options_.load); });
}

Status Session::LoadBytes(std::string bytes, Format format) {
  return LoadBy([&] { return LoadModelBytes(std::move(bytes), format, options_.load); });
}

Status Session::LoadGraph(Graph graph) {
  if (loaded_) {
    return Status(Code::kFailedPrecondition,
                  "this session has a model already; create another session for another model");
  }
  const CallScope call(&calls_);
  if (!compiled_file_) GE_RETURN_IF_ERROR(OpenEngines());
  double start = NowMs();
  struct Undo {  // however it ends
    Session* session;
    Graph none[2];  // made now: there may be no memory then
    ~Undo() {
      if (!session->loaded_) session->ForgetModel(none);
    }
  } undo{this, {}};
  graph_ = std::move(graph);
  graph_.ops = ops_;
  FillDefaults(&graph_);
  loaded_graph_ = graph_;
  options_.build.given_bytes = PayloadBytes(graph_);
  files_ = MappedFilesOf(graph_);
  const EditsScope edits(options_.keep_edits ? &load_edits_ : nullptr);
  const FaultScope faults(!files_.empty());
  const Status prepared = Prepare();
  for (const Const& c : graph_.consts) AddFileOf(c, &files_);  // that were spilled
  GE_RETURN_IF_ERROR(files_.Check());                          // before what came of it
  GE_RETURN_IF_ERROR(prepared);
  KnowFlows();
  load_ms_ += NowMs() - start;
  states_.Loaded();
  loaded_ = true;
  return {};
}

void Session::ForgetModel(Graph (&none)[2]) noexcept {
  graph_ = std::move(none[0]);
  loaded_graph_ = std::move(none[1]);
  states_.Clear();
  caches_.Clear();
  load_edits_.clear();
  compiled_file_.reset();
  compiled_model_ = false;
  saved_.clear();
  plan_engines_.clear();
  times_.clear();
  files_.clear();
  weight_bytes_ = import_copied_bytes_ = 0;
  load_ms_ = 0;
}

Status Session::Prepare() {
  for (const Const& c : graph_.consts) weight_bytes_ += c.bytes;
  GE_RETURN_IF_ERROR(AddStates(&graph_));
  GE_RETURN_IF_ERROR(PrepareGraph(&graph_, &times_));
  const uint64_t most = MemoryLimitOf(options_.build);
  GE_RETURN_IF_ERROR(caches_.Find(graph_, options_.kv_cache, most));
  if (options_.states) GE_RETURN_IF_ERROR(CheckShareable(loaded_graph_, graph_));
  return states_.Init(graph_, most, kRaiseMemoryLimit, caches_.grows(), caches_.counted(),
                      options_.states);
}

Status Session::PrepareGraph(Graph* graph, std::vector<StageTime>* times) {
  if (compiled_model_) return CheckCompiled(graph, times);
  Runner runner(options_.build.runner);
  auto none = [] { return Status(); };
  auto verify = [graph] { return Verify(*graph); };
  GE_RETURN_IF_ERROR(runner.RunStage(StageId::kVerify, verify, none));
  GE_RETURN_IF_ERROR(OpenExternals(graph, ""));
  GE_RETURN_IF_ERROR(runner.RunStage(
      StageId::kInfer, [graph] { return Infer(graph); }, verify));
  *times = runner.times();
  const FloatModeScope mode(options_.denormals);  // constants that are folded
  const FoldingScope folding(weight_bytes_);
  GE_RETURN_IF_ERROR(rewriter_->Load(graph, weight_bytes_, times));
  SpillConstants(graph, loaded_graph_);
  return ExpandSplats(graph, MemoryLimitOf(options_.build));
}

Result<Graph> Session::BindAndFold(const Model& from, const Entry& entry,
                                   std::span<const TensorView> inputs,
                                   std::vector<StageTime>* times) {
  Graph bound = *from.graph;
  const PartBound::Shapes shapes = ShapesOf(inputs);
  // What the model's own passes make of a part is verified once for each structure.
  const bool whole = !from.part;
  const auto verify = [&] { return Verify(bound); };
  Runner runner(options_.build.runner);
  GE_RETURN_IF_ERROR(runner.RunStage(
      StageId::kBind, [&] { return Bind(&bound, entry.name, shapes, caches_.Sizes()); },
      whole ? verify : std::function<Status()>()));
  *times = runner.times();
  GE_RETURN_IF_ERROR(whole ? rewriter_->Bind(&bound, weight_bytes_, times)
                           : rewriter_->BindUnverified(&bound, weight_bytes_, times));
  NumberValues(&bound.fn(entry.fn));
  if (!whole && part_bound_.IsNew(bound, entry.fn)) {
    GE_RETURN_IF_ERROR(Verify(bound).AtStage(StageName(StageId::kRewrite)));
  }
  return bound;
}

// Who watches stages or passes, or brings passes that may want to know all sizes, gets them from
// the model each time. Sizes of caches grow without an input that says so.
Result<Session::Model> Session::ModelToBind(const Entry& entry,
                                            std::span<const TensorView> inputs) {
  GE_ASSIGN_OR_RETURN(auto whole, WholeModel(entry, inputs));
  if (whole.get() != &graph_ || whole_binds_ || !caches_.Sizes().empty()) return Model{whole};
  const auto fold = [this](Graph* g) {
    std::vector<StageTime> times;  // a part of what stages take for these shapes
    return rewriter_->BindUnverified(g, weight_bytes_, &times);  // what becomes of it is verified
  };
  GE_ASSIGN_OR_RETURN(const Graph* from, part_bound_.For(graph_, entry, ShapesOf(inputs), fold));
  return Model{{std::shared_ptr<void>(), from}, from != &graph_};
}

// A shape that fails once dims of one name have two sizes is refused as those are.
Status Session::OfTwoSizes(const Model& from, const Entry& entry,
                           std::span<const TensorView> inputs, Status status) {
  if (from.part || from.graph.get() == &graph_) return status;
  if (status.ok()) {
    LogOnce(1, fmt::format("inputs have two sizes for the dim {}; each axis has a size of its own",
                           DimNames(loaded_graph_,
                                    DimsOfTwoSizes(loaded_graph_,
                                                   *loaded_graph_.FindEntry(entry.name), inputs))));
    return status;
  }
  GE_RETURN_IF_ERROR(CheckInterrupt());
  Graph strict = graph_;
  Status refused = Bind(&strict, entry.name, ShapesOf(inputs), caches_.Sizes());
  return refused.ok() ? status : std::move(refused).AtStage(StageName(StageId::kBind));
}

Result<std::shared_ptr<const Graph>> Session::WholeModel(const Entry& entry,
                                                         std::span<const TensorView> inputs) {
  const std::shared_ptr<const Graph> model(std::shared_ptr<void>(), &graph_);
  // States of one name and size are shared by runs of either kind; which size would they have?
  // What a pass derived from the model has its dims from it.
  const Entry* loaded = loaded_graph_.FindEntry(entry.name);
  if (options_.strict_dims || graph_.states.size() > 1 || loaded == nullptr) return model;
  std::set<SymbolId> dims = DimsOfTwoSizes(loaded_graph_, *loaded, inputs);
  if (dims.empty()) return model;
  std::lock_guard<std::mutex> lock(distinct_mutex_);
  if (std::includes(distinct_dims_.begin(), distinct_dims_.end(), dims.begin(), dims.end())) {
    return distinct_;
  }
  dims.insert(distinct_dims_.begin(), distinct_dims_.end());
  auto graph = std::make_shared<Graph>(loaded_graph_);
  TellApart(graph.get(), dims);
  std::vector<StageTime> times;  // of the compile that goes on
  // A model that needs both sizes to be one is refused by their name, not by what follows from two.
  if (!PrepareGraph(graph.get(), &times).ok()) return model;
  const Entry* made = graph->FindEntry(entry.name);
  if (made == nullptr || made->fn != entry.fn) return model;
  distinct_dims_ = std::move(dims);
  distinct_ = std::move(graph);
  return distinct_;
}

Result<bool> Session::BindKnown(const Entry& entry, std::span<const TensorView> inputs,
                                ReshapeInputs* reshape, std::vector<StageTime>* times) {
  bool known = false;
  Runner runner(options_.build.runner);
  const auto bind = [&]() -> Status {
    const auto fold = [this](Graph* cone) {
      std::vector<StageTime> parts;  // of the stage
      return rewriter_->BindUnverified(cone, weight_bytes_, &parts);
    };
    // The one plan so far has the graph that the passes made of its signature.
    const auto first = compiles_ == 1 ? plans_.Latest(&entry) : nullptr;
    if (first) part_bound_.Learn(entry, ReshapeInputsFrom(*first, inputs));
    GE_ASSIGN_OR_RETURN(known, part_bound_.Bind(entry, ShapesOf(inputs), fold, reshape));
    return {};
  };
  GE_RETURN_IF_ERROR(runner.RunStage(StageId::kBind, bind, {}));
  if (known) *times = runner.times();
  return known;
}

Result<std::shared_ptr<Compiled>> Session::CompileNew(const Entry& entry,
                                                      std::span<const TensorView> inputs,
                                                      const BuildOptions& build) {
  const FaultScope faults(!files_.empty());
  auto made = CompileUnchecked(entry, inputs, build);
  GE_RETURN_IF_ERROR(files_.Check());  // before what came of it
  return made;
}

Result<std::shared_ptr<Compiled>> Session::CompileUnchecked(const Entry& entry,
                                                            std::span<const TensorView> inputs,
                                                            const BuildOptions& build) {
  double start = NowMs();
  GE_RETURN_IF_ERROR(OpenEngines());
  const FoldingScope folding(weight_bytes_);
  std::vector<EditedGraph> edits;
  const EditsScope kept(options_.keep_edits ? &edits : nullptr);
  std::vector<StageTime> times;
  GE_ASSIGN_OR_RETURN(const Model from, ModelToBind(entry, inputs));
  // Who asks for a plan of another kind wants to look at its graph.
  const bool hands_over = from.part && &build == &options_.build;
  ReshapeInputs reshape;
  bool known = false;
  if (hands_over) {
    GE_ASSIGN_OR_RETURN(known, BindKnown(entry, inputs, &reshape, &times));
  }
  if (!known) {
    auto bound = BindAndFold(from, entry, inputs, &times);
    GE_RETURN_IF_ERROR(OfTwoSizes(from, entry, inputs, bound.status()));
    reshape.graph = *std::move(bound);
  }
  Graph bound = std::move(reshape.graph);
  reshape.graph = {};
  if (!known && NeedsFlow(bound, bound.fn(entry.fn))) {
    std::lock_guard<std::mutex> lock(flow_mutex_);
    flows_.insert(&entry);
    has_flows_.store(true, std::memory_order_release);
  }
  BuildOptions given = build;
  given.keep_graph = watched();
  given.given_bytes = GivenBytes(options_.build.given_bytes, inputs);
  if (HasFreeSizes(graph_.fn(entry.fn))) given.runs_a_shape = kRunsOfFreeSizes;
  if (hands_over) given.reshape = &reshape;
  auto made = CompileBound(std::move(bound), entry.fn, given);
  if (known)
    part_bound_.TakeBack(entry, std::move(reshape));
  else if (hands_over)
    part_bound_.Learn(entry, std::move(reshape));
  GE_ASSIGN_OR_RETURN(auto c, std::move(made));
  if (!c) return c;  // The incumbent stays.
  ++compiles_;
  c->plan.entry = entry.name;
  c->edits = std::move(edits);
  c->folded_bytes = static_cast<uint64_t>(FoldingScope::budget()->spent_bytes());
  c->compile_ms = NowMs() - start;
  times.insert(times.end(), c->times.begin(), c->times.end());
  c->times = std::move(times);
  return c;
}

Result<Graph> Session::GraphOfPlan(std::string_view entry_name, std::span<const TensorView> inputs,
                                   const Compiled& plan) {
  if (!plan.graph.functions.empty()) return plan.graph;
  GE_RETURN_IF_ERROR(Engines().status());
  GE_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(entry_name));
  const FoldingScope folding(weight_bytes_);
  std::vector<StageTime> times;  // of nobody's plan
  GE_ASSIGN_OR_RETURN(const auto model, WholeModel(*entry, inputs));
  GE_ASSIGN_OR_RETURN(Graph bound, BindAndFold({model}, *entry, inputs, &times));
  SinkSources(&bound.fn(entry->fn));
  std::vector<StateId> in, out;
  GE_RETURN_IF_ERROR(LiftStates(&bound, entry->fn, &in, &out));
  if (plan.expanded.empty()) return bound;
  BuildOptions build = options_.build;
  build.classes = nullptr;
  build.prices.recall = false;
  build.place.cover = CoverOf(plan.plan, plan.plan.functions[0]);
  build.place.expanded = plan.expanded;
  build.stop_after = StageId::kPlace;
  GE_ASSIGN_OR_RETURN(const auto c, BuildCompiled(std::move(bound), entry->fn, engines_, build));
  return std::move(c->graph);
}

Result<std::shared_ptr<Compiled>> Session::CompileBound(Graph bound, FunctionId fn,
                                                        const BuildOptions& build) {
  SinkSources(&bound.fn(fn));
  const Function& f = bound.fn(fn);
  std::vector<Compiled::Port> ports_in = Compiled::PortsOf(f, f.params),
                              ports_out = Compiled::PortsOf(f, f.results);
  std::vector<StateId> in, out;
  GE_RETURN_IF_ERROR(LiftStates(&bound, fn, &in, &out));
  BuildOptions with_states = build;
  with_states.states = PairStates(in, out, ports_in.size(), ports_out.size());
  with_states.all_states = AllStates(in, out, ports_in.size(), ports_out.size());
  GE_ASSIGN_OR_RETURN(auto c, BuildOrRecall(std::move(bound), fn, with_states));
  if (!c) return c;
  ++placed_[static_cast<size_t>(c->placing)];
  c->TakeStates(std::move(in), std::move(out));
  c->inputs = std::move(ports_in);
  c->outputs = std::move(ports_out);
  return c;
}

Result<std::shared_ptr<Compiled>> Session::Compile(std::string_view entry,
                                                   std::span<const TensorView> inputs) {
  KvCaches::Turn turn;
  return CompileIn(entry, inputs, &turn);
}

Result<std::shared_ptr<Compiled>> Session::CompileIn(std::string_view entry_name,
                                                     std::span<const TensorView> inputs,
                                                     KvCaches::Turn* turn) {
  if (!loaded_)
    return Status(Code::kFailedPrecondition, "the session has no model; load one first");
  GE_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(entry_name));
  if (compiled_file_ && FlowEntry(entry->name) != nullptr) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("entry '{}' runs in pieces, which its runs plan; run it", entry->name));
  }
  GE_RETURN_IF_ERROR(caches_.Begin(graph_, *entry, inputs, turn));
  auto planned = PlanIn(*entry, turn->inputs());
  if (planned.ok()) turn->Planned();
  return planned;
}

Result<std::shared_ptr<Compiled>> Session::PlanIn(const Entry& entry,
                                                  std::span<const TensorView> inputs) {
  if (auto known = plans_.Find(&entry, inputs)) return known;
  GE_RETURN_IF_ERROR(CheckInputs(graph_, entry, inputs));
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
  std::unique_lock<std::mutex> one(compile_mutex_, std::defer_lock);
  GE_RETURN_IF_ERROR(LockOrStop(&one));
  // Another thread may have made it meanwhile.
  if (auto known = plans_.Find(&entry, inputs)) return known;
  GE_ASSIGN_OR_RETURN(auto saved, TakeSaved(entry, inputs));
  if (saved) {
    plans_.Add(&entry, inputs, saved);
    return saved;
  }
  GE_ASSIGN_OR_RETURN(auto made, CompileNew(entry, inputs, options_.build));
  if (options_.build.prices.mode == PriceMode::kMeasure) {
    made = RehearsePlans(entry, inputs, std::move(made));
  }
  plans_.Add(&entry, inputs, made);
  return made;
}

Status Session::PlanAhead(std::string_view entry_name, std::span<const TensorView> inputs) {
  const Entry* flow = FlowEntry(entry_name);
  if (flow == nullptr) {
    const Status status = Compile(entry_name, inputs).status();
    const bool ended =
        status.code() == Code::kCancelled || status.code() == Code::kDeadlineExceeded;
    flow = status.ok() || ended ? nullptr : FlowEntry(entry_name);  // as it turned out
    if (flow == nullptr) return status;
  }
  return CheckFlowShapes(*flow, inputs).status();
}

Result<std::shared_ptr<Compiled>> Session::CompileApart(std::string_view entry_name,
                                                        std::span<const TensorView> inputs,
                                                        const BuildOptions& build) {
  if (!loaded_)
    return Status(Code::kFailedPrecondition, "the session has no model; load one first");
  GE_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(entry_name));
  GE_RETURN_IF_ERROR(CheckInputs(graph_, *entry, inputs));
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
  KvCaches::Turn turn;
  GE_RETURN_IF_ERROR(caches_.Begin(graph_, *entry, inputs, &turn));
  std::unique_lock<std::mutex> one(compile_mutex_, std::defer_lock);
  GE_RETURN_IF_ERROR(LockOrStop(&one));
  BuildOptions folding = build;  // the caller's options cannot know the session's passes
  // It is this one that is asked about, not one like it.
  if (!build.apart) folding.classes = nullptr;
  folding.fold_parts = options_.build.fold_parts;
  folding.measure = options_.build.measure;
  auto planned = CompileNew(*entry, turn.inputs(), folding);
  if (planned.ok()) turn.Planned();
  return planned;
}

std::shared_ptr<Compiled> Session::Latest(std::string_view entry_name) {
  auto entry = FindEntry(entry_name);
  return entry.ok() ? plans_.Latest(*entry) : nullptr;
}

}  // namespace ge

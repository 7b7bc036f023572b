#include "ge/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ge/base/clock.h"
#include "ge/base/file_mapping.h"
#include "ge/flow/flow.h"
#include "ge/infer/infer.h"
#include "ge/session/folding.h"
#include "ge/session/memory_limit.h"
#include "ge/verify/verify.h"

namespace ge {
namespace {

// Which shapes a plan is for (FNV-1a). Dtypes are not part: the model says them.
uint64_t SignatureHash(const Entry* entry, std::span<const TensorView> inputs) {
  uint64_t hash = 1469598103934665603u;
  auto mix = [&hash](uint64_t x) { hash = (hash ^ x) * 1099511628211u; };
  mix(reinterpret_cast<uintptr_t>(entry));
  for (const TensorView& t : inputs) {
    mix(t.dims.size());
    for (int64_t d : t.dims) mix(static_cast<uint64_t>(d));
  }
  return hash;
}

std::vector<Compiled::Port> PortsOf(const Function& f, std::span<const ValueId> values) {
  std::vector<Compiled::Port> out;
  for (ValueId v : values) {
    const Type& type = f.value(v).type;
    out.push_back({f.value(v).name, type.dtype, type.static_dims(),
                   static_cast<uint64_t>(ByteCount(type).value_or(0))});
  }
  return out;
}

}  // namespace

Result<std::vector<EngineSpec>> ParseEngineList(std::string_view list) {
  std::vector<EngineSpec> out;
  size_t begin = 0;
  while (begin <= list.size() && !list.empty()) {
    size_t end = std::min(list.find(',', begin), list.size());
    std::string item(list.substr(begin, end - begin));
    begin = end + 1;
    size_t colon = item.find(':');
    EngineSpec spec{item.substr(0, colon),
                    colon == std::string::npos ? "" : item.substr(colon + 1)};
    if (spec.name.empty()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("engine list '{}' has an empty item; write names separated by "
                                "commas, as in onednn,ref",
                                list));
    }
    out.push_back(std::move(spec));
  }
  return out;
}

Result<Numerics> NumericsFromName(std::string_view name, std::string_view what) {
  if (name == "fast") return Numerics::kFast;
  if (name == "exact") return Numerics::kExact;
  return Status(Code::kInvalidArgument,
                fmt::format("{} is '{}', wanted fast or exact", what, name));
}

Result<std::unique_ptr<Session>> Session::Create(SessionOptions options) {
  std::unique_ptr<Session> s(new Session(std::move(options)));
  const char* guarded = secure_getenv("GE_RED_ZONES");
  if (guarded != nullptr && std::string_view(guarded) == "1") s->options_.build.red_zones = true;
  s->calls_.SetTimeLimit(s->options_.time_limit_ms);
  GE_RETURN_IF_ERROR(FixProcessFacts(s->options_.process));
  GE_RETURN_IF_ERROR(s->LoadEngines());
  // Folding multiplies weights before they meet their operands.
  if (s->options_.numerics == Numerics::kExact) s->options_.skip_passes.emplace("fold-batchnorm");
  s->StartPricing();
  s->evaluator_ = MakeEvaluator(s->engines_);
  s->options_.build.fold_parts = [session = s.get()](Graph* g) {
    return session->RunPartsPasses(g);
  };
  return s;
}

Session::Session(SessionOptions options) : options_(std::move(options)) {}

Session::~Session() {
  try {
    SavePrices();
  } catch (const std::exception& e) {  // Of libraries, for want of memory.
    LogLine(1, std::string("prices are not saved: ") + e.what());
  }
}

Status Session::LoadEngines() {
  std::vector<std::pair<std::shared_ptr<const Plugin>, std::string>> wanted;
  for (const EngineSpec& spec : options_.engines) {
    GE_ASSIGN_OR_RETURN(auto plugin, FindPlugin(spec.name));
    wanted.emplace_back(std::move(plugin), spec.options);
  }
  if (options_.engines.empty()) {
    std::string why;
    for (const Found& f : DiscoverPlugins()) {
      if (f.plugin) wanted.emplace_back(f.plugin, "");
      if (!f.plugin) why += fmt::format("; {}: {}", f.path, f.why);
    }
    if (wanted.empty()) {
      return Status(
          Code::kFailedPrecondition,
          "no engine plugin was found; set GE_PLUGIN_PATH to the folder of the engines" + why);
    }
  }
  Status refusal;
  const EngineWords words{
      options_.denormals == Denormals::kKeep ? GE_DENORMALS_KEEP : GE_DENORMALS_FLUSH,
      options_.numerics == Numerics::kExact ? GE_NUMERICS_EXACT : GE_NUMERICS_FAST};
  for (auto& [plugin, text] : wanted) {
    auto engine = Engine::Create(plugin, text, words);
    if (engine.ok()) {
      engines_.push_back(std::move(*engine));
    } else if (!options_.engines.empty()) {
      return engine.status();
    } else {  // Nobody asked for this one: its library or device may not be here.
      refusal = engine.status();
      LogLine(1, refusal.ToString());
    }
  }
  return engines_.empty() ? refusal : Status();
}

Status Session::LoadGraph(Graph graph) {
  if (loaded_) {
    return Status(Code::kFailedPrecondition,
                  "this session has a model already; create another session for another model");
  }
  const CallScope call(&calls_);
  double start = NowMs();
  struct Undo {  // however it ends
    Session* session;
    Graph none[2];  // made now: there may be no memory then
    ~Undo() {
      if (!session->loaded_) session->ForgetModel(none);
    }
  } undo{this, {}};
  graph_ = std::move(graph);
  loaded_graph_ = graph_;
  options_.build.given_bytes = PayloadBytes(graph_);
  GE_RETURN_IF_ERROR(Prepare());
  load_ms_ += NowMs() - start;
  loaded_ = true;
  return {};
}

void Session::ForgetModel(Graph (&none)[2]) noexcept {
  graph_ = std::move(none[0]), loaded_graph_ = std::move(none[1]);
  states_.clear(), times_.clear();
  weight_bytes_ = import_copied_bytes_ = 0;
  load_ms_ = 0;
}

Status Session::Prepare() {
  for (const Const& c : graph_.consts) weight_bytes_ += c.bytes;
  Runner runner(options_.build.runner);
  auto none = [] { return Status(); };
  auto verify = [this] { return Verify(graph_); };
  GE_RETURN_IF_ERROR(runner.RunStage(StageId::kVerify, verify, none));
  GE_RETURN_IF_ERROR(OpenExternals(&graph_, ""));
  GE_RETURN_IF_ERROR(runner.RunStage(
      StageId::kInfer, [this] { return Infer(&graph_); }, verify));
  times_ = runner.times();
  const FloatModeScope mode(options_.denormals);  // constants that are folded
  const FoldingScope folding(weight_bytes_);
  GE_RETURN_IF_ERROR(RunPasses(&graph_, &times_));
  SpillConstants(&graph_, loaded_graph_);
  GE_RETURN_IF_ERROR(ExpandSplats(&graph_, MemoryLimitOf(options_.build)));
  return InitStates();
}

uint64_t Session::GivenBytes(std::span<const TensorView> inputs) const {
  uint64_t sum = options_.build.given_bytes;
  for (const TensorView& t : inputs) {
    sum += static_cast<uint64_t>(ByteCount(TensorType(t.dtype, t.dims)).value_or(0));
  }
  return sum;
}

Status Session::InferOnly(Graph* graph) const {
  GE_RETURN_IF_ERROR(Verify(*graph));
  return Infer(graph);
}

Status Session::RunPasses(Graph* graph, std::vector<StageTime>* times) const {
  Runner::Options options = options_.build.runner;
  options.skip.insert(options_.skip_passes.begin(), options_.skip_passes.end());
  return RunPassesWith(std::move(options), MakePipeline(), graph, times);
}

// A name to skip may be of a pass that is not among these; RunPasses has told unknown ones.
Status Session::RunPartsPasses(Graph* graph) const {
  Runner::Options options = options_.build.runner;
  options.skip.insert(options_.skip_passes.begin(), options_.skip_passes.end());
  std::vector<std::unique_ptr<Pass>> passes = MakePartsPipeline();
  std::erase_if(passes, [&](const auto& p) { return options.skip.count(std::string(p->name())); });
  options.skip.clear();
  std::vector<StageTime> times;  // nobody's: the stage that asks for the parts has its own
  return RunPassesWith(std::move(options), passes, graph, &times);
}

Status Session::RunPassesWith(Runner::Options options,
                              const std::vector<std::unique_ptr<Pass>>& passes, Graph* graph,
                              std::vector<StageTime>* times) const {
  Runner runner(std::move(options));
  PassContext context;
  context.evaluator = evaluator_.get();
  FoldBudget own(weight_bytes_);  // where nobody opened a scope: a dump
  context.budget = FoldingScope::budget() ? FoldingScope::budget() : &own;
  context.note = [](std::string_view text) { LogLine(2, text); };
  context.done_reading = [](const void* data, uint64_t bytes) { DropMappedPages(data, bytes); };
  Status status = runner.RunPasses(
      graph, passes, context, [](const Graph& g) { return Verify(g); },
      [](Graph* g) { return Infer(g); });
  times->insert(times->end(), runner.times().begin(), runner.times().end());
  return status;
}

Status Session::InitStates() {
  states_.resize(graph_.states.size());
  const uint64_t limit = MemoryLimitOf(options_.build);
  uint64_t total = 0;
  for (size_t i = 1; i < graph_.states.size(); ++i) {
    const State& state = graph_.states[i];
    auto bytes = ByteCount(state.type);
    if (!bytes) {
      return Status(Code::kUnsupported,
                    fmt::format("state '{}' has type {}; a state needs a fixed shape", state.name,
                                TypeToString(state.type, graph_.dims)));
    }
    StateSlot& slot = states_[i];
    slot.bytes = static_cast<uint64_t>(*bytes);
    total = std::min(total + 2 * slot.bytes, uint64_t{1} << 62);
    if (total > limit) {
      return Status(Code::kLimitExceeded,
                    fmt::format("state '{}' of {} bytes and those before it take {}, each twice; "
                                "the limit is {}; make it smaller, or {}",
                                state.name, slot.bytes, total, limit, kRaiseMemoryLimit));
    }
    slot.now = AllocateAligned(slot.bytes, 64), slot.next = AllocateAligned(slot.bytes, 64);
    if (!slot.now || !slot.next) {
      return Status(Code::kResourceExhausted, fmt::format("no memory for state '{}'", state.name));
    }
    std::memset(slot.now.get(), 0, slot.bytes);
    if (state.init) {
      ConstScratch scratch;
      const std::byte* data = ConstBytes(graph_.consts[state.init], &scratch, UINT64_MAX);
      if (!data && slot.bytes > 0) {
        return Status(Code::kResourceExhausted,
                      fmt::format("no memory for the first value of state '{}'", state.name));
      }
      std::memcpy(slot.now.get(), data, slot.bytes);
    } else if (state.init_fn) {
      return Status(Code::kUnsupported,
                    fmt::format("state '{}' is initialised by a function; this version takes a "
                                "constant or zeros",
                                state.name));
    }
  }
  return {};
}

Result<const Entry*> Session::FindEntry(std::string_view name) const {
  if (name.empty() && !graph_.entries.empty()) return &graph_.entries[0];
  if (const Entry* entry = graph_.FindEntry(name)) return entry;
  std::string names;
  for (const Entry& e : graph_.entries) names += (names.empty() ? "" : ", ") + e.name;
  return Status(Code::kInvalidArgument, fmt::format("there is no entry '{}'; the model has: {}",
                                                    name, names.empty() ? "none" : names));
}

Status Session::CheckInputs(const Entry& entry, std::span<const TensorView> inputs) const {
  const Function& f = graph_.fn(entry.fn);
  if (inputs.size() != f.params.size()) {
    return Status(Code::kInvalidArgument, fmt::format("entry '{}' takes {} inputs, {} were given",
                                                      entry.name, f.params.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& param = f.value(f.params[i]);
    if (inputs[i].dtype != param.type.dtype) {
      return Status(Code::kInvalidArgument,
                    fmt::format("input '{}' is {}, the model wants {}; convert it", param.name,
                                DTypeName(inputs[i].dtype), DTypeName(param.type.dtype)));
    }
  }
  return {};
}

Result<Graph> Session::BindAndFold(const Entry& entry, std::span<const TensorView> inputs,
                                   std::vector<StageTime>* times) {
  Graph bound = graph_;
  std::vector<std::vector<int64_t>> shapes;
  for (const TensorView& t : inputs) shapes.push_back(t.dims);
  Runner runner(options_.build.runner);
  GE_RETURN_IF_ERROR(runner.RunStage(
      StageId::kBind, [&] { return Bind(&bound, entry.name, shapes); },
      [&] { return Verify(bound); }));
  *times = runner.times();
  GE_RETURN_IF_ERROR(RunPasses(&bound, times));
  return bound;
}

Result<std::shared_ptr<Compiled>> Session::CompileNew(const Entry& entry,
                                                      std::span<const TensorView> inputs,
                                                      const BuildOptions& build) {
  double start = NowMs();
  const FoldingScope folding(weight_bytes_);
  std::vector<StageTime> times;
  GE_ASSIGN_OR_RETURN(Graph bound, BindAndFold(entry, inputs, &times));
  if (NeedsFlow(bound.fn(entry.fn))) {
    std::lock_guard<std::mutex> lock(flow_mutex_);
    flows_.insert(&entry);
    has_flows_.store(true, std::memory_order_release);
  }
  BuildOptions given = build;
  given.given_bytes = GivenBytes(inputs);
  GE_ASSIGN_OR_RETURN(auto c, CompileBound(std::move(bound), entry.fn, given));
  if (!c) return c;  // The incumbent stays.
  c->plan.entry = entry.name;
  c->folded_bytes = static_cast<uint64_t>(FoldingScope::budget()->spent_bytes());
  c->compile_ms = NowMs() - start;
  times.insert(times.end(), c->times.begin(), c->times.end());
  c->times = std::move(times);
  return c;
}

Result<std::shared_ptr<Compiled>> Session::CompileBound(Graph bound, FunctionId fn,
                                                        const BuildOptions& build) {
  SinkSources(&bound.fn(fn));
  const Function& f = bound.fn(fn);
  std::vector<Compiled::Port> ports_in = PortsOf(f, f.params), ports_out = PortsOf(f, f.results);
  std::vector<StateId> in, out;
  GE_RETURN_IF_ERROR(LiftStates(&bound, fn, &in, &out));
  GE_ASSIGN_OR_RETURN(auto c, BuildOrRecall(std::move(bound), fn, build));
  if (!c) return c;
  c->states_in = std::move(in), c->states_out = std::move(out);
  c->inputs = std::move(ports_in), c->outputs = std::move(ports_out);
  return c;
}

Result<std::shared_ptr<Compiled>> Session::Compile(std::string_view entry_name,
                                                   std::span<const TensorView> inputs) {
  if (!loaded_)
    return Status(Code::kFailedPrecondition, "the session has no model; load one first");
  GE_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(entry_name));
  uint64_t hash = SignatureHash(entry, inputs);
  if (auto known = LookUp(entry, hash, inputs)) return known;
  GE_RETURN_IF_ERROR(CheckInputs(*entry, inputs));
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
  std::unique_lock<std::mutex> one(compile_mutex_, std::defer_lock);
  GE_RETURN_IF_ERROR(LockOrStop(&one));
  // Another thread may have made it meanwhile.
  if (auto known = LookUp(entry, hash, inputs)) return known;
  GE_ASSIGN_OR_RETURN(auto made, CompileNew(*entry, inputs, options_.build));
  if (options_.build.prices.mode == PriceMode::kMeasure) {
    made = RehearsePlans(*entry, inputs, std::move(made));
  }
  std::lock_guard<std::mutex> lock(cache_mutex_);
  cache_.push_front({entry, hash, made});
  by_hash_.emplace(hash, cache_.begin());
  latest_[entry] = made;
  Evict();
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
  return CheckFlowShapes(*flow, inputs);
}

Result<std::shared_ptr<Compiled>> Session::CompileApart(std::string_view entry_name,
                                                        std::span<const TensorView> inputs,
                                                        const BuildOptions& build) {
  if (!loaded_)
    return Status(Code::kFailedPrecondition, "the session has no model; load one first");
  GE_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(entry_name));
  GE_RETURN_IF_ERROR(CheckInputs(*entry, inputs));
  const CallScope call(&calls_);
  const FloatModeScope mode(options_.denormals);
  std::unique_lock<std::mutex> one(compile_mutex_, std::defer_lock);
  GE_RETURN_IF_ERROR(LockOrStop(&one));
  BuildOptions folding = build;  // the caller's options cannot know the session's passes
  folding.fold_parts = options_.build.fold_parts;
  return CompileNew(*entry, inputs, folding);
}

std::shared_ptr<Compiled> Session::LookUp(const Entry* entry, uint64_t hash,
                                          std::span<const TensorView> inputs) {
  std::lock_guard<std::mutex> lock(cache_mutex_);
  auto [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const CachedPlan& plan = *it->second;
    bool same = plan.entry == entry && plan.compiled->inputs.size() == inputs.size();
    for (size_t i = 0; same && i < inputs.size(); ++i) {
      const Compiled::Port& port = plan.compiled->inputs[i];
      same = port.dtype == inputs[i].dtype && port.dims == inputs[i].dims;
    }
    if (!same) continue;
    cache_.splice(cache_.begin(), cache_, it->second);
    latest_[entry] = plan.compiled;
    return plan.compiled;
  }
  return nullptr;
}

// Drops the least recently used plans beyond the bound; runs in flight keep theirs alive.
void Session::Evict() {
  uint64_t held = 0;
  for (auto it = cache_.begin(); it != cache_.end();) {
    held += it->compiled->BytesHeld();
    if (it == cache_.begin() || held <= options_.plan_cache_bytes) {
      ++it;
      continue;
    }
    auto [begin, end] = by_hash_.equal_range(it->hash);
    for (auto k = begin; k != end; ++k) {
      if (k->second == it) {
        by_hash_.erase(k);
        break;
      }
    }
    Remember(it->compiled.get(), 0);
    it = cache_.erase(it);
    evicted_.fetch_add(1, std::memory_order_relaxed);
  }
}

std::shared_ptr<Compiled> Session::Latest(std::string_view entry_name) {
  auto entry = FindEntry(entry_name);
  if (!entry.ok()) return nullptr;
  std::lock_guard<std::mutex> lock(cache_mutex_);
  auto it = latest_.find(*entry);
  return it == latest_.end() ? nullptr : it->second;
}

}  // namespace ge

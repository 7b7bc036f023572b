#include "ge/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "ge/infer/infer.h"
#include "ge/verify/verify.h"

namespace ge {
namespace {

double NowMs() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string ShapeText(std::span<const int64_t> dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? "," : "") + std::to_string(dims[i]);
  return out + "]";
}

// Which shapes a plan is for. Strings and dtypes are not part: dtypes are checked against the
// entry.
std::string SignatureKey(const std::string& entry, std::span<const TensorView> inputs) {
  std::string key = entry;
  for (const TensorView& t : inputs) key += ShapeText(t.dims);
  return key;
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

Result<std::unique_ptr<Session>> Session::Create(SessionOptions options) {
  std::unique_ptr<Session> s(new Session(std::move(options)));
  GE_RETURN_IF_ERROR(FixProcessFacts(s->options_.process));
  GE_RETURN_IF_ERROR(s->LoadEngines());
  s->evaluator_ = MakeEvaluator(s->engines_);
  return s;
}

Session::~Session() {
  for (const void* p : mapped_) RemoveMappedRange(p);
}

Status Session::LoadEngines() {
  std::vector<Found> found = DiscoverPlugins();
  std::vector<std::pair<std::shared_ptr<const Plugin>, std::string>> wanted;
  if (options_.engines.empty()) {
    for (const Found& f : found) {
      if (f.plugin) wanted.emplace_back(f.plugin, "");
    }
    if (wanted.empty()) {
      std::string why;
      for (const Found& f : found) why += fmt::format("; {}: {}", f.path, f.why);
      return Status(
          Code::kFailedPrecondition,
          "no engine plugin was found; set GE_PLUGIN_PATH to the folder of the engines" + why);
    }
  }
  for (const EngineSpec& spec : options_.engines) {
    std::shared_ptr<const Plugin> plugin;
    std::string names;
    if (spec.name.find('/') != std::string::npos) {
      GE_ASSIGN_OR_RETURN(plugin, LoadPlugin(spec.name));
    }
    for (const Found& f : found) {
      if (!f.plugin) continue;
      if (!plugin && f.plugin->name == spec.name) plugin = f.plugin;
      names += (names.empty() ? "" : ", ") + f.plugin->name;
    }
    if (!plugin) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("engine '{}' is not loaded; found: {}; ge plugins tells what was "
                                "refused and why",
                                spec.name, names.empty() ? "none" : names));
    }
    wanted.emplace_back(plugin, spec.options);
  }
  for (auto& [plugin, text] : wanted) {
    GE_ASSIGN_OR_RETURN(auto engine, Engine::Create(plugin, text));
    engines_.push_back(std::move(engine));
  }
  return {};
}

Status Session::LoadGraph(Graph graph) {
  if (loaded_) {
    return Status(Code::kFailedPrecondition,
                  "this session has a model already; create another session for another model");
  }
  double start = NowMs();
  graph_ = std::move(graph);
  loaded_graph_ = graph_;
  GE_RETURN_IF_ERROR(Prepare());
  load_ms_ += NowMs() - start;
  loaded_ = true;
  return {};
}

Status Session::Prepare() {
  for (const Const& c : graph_.consts) {
    weight_bytes_ += c.bytes;
    if (c.mapped && c.bytes > 0) {
      AddMappedRange(c.data, c.bytes);
      mapped_.push_back(c.data);
    }
  }
  Runner runner(options_.build.runner);
  auto none = [] { return Status(); };
  auto verify = [this] { return Verify(graph_); };
  GE_RETURN_IF_ERROR(runner.RunStage(StageId::kVerify, verify, none));
  GE_RETURN_IF_ERROR(runner.RunStage(
      StageId::kInfer, [this] { return Infer(&graph_); }, verify));
  times_ = runner.times();
  GE_RETURN_IF_ERROR(RunPasses(&graph_, &times_));
  return InitStates();
}

Status Session::InferOnly(Graph* graph) const {
  GE_RETURN_IF_ERROR(Verify(*graph));
  return Infer(graph);
}

Status Session::RunPasses(Graph* graph, std::vector<StageTime>* times) {
  Runner::Options options = options_.build.runner;
  options.skip.insert(options_.skip_passes.begin(), options_.skip_passes.end());
  Runner runner(std::move(options));
  PassContext context;
  context.evaluator = evaluator_.get();
  Status status = runner.RunPasses(
      graph, MakePipeline(), context, [](const Graph& g) { return Verify(g); },
      [](Graph* g) { return Infer(g); });
  times->insert(times->end(), runner.times().begin(), runner.times().end());
  return status;
}

Status Session::InitStates() {
  states_.resize(graph_.states.size());
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
    slot.now = AllocateAligned(slot.bytes, 64), slot.next = AllocateAligned(slot.bytes, 64);
    if (!slot.now || !slot.next) {
      return Status(Code::kResourceExhausted, fmt::format("no memory for state '{}'", state.name));
    }
    std::memset(slot.now.get(), 0, slot.bytes);
    if (state.init) {
      std::vector<std::byte> scratch;
      const std::byte* data = ConstBytes(graph_.consts[state.init], &scratch);
      if (data) std::memcpy(slot.now.get(), data, slot.bytes);
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
                                                      std::span<const TensorView> inputs) {
  double start = NowMs();
  std::vector<StageTime> times;
  GE_ASSIGN_OR_RETURN(Graph bound, BindAndFold(entry, inputs, &times));
  const FunctionId fn = entry.fn;
  uint32_t n_in = static_cast<uint32_t>(bound.fn(fn).params.size());
  uint32_t n_out = static_cast<uint32_t>(bound.fn(fn).results.size());
  std::vector<StateId> in, out;
  GE_RETURN_IF_ERROR(LiftStates(&bound, fn, &in, &out));
  GE_ASSIGN_OR_RETURN(auto c, BuildCompiled(std::move(bound), fn, engines_, options_.build));
  c->states_in = std::move(in), c->states_out = std::move(out);
  c->user_inputs = n_in, c->user_outputs = n_out;
  c->plan.entry = entry.name;
  c->compile_ms = NowMs() - start;
  times.insert(times.end(), c->times.begin(), c->times.end());
  c->times = std::move(times);
  return c;
}

Result<std::shared_ptr<Compiled>> Session::Compile(std::string_view entry_name,
                                                   std::span<const TensorView> inputs) {
  if (!loaded_)
    return Status(Code::kFailedPrecondition, "the session has no model; load one first");
  GE_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(entry_name));
  std::string key = SignatureKey(entry->name, inputs);
  auto look_up = [&]() -> std::shared_ptr<Compiled> {
    std::lock_guard<std::mutex> lock(cache_mutex_);
    auto it = by_key_.find(key);
    if (it == by_key_.end()) return nullptr;
    cache_.splice(cache_.begin(), cache_, it->second);
    latest_[entry->name] = it->second->compiled;
    return it->second->compiled;
  };
  if (auto known = look_up()) return known;
  GE_RETURN_IF_ERROR(CheckInputs(*entry, inputs));
  std::lock_guard<std::mutex> one(compile_mutex_);
  if (auto known = look_up()) return known;  // Another thread made it meanwhile.
  GE_ASSIGN_OR_RETURN(auto made, CompileNew(*entry, inputs));
  std::lock_guard<std::mutex> lock(cache_mutex_);
  cache_.push_front({key, made});
  by_key_[key] = cache_.begin();
  latest_[entry->name] = made;
  Evict();
  return made;
}

// Drops the least recently used plans beyond the bound; runs in flight keep theirs alive.
void Session::Evict() {
  uint64_t held = 0;
  for (auto it = cache_.begin(); it != cache_.end();) {
    held += it->compiled->BytesHeld();
    if (it != cache_.begin() && held > options_.plan_cache_bytes) {
      by_key_.erase(it->key);
      it = cache_.erase(it);
    } else {
      ++it;
    }
  }
}

std::shared_ptr<Compiled> Session::Latest(std::string_view entry_name) {
  auto entry = FindEntry(entry_name);
  if (!entry.ok()) return nullptr;
  std::lock_guard<std::mutex> lock(cache_mutex_);
  auto it = latest_.find((*entry)->name);
  return it == latest_.end() ? nullptr : it->second;
}

}  // namespace ge

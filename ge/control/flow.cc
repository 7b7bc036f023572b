#include "ge/control/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "ge/base/interrupt.h"

namespace ge {
namespace {

constexpr int kMaxDepth = 256;             // of calls; each takes a few hundred bytes of stack
constexpr int64_t kMaxContent = 1024;      // elements of a tensor whose content may decide a shape
constexpr size_t kMaxPieces = 256;         // of one place in a function; the oldest go first
constexpr size_t kMaxIdleRuns = 8;         // as many as the threads that one session is meant for
constexpr uint64_t kNoShape = UINT64_MAX;  // in keys

// Values that decide a shape are small whole numbers, truth values or scales.
bool MayDecideShape(const FlowValue& v) {
  const bool numbers = v.is_tensor() && v.data != nullptr && DTypeBits(v.dtype) >= 8 &&
                       (IsInteger(v.dtype) || IsFloat(v.dtype) || v.dtype == DType::kBool);
  return numbers && v.count() <= kMaxContent;
}

Result<FlowValue> ValueOf(const Const& c) {
  FlowValue v;
  v.kind = FlowValue::Kind::kTensor, v.dtype = c.type.dtype, v.dims = c.type.static_dims();
  if (c.type.dtype == DType::kString) {
    v.strings = std::make_shared<const std::vector<std::string>>(c.strings);
    return v;
  }
  ConstScratch scratch;
  const std::byte* data = ConstBytes(c, &scratch, UINT64_MAX);
  v.bytes = static_cast<uint64_t>(ByteCount(c.type).value_or(0));
  const auto none = [&] {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for constant '{}' of {} bytes", c.name, v.bytes));
  };
  if (!data && v.bytes > 0) return none();
  if (reinterpret_cast<uintptr_t>(data) % 16 == 0) {
    v.data = data, v.owner = c.owner;
    if (!c.splat.empty()) v.owner = scratch ? scratch : c.expanded;
    return v;
  }
  auto block = FlowBlock::Make(v.bytes);
  if (!block) return none();
  std::memcpy(block->data(), data, v.bytes);
  v.data = block->data(), v.owner = std::move(block);
  return v;
}

// Nothing that a library throws for want of memory passes a run.
Status RunHostOp(const HostOp& op, HostCall& call) {
  try {
    return op.run(call);
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, fmt::format("no memory left in {}", op.name));
  } catch (const std::length_error&) {
    return Status(Code::kLimitExceeded, fmt::format("{} wants more than memory can hold", op.name));
  }
}

// Empties the functions that `fn` does not reach: they would be inferred for nothing, or say what
// types `fn` is called with elsewhere.
void ForgetOthers(Graph* g, FunctionId fn) {
  std::vector<bool> reached(g->functions.size(), false);
  std::vector<FunctionId> todo = {fn};
  while (!todo.empty()) {
    const FunctionId at = todo.back();
    todo.pop_back();
    if (reached[at]) continue;
    reached[at] = true;
    for (const Node& n : g->fn(at).nodes) {
      for (const Callee& c : n.callees) todo.push_back(c.fn);
    }
  }
  for (Function& f : g->functions) {
    if (reached[f.id]) continue;
    // Its memory too: places are many, and each has a graph.
    f.nodes = {}, f.params = {}, f.results = {}, f.effects = {};
    f.values.resize(std::min<size_t>(f.values.size(), 1));
    f.values.shrink_to_fit();
  }
}

}  // namespace

// The values of one call of a function, by number; used again by later calls of the same run.
struct FlowActivation {
  std::vector<FlowValue> values;
  std::vector<const FlowValue*> in;
  std::vector<FlowValue> out;
  std::vector<const FlowValue*> host_in;
  std::vector<FlowValue> host_out;
};

class FlowFunction {
 public:
  FlowFunction(Flow* flow, FunctionId fn) : flow_(*flow), fn_(fn) {
    // A copy as an entry, whose parameters have any shape: cutting changes it, and what calls the
    // function itself goes on calling it as it was.
    root_->rest.graph = flow->graph_;
    Graph& g = root_->rest.graph;
    const auto id = static_cast<FunctionId>(g.functions.size());
    g.functions.push_back(Function(g.fn(fn)));
    g.fn(id).id = id;
    const auto taken = [&](const std::string& name) {
      return std::any_of(g.functions.begin(), g.functions.end() - 1,
                         [&](const Function& f) { return f.name == name; });
    };
    while (taken(g.fn(id).name)) g.fn(id).name += "'";
    root_->rest.fn = id;
    Entry entry;
    entry.name = g.fn(fn).name.empty() ? "flow" : g.fn(fn).name, entry.fn = id;
    g.entries = {entry};
    ForgetOthers(&g, id);
  }

  // Once, before it runs.
  Status ReadConstants() {
    const Function& f = function();
    for (ValueId v = 1; v < f.values.size(); ++v) {
      if (!f.values[v].constant) continue;
      GE_ASSIGN_OR_RETURN(FlowValue value, ValueOf(flow_.graph_.consts[f.values[v].constant]));
      constants_.emplace_back(v, std::move(value));
    }
    return {};
  }

  const Function& function() const { return flow_.graph_.fn(fn_); }

  Status Run(FlowRun* run, FlowActivation* a, std::span<const FlowValue* const> args,
             std::vector<FlowValue>* results) {
    const Function& f = function();
    if (a->values.empty()) {
      a->values.resize(f.values.size());
      for (const auto& [v, value] : constants_) a->values[v] = value;
    }
    for (size_t i = 0; i < f.params.size(); ++i) {
      a->values[f.params[i]] = args[i] != nullptr ? *args[i] : FlowValue();
    }
    for (std::shared_ptr<Place> place = root_; place != nullptr;) {
      GE_RETURN_IF_ERROR(CheckInterrupt());
      GE_ASSIGN_OR_RETURN(const std::shared_ptr<Piece> piece, Find(place.get(), *a));
      GE_RETURN_IF_ERROR(RunPlan(run, *piece, a));
      GE_RETURN_IF_ERROR(RunHost(run, *piece, a));
      for (const ValueId v : piece->cut.dead) a->values[v] = FlowValue();
      place = piece->next;
    }
    results->resize(f.results.size());
    for (size_t i = 0; i < f.results.size(); ++i) (*results)[i] = a->values[f.results[i]];
    for (ValueId v : f.params) a->values[v] = FlowValue();
    for (ValueId v : f.results) {
      if (f.values[v].constant == 0) a->values[v] = FlowValue();
    }
    return {};
  }

 private:
  struct Piece;
  // In the function: before it, all runs of one history of shapes have done the same. Pieces and
  // places are shared with the runs that stand in them: another run, or this one in a call of the
  // same function, may evict the piece that leads to a place.
  struct Place {
    FlowRest rest;                               // never changed once a run can find it
    std::vector<std::shared_ptr<Piece>> pieces;  // the latest first; of mutex_
  };
  struct Piece {
    // Of each parameter of the place: rank and dims, kNoShape where it is no tensor; then the
    // contents of cut.by_content.
    std::vector<uint64_t> shapes;
    std::vector<FlowValue> contents;
    FlowCut cut;
    std::shared_ptr<FlowPlan> plan;
    std::shared_ptr<Place> next;
  };

  static void KeyOf(const Place& place, const FlowActivation& a, std::vector<uint64_t>* key) {
    key->clear();
    for (const ValueId v : place.rest.graph.fn(place.rest.fn).params) {
      const FlowValue& x = a.values[v];
      key->push_back(x.is_tensor() ? x.dims.size() : kNoShape);
      for (const int64_t d : x.dims) key->push_back(static_cast<uint64_t>(d));
    }
  }
  static bool Holds(const Piece& piece, const std::vector<uint64_t>& key, const FlowActivation& a) {
    if (piece.shapes != key) return false;
    for (size_t i = 0; i < piece.contents.size(); ++i) {
      const FlowValue &then = piece.contents[i], &now = a.values[piece.cut.by_content[i]];
      if (then.bytes != now.bytes || std::memcmp(then.data, now.data, now.bytes) != 0) return false;
    }
    return true;
  }

  Result<std::shared_ptr<Piece>> Find(Place* place, const FlowActivation& a) {
    thread_local std::vector<uint64_t> key;
    KeyOf(*place, a, &key);
    std::lock_guard<std::mutex> lock(mutex_);
    auto& pieces = place->pieces;
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!Holds(*pieces[i], key, a)) continue;
      std::rotate(pieces.begin(), pieces.begin() + static_cast<ptrdiff_t>(i),
                  pieces.begin() + static_cast<ptrdiff_t>(i) + 1);
      return pieces.front();
    }
    GE_ASSIGN_OR_RETURN(auto made, MakePiece(*place, a, key));
    pieces.insert(pieces.begin(), made);
    while (pieces.size() > kMaxPieces || (pieces.size() > 1 && flow_.IsFull())) {
      pieces.pop_back();
      flow_.evicted_.fetch_add(1, std::memory_order_relaxed);
    }
    return made;
  }

  Result<std::shared_ptr<Piece>> MakePiece(const Place& place, const FlowActivation& a,
                                           const std::vector<uint64_t>& key) {
    FlowRest rest = place.rest;
    ForgetOthers(&rest.graph, rest.fn);  // bodies whose node has run
    Function& f = rest.graph.fn(rest.fn);
    for (ValueId v = 1; v < f.values.size(); ++v) {
      Value& value = f.values[v];
      if (value.constant) continue;
      value.ints.reset();
      value.type = value.type.is_tensor() ? UnrankedTensor(value.type.dtype) : value.type;
    }
    for (const ValueId v : f.params) {
      const FlowValue& x = a.values[v];
      if (x.is_tensor()) f.value(v).type = TensorType(x.dtype, x.dims.vector());
    }
    std::map<ValueId, Const> contents;
    const ContentHook content = [&](ValueId v) -> Const* {
      const FlowValue& x = a.values[v];
      if (!MayDecideShape(x)) return nullptr;
      const Type type = TensorType(x.dtype, x.dims.vector());
      return &contents.try_emplace(v, MakeConst(type, x.data, x.bytes)).first->second;
    };
    auto piece = std::make_shared<Piece>();
    piece->shapes = key;
    GE_ASSIGN_OR_RETURN(piece->cut, CutFlow(std::move(rest), flow_.hooks_.infer, content));
    for (const ValueId v : piece->cut.by_content) {
      FlowValue kept = a.values[v];
      auto block = FlowBlock::Make(kept.bytes);
      if (!block) return Status(Code::kResourceExhausted, "no memory for a shape");
      std::memcpy(block->data(), kept.data, kept.bytes);
      kept.data = block->data(), kept.owner = std::move(block);
      piece->contents.push_back(std::move(kept));
    }
    if (!piece->cut.plan_out.empty()) {
      GE_ASSIGN_OR_RETURN(piece->plan, flow_.MakePlan(std::move(piece->cut.plan), place.rest.fn));
    }
    piece->cut.plan = Graph();
    if (!piece->cut.rest.graph.fn(place.rest.fn).nodes.empty()) {
      piece->next = std::make_shared<Place>();
      piece->next->rest = std::move(piece->cut.rest);
    }
    piece->cut.rest = FlowRest();
    return piece;
  }

  Status RunPlan(FlowRun* run, const Piece& piece, FlowActivation* a) const {
    if (!piece.plan) return {};
    a->in.clear();
    for (const ValueId v : piece.cut.plan_in) a->in.push_back(&a->values[v]);
    a->out.resize(piece.cut.plan_out.size());
    for (size_t i = 0; i < a->out.size(); ++i) {
      std::byte* data = nullptr;
      const FlowPlan::Port& port = piece.plan->results[i];
      Status status = run->pool().NewTensor(port.dtype, port.dims, &a->out[i], &data);
      if (status.ok()) continue;
      const Value& value = function().values[piece.cut.plan_out[i]];
      return Status(status.code(),
                    fmt::format("value '{}' of {}[{}]: {}", value.name, DTypeName(port.dtype),
                                fmt::join(port.dims, ","), status.message()));
    }
    GE_RETURN_IF_ERROR(piece.plan->Run(a->in, a->out));
    for (size_t i = 0; i < a->out.size(); ++i) {
      a->values[piece.cut.plan_out[i]] = std::move(a->out[i]);
      a->out[i] = FlowValue();
    }
    return {};
  }

  Status RunHost(FlowRun* run, const Piece& piece, FlowActivation* a) {
    for (const HostStep& step : piece.cut.host) {
      const Node& n = step.node;
      a->host_in.clear();
      for (const ValueId v : n.inputs) a->host_in.push_back(v != 0 ? &a->values[v] : nullptr);
      a->host_out.resize(n.outputs.size());
      GE_RETURN_IF_ERROR(RunStep(run, step, a->host_in, &a->host_out).AtNode(NodeLabel(n)));
      for (size_t i = 0; i < n.outputs.size(); ++i) {
        if (n.outputs[i] != 0) a->values[n.outputs[i]] = std::move(a->host_out[i]);
        a->host_out[i] = FlowValue();
      }
    }
    return {};
  }

  Status RunStep(FlowRun* run, const HostStep& step, std::span<const FlowValue* const> in,
                 std::vector<FlowValue>* out) const {
    if (step.op == nullptr) return RunControl(run, step, in, out);
    HostCall call{flow_.graph_, step.node, in, &run->pool(), std::move(*out)};
    const Status status = RunHostOp(*step.op, call);
    *out = std::move(call.outputs);
    return status;
  }

  Flow& flow_;
  const FunctionId fn_;
  std::mutex mutex_;
  const std::shared_ptr<Place> root_ = std::make_shared<Place>();
  std::vector<std::pair<ValueId, FlowValue>> constants_;
};

Flow::Flow(const Graph& graph, FlowHooks hooks, uint64_t max_bytes)
    : graph_(graph), hooks_(std::move(hooks)), max_bytes_(max_bytes) {}
Flow::~Flow() = default;
FlowRun::FlowRun(Flow* flow) : flow_(*flow) {}
FlowRun::~FlowRun() = default;

Result<FlowFunction*> Flow::At(FunctionId fn) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& slot = functions_[fn];
  if (slot) return slot.get();
  auto made = std::make_unique<FlowFunction>(this, fn);
  GE_RETURN_IF_ERROR(made->ReadConstants());
  slot = std::move(made);
  return slot.get();
}

Result<std::shared_ptr<FlowPlan>> Flow::MakePlan(Graph graph, FunctionId fn) {
  GE_ASSIGN_OR_RETURN(auto plan, hooks_.plan(std::move(graph), fn));
  plans_.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(held_, [](const auto& p) { return p.expired(); });
  held_.push_back(plan);
  return plan;
}

bool Flow::IsFull() {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& p : held_) {
    if (const auto plan = p.lock()) bytes += plan->BytesHeld();
  }
  return bytes > max_bytes_;
}

Status Flow::Run(FunctionId fn, std::span<const FlowValue> args, std::vector<FlowValue>* results) {
  std::unique_ptr<FlowRun> run;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) run = std::move(idle_.back()), idle_.pop_back();
  }
  if (!run) run = std::make_unique<FlowRun>(this);
  if (hooks_.memory_limit) run->pool().SetLimit(hooks_.memory_limit(args));
  std::vector<const FlowValue*> in;
  for (const FlowValue& v : args) in.push_back(&v);
  GE_RETURN_IF_ERROR(run->Call(fn, in, results));
  run->pool().EndRun();
  std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kMaxIdleRuns) idle_.push_back(std::move(run));
  return {};
}

std::unique_ptr<FlowActivation> FlowRun::Take(FunctionId fn) {
  auto& idle = idle_[fn];
  if (idle.empty()) return std::make_unique<FlowActivation>();
  auto taken = std::move(idle.back());
  idle.pop_back();
  return taken;
}

Status FlowRun::Call(FunctionId fn, std::span<const FlowValue* const> args,
                     std::vector<FlowValue>* results) {
  GE_ASSIGN_OR_RETURN(FlowFunction * function, flow_.At(fn));
  const Function& f = function->function();
  if (args.size() != f.params.size()) {
    return Status(Code::kInternal, fmt::format("function '{}' takes {} values, {} were given",
                                               f.name, f.params.size(), args.size()));
  }
  if (++depth_ > kMaxDepth) {
    --depth_;
    return Status(Code::kLimitExceeded,
                  fmt::format("function '{}' is called through more than {} functions; does its "
                              "recursion end?",
                              f.name, kMaxDepth));
  }
  std::unique_ptr<FlowActivation> a = Take(fn);
  const Status status = function->Run(this, a.get(), args, results);
  --depth_;
  if (status.ok()) idle_[fn].push_back(std::move(a));
  return status;
}

}  // namespace ge

#include "ge/control/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "ge/base/interrupt.h"
#include "ge/control/data_sized.h"
#include "ge/control/flow_point.h"
#include "ge/run/call_scratch.h"

namespace ge {
namespace {

constexpr int kMaxDepth = 256;       // of calls; each takes a few hundred bytes of stack
constexpr size_t kCountedEach = 16;  // plans are counted when a 16th of them is new
constexpr size_t kMaxIdleRuns = 8;   // as many as the threads that one session is meant for

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

}  // namespace

Status FlowPlan::Run(std::span<const FlowValue* const> in, std::span<FlowValue> out) const {
  struct Views {
    std::vector<TensorView> inputs, outputs;
  };
  const CallScratch<Views> views;  // a known piece allocates nothing
  auto& [inputs, outputs] = *views;
  inputs.resize(in.size());
  outputs.resize(out.size());
  for (size_t i = 0; i < in.size(); ++i) {
    inputs[i].data = const_cast<std::byte*>(in[i]->data);
    inputs[i].bytes = in[i]->bytes;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    outputs[i].data = const_cast<std::byte*>(out[i].data);
    outputs[i].bytes = out[i].bytes;
  }
  Status status = run_(inputs, outputs);
  if (!status.ok() && failed_) failed_(in, out);
  return status;
}

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
    FlowRest rest{flow->graph_, static_cast<FunctionId>(flow->graph_.functions.size())};
    Graph& g = rest.graph;
    g.functions.push_back(Function(g.fn(fn)));
    g.fn(rest.fn).id = rest.fn;
    g.fn(rest.fn).derived = {};  // of one derivation there is one function
    const auto taken = [&](const std::string& name) {
      return std::any_of(g.functions.begin(), g.functions.end() - 1,
                         [&](const Function& f) { return f.name == name; });
    };
    while (taken(g.fn(rest.fn).name)) g.fn(rest.fn).name += "'";
    g.fn(rest.fn).derived = {};  // a derivation there is once
    Entry entry;
    entry.name = g.fn(fn).name.empty() ? "flow" : g.fn(fn).name;
    entry.fn = rest.fn;
    g.entries = {entry};
    ForgetOthers(&g, rest.fn);
    const Function& f = function();
    root_ = std::make_shared<FlowPoint>(flow, std::move(rest),
                                        std::set<ValueId>(f.params.begin(), f.params.end()));
  }

  const Function& function() const { return flow_.graph_.fn(fn_); }

  Status Run(FlowRun* run, FlowActivation* a, std::span<const FlowValue* const> args,
             std::vector<FlowValue>* results) {
    const Function& f = function();
    if (a->values.empty()) a->values.resize(f.values.size());
    for (size_t i = 0; i < f.params.size(); ++i) {
      a->values[f.params[i]] = args[i] != nullptr ? *args[i] : FlowValue();
    }
    std::shared_ptr<const FlowPiece> piece;
    for (std::shared_ptr<FlowPoint> place = root_; place != nullptr;) {
      GE_RETURN_IF_ERROR(CheckInterrupt());
      GE_ASSIGN_OR_RETURN(piece, Find(place.get(), *a));
      const FlowCut& cut = piece->cut();
      if (a->values.size() < cut.values) a->values.resize(cut.values);
      for (const auto& [v, value] : piece->structure->constants) {
        // Numbers that branches added mean one thing in one piece and another in the next.
        if (v >= f.values.size() || !a->values[v].is_tensor()) a->values[v] = *value;
      }
      GE_RETURN_IF_ERROR(RunPlan(run, *piece, a));
      GE_RETURN_IF_ERROR(RunHost(run, *piece, a));
      for (const ValueId v : cut.dead) a->values[v] = FlowValue();
      place = piece->structure->next;
    }
    const std::vector<ValueId>& made = piece->cut().results;
    results->resize(made.size());
    for (size_t i = 0; i < made.size(); ++i) (*results)[i] = a->values[made[i]];
    for (ValueId v : f.params) a->values[v] = FlowValue();
    for (ValueId v : made) {
      if (v >= f.values.size() || f.values[v].constant == 0) a->values[v] = FlowValue();
    }
    return {};
  }

 private:
  Result<std::shared_ptr<const FlowPiece>> Find(FlowPoint* place, const FlowActivation& a) {
    std::lock_guard<std::mutex> lock(mutex_);
    return place->Find(a.values);
  }

  Status RunPlan(FlowRun* run, const FlowPiece& piece, FlowActivation* a) const {
    if (!piece.plan) return {};
    a->in.clear();
    for (const ValueId v : piece.cut().plan_in) a->in.push_back(&a->values[v]);
    a->out.resize(piece.cut().plan_out.size());
    for (size_t i = 0; i < a->out.size(); ++i) {
      std::byte* data = nullptr;
      const FlowPlan::Port& port = piece.plan->results[i];
      Status status = run->pool().NewTensor(port.dtype, port.dims, &a->out[i], &data);
      if (status.ok()) continue;
      const FlowRest& now = piece.cut().now;
      const Function& f = now.graph.fn(now.fn);
      const Value& value = f.value(f.results[i]);
      return Status(status.code(),
                    fmt::format("value '{}' of {}[{}]: {}", value.name, DTypeName(port.dtype),
                                fmt::join(port.dims, ","), status.message()));
    }
    GE_RETURN_IF_ERROR(piece.plan->Run(a->in, a->out));
    for (size_t i = 0; i < a->out.size(); ++i) {
      a->values[piece.cut().plan_out[i]] = std::move(a->out[i]);
      a->out[i] = FlowValue();
    }
    return {};
  }

  Status RunHost(FlowRun* run, const FlowPiece& piece, FlowActivation* a) {
    const FlowCut& cut = piece.cut();
    for (size_t k = 0; k < cut.host.size(); ++k) {
      const HostStep& step = cut.host[k];
      const Node& n = step.node;
      const std::span<const Type> types = cut.has_types ? piece.types[k] : std::span<const Type>();
      a->host_in.clear();
      for (const ValueId v : n.inputs) a->host_in.push_back(v != 0 ? &a->values[v] : nullptr);
      a->host_out.resize(n.outputs.size());
      GE_RETURN_IF_ERROR(RunStep(run, step, types, a->host_in, &a->host_out).AtNode(NodeLabel(n)));
      for (size_t i = 0; i < n.outputs.size(); ++i) {
        if (n.outputs[i] != 0) a->values[n.outputs[i]] = std::move(a->host_out[i]);
        a->host_out[i] = FlowValue();
      }
    }
    return {};
  }

  Status RunStep(FlowRun* run, const HostStep& step, std::span<const Type> types,
                 std::span<const FlowValue* const> in, std::vector<FlowValue>* out) const {
    if (step.kernel != nullptr) {
      return RunDataSized(*step.kernel, flow_.graph_, step.node, types, in, &run->pool(), out);
    }
    if (step.op == nullptr) return RunControl(run, step, types, in, out);
    HostCall call{flow_.graph_, step.node, in, &run->pool(), std::move(*out)};
    const Status status = RunHostOp(*step.op, call);
    *out = std::move(call.outputs);
    return status;
  }

  Flow& flow_;
  const FunctionId fn_;
  std::mutex mutex_;
  std::shared_ptr<FlowPoint> root_;
};

Flow::Flow(const Graph& graph, FlowHooks hooks, uint64_t max_bytes)
    : graph_(graph), hooks_(std::move(hooks)), max_bytes_(max_bytes) {}
Flow::~Flow() = default;
FlowRun::FlowRun(Flow* flow) : flow_(*flow) {}
FlowRun::~FlowRun() = default;

FlowFunction* Flow::At(FunctionId fn) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& slot = functions_[fn];
  if (slot) return slot.get();
  slot = std::make_unique<FlowFunction>(this, fn);
  return slot.get();
}

Result<const FlowValue*> Flow::ConstantOf(ConstId c) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = constants_.find(c);
  if (found != constants_.end()) return &found->second;
  GE_ASSIGN_OR_RETURN(FlowValue value, ValueOf(graph_.consts[c]));
  return &constants_.emplace(c, std::move(value)).first->second;
}

Result<std::shared_ptr<FlowPlan>> Flow::MakePlan(FlowPlanned planned) {
  GE_ASSIGN_OR_RETURN(auto plan, hooks_.plan(std::move(planned)));
  plans_.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard<std::mutex> lock(mutex_);
  held_.push_back(plan);
  ++uncounted_;
  return plan;
}

bool Flow::IsFull() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!full_ && uncounted_ * kCountedEach < held_.size()) return false;
  std::erase_if(held_, [](const auto& p) { return p.expired(); });
  uncounted_ = 0;
  uint64_t bytes = 0;
  for (const auto& p : held_) {
    if (const auto plan = p.lock()) bytes += plan->BytesHeld();
  }
  return full_ = bytes > max_bytes_;
}

Status Flow::Run(FunctionId fn, std::span<const FlowValue> args, std::vector<FlowValue>* results) {
  std::unique_ptr<FlowRun> run;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      run = std::move(idle_.back());
      idle_.pop_back();
    }
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
  FlowFunction* function = flow_.At(fn);
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

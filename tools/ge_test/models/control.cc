// Control flow and symbolic sizes of random models: the last nodes of the main function become the
// branches of an If or the body of a Loop, and sizes of inputs become symbols.
#include "ge/ops/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ge/infer/infer.h"
#include "ge/ir/cut.h"
#include "ge/ops/defaults.h"
#include "ge/verify/verify.h"
#include "tools/ge_test/models/random_models.h"

namespace ge::test {
namespace {

// Nodes of the main function on their way into other functions.
struct ModelRun {
  std::vector<Node> nodes;
  std::vector<ValueId> captures;  // read from outside, constants excepted
  std::vector<ValueId> results;   // what stays visible outside
};

// Takes the nodes from `begin` on out of the main function.
ModelRun TakeRun(RandomModel* model, size_t begin, Random* random) {
  ModelRun run;
  Function& f = model->main();
  const auto first = f.nodes.begin() + static_cast<ptrdiff_t>(begin);
  run.nodes.assign(first, f.nodes.end());
  f.nodes.erase(first, f.nodes.end());
  std::set<ValueId> made, read;
  for (const Node& n : run.nodes) {
    for (const ValueId v : n.inputs) {
      if (v == 0 || f.value(v).constant != 0) continue;
      if (made.count(v) == 0 && read.count(v) == 0) run.captures.push_back(v);
      read.insert(v);
    }
    for (const ValueId v : n.outputs) made.insert(v);
  }
  for (const Node& n : run.nodes) {
    for (const ValueId v : n.outputs) {
      if (v == 0) continue;
      if (read.count(v) == 0 || random->Chance(0.15)) run.results.push_back(v);
    }
  }
  for (const ValueId v : made) model->values[v] = nullptr;
  return run;
}

// A function of its own with the run's nodes. `given` are parameters that come first; the run's
// captures follow, apart from `carried` ones, which are among those given.
class BodyMaker {
 public:
  BodyMaker(RandomModel* model, const std::string& name) : model_(model) {
    fn_ = model->graph.AddFunction(name).id;
    // Names are made of ids: new nodes must not get those of the nodes that come along.
    model->graph.fn(fn_).next_node_id = model->main().next_node_id;
  }

  ValueId AddParam(const std::string& name) {
    Function& f = model_->graph.fn(fn_);
    const ValueId v = AddValue(&f, Type(), name);
    f.params.push_back(v);
    return v;
  }
  void AddCapture(ValueId v) { inside_[v] = AddParam(model_->main().value(v).name); }

  void AddNodes(const ModelRun& run) {
    Function& f = model_->graph.fn(fn_);
    for (Node n : run.nodes) {
      n.id = f.next_node_id++;
      for (ValueId& v : n.inputs) v = In(v);
      for (ValueId& v : n.outputs) {
        if (v == 0) continue;
        const ValueId to = AddValue(&f, Type(), model_->main().value(v).name);
        inside_[v] = to;
        v = to;
      }
      f.nodes.push_back(std::move(n));
    }
  }

  ValueId In(ValueId outside) {
    if (outside == 0) return 0;
    const auto known = inside_.find(outside);
    if (known != inside_.end()) return known->second;
    const Value& v = model_->main().value(outside);
    const ConstId constant = v.constant;
    const ValueId to = AddValue(&model_->graph.fn(fn_), v.type, v.name);
    model_->graph.fn(fn_).value(to).constant = constant;
    return inside_[outside] = to;
  }

  void AddResult(ValueId v) { model_->graph.fn(fn_).results.push_back(v); }
  FunctionId fn() const { return fn_; }

 private:
  RandomModel* model_;
  FunctionId fn_;
  std::map<ValueId, ValueId> inside_;
};

std::shared_ptr<const HostTensor> ScalarOf(DType dtype, const Dims& dims, int64_t value) {
  auto t = MakeTensor(dtype, dims);
  if (!t.ok()) return nullptr;
  SetIntElement(&*t, 0, value);
  return std::make_shared<HostTensor>(*std::move(t));
}

Node ControlNode(RandomModel* model, const char* op) {
  Node node;
  node.id = model->main().next_node_id++;
  node.op = op;
  node.name = fmt::format("n{}", node.id);
  return node;
}

// What an earlier run of the same nodes gave; needed before TakeRun forgets it.
using ModelValues = std::vector<std::shared_ptr<const HostTensor>>;

bool IsCarriable(const HostTensor* t) {
  return t != nullptr && (Bit(t->dtype) & kFloats) != 0 && t->count() > 0;
}

struct LoopPlan {
  ValueId carried = 0;  // a capture of the run
  ValueId next = 0;     // the result that it becomes
  std::vector<ValueId> captures, scanned;
};

LoopPlan PlanLoop(const RandomModel& model, const ModelRun& run, const ModelValues& values) {
  LoopPlan plan;
  for (const ValueId v : run.captures) {
    if (plan.carried == 0 && model.exact.count(v) == 0 && IsCarriable(values[v].get())) {
      plan.carried = v;
    }
  }
  for (const ValueId v : run.results) {
    if (plan.carried != 0 && plan.next == 0 && IsCarriable(values[v].get())) plan.next = v;
  }
  if (plan.next == 0) plan.carried = 0;
  for (const ValueId v : run.captures) {
    if (v != plan.carried) plan.captures.push_back(v);
  }
  for (const ValueId v : run.results) {
    if (v != plan.next) plan.scanned.push_back(v);
  }
  return plan;
}

// What the carried value held at first bounds what it becomes: operators of the body may need it.
FitBounds BoundsOfValue(const HostTensor& t) {
  FitBounds b{ElementAsDouble(t, 0), ElementAsDouble(t, 0)};
  for (int64_t i = 1, n = t.count(); i < n; ++i) {
    b.lo = std::min(b.lo, ElementAsDouble(t, i));
    b.hi = std::max(b.hi, ElementAsDouble(t, i));
  }
  return b;
}

void DropUnreadNodes(Function* f) {
  const std::vector<bool> needed =
      NeededNodes(*f, std::vector<bool>(f->nodes.size(), true), f->results);
  std::vector<Node> kept;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) kept.push_back(std::move(f->nodes[i]));
  }
  f->nodes = std::move(kept);
}

bool Reads(const Function& f, ValueId v) {
  return std::count(f.results.begin(), f.results.end(), v) > 0 ||
         std::any_of(f.nodes.begin(), f.nodes.end(), [&](const Node& n) {
           return std::count(n.inputs.begin(), n.inputs.end(), v) > 0;
         });
}

// Of one node: results that are not in `read`, then captures that no body reads.
bool SlimOne(Graph* g, Node* n, const std::set<ValueId>& read) {
  const bool loop = n->op == "Loop";
  const size_t first_input = loop ? 2 : 1, first_result = loop ? 1 : 0;
  size_t captures = n->inputs.size() - first_input, carried = 0;
  for (Attr& a : n->attrs) {
    if (a.name != kCapturesAttr) continue;
    carried = captures - static_cast<size_t>(std::get<int64_t>(a.value));
    captures -= carried;
  }
  bool changed = false;
  const auto erase = [&changed](auto* list, size_t at) {
    list->erase(list->begin() + static_cast<ptrdiff_t>(at));
    changed = true;
  };
  for (size_t k = n->outputs.size(); k-- > carried;) {
    if (read.count(n->outputs[k]) != 0 || n->outputs.size() == 1) continue;
    erase(&n->outputs, k);
    for (const Callee& c : n->callees) erase(&g->fn(c.fn).results, first_result + k);
  }
  for (const Callee& c : n->callees) DropUnreadNodes(&g->fn(c.fn));
  const size_t first_param = (loop ? 2 : 0) + carried;
  for (size_t k = captures; k-- > 0;) {
    const bool used = std::any_of(n->callees.begin(), n->callees.end(), [&](const Callee& c) {
      return Reads(g->fn(c.fn), g->fn(c.fn).params[first_param + k]);
    });
    if (used) continue;
    erase(&n->inputs, first_input + carried + k);
    for (const Callee& c : n->callees) erase(&g->fn(c.fn).params, first_param + k);
    --captures;
  }
  for (Attr& a : n->attrs) {
    if (a.name == kCapturesAttr) a.value = static_cast<int64_t>(captures);
  }
  return changed;
}

}  // namespace

bool SlimControl(RandomModel* model) {
  const Function& f = model->main();
  std::set<ValueId> read(f.results.begin(), f.results.end());
  for (const Node& n : f.nodes) read.insert(n.inputs.begin(), n.inputs.end());
  bool changed = false;
  for (Node& n : model->main().nodes) {
    if (n.op == "If" || n.op == "Loop") changed |= SlimOne(&model->graph, &n, read);
  }
  return changed;
}

bool WrapInIf(RandomModel* model, size_t begin, Random* random) {
  if (begin >= model->main().nodes.size()) return false;
  const ModelValues values = model->values;
  const ModelRun run = TakeRun(model, begin, random);
  if (run.results.empty()) return false;
  Node node = ControlNode(model, "If");
  const Dims dims = random->Chance(0.7) ? Dims() : Dims{1};
  node.inputs.push_back(
      AddModelInput(model, ScalarOf(DType::kBool, dims, random->Int(0, 1)), true));
  node.inputs.insert(node.inputs.end(), run.captures.begin(), run.captures.end());
  node.outputs = run.results;
  const bool swap = random->Chance(0.5);
  for (const bool negated : {false, true}) {
    BodyMaker body(model, fmt::format("{}_{}", negated ? "other" : "one", node.name));
    for (const ValueId v : run.captures) body.AddCapture(v);
    body.AddNodes(run);
    for (const ValueId v : run.results) {
      ValueId result = body.In(v);
      const HostTensor* t = values[v].get();
      if (negated && t != nullptr && (Bit(t->dtype) & kFloats) != 0) {
        result = AppendModelNode(&model->graph, body.fn(), "Neg", {result}, {});
      }
      body.AddResult(result);
    }
    node.callees.push_back({negated != swap ? "else_branch" : "then_branch", body.fn()});
  }
  model->main().nodes.push_back(std::move(node));
  return true;
}

bool WrapInLoop(RandomModel* model, size_t begin, Random* random) {
  if (begin >= model->main().nodes.size()) return false;
  const ModelValues values = model->values;
  const ModelRun run = TakeRun(model, begin, random);
  const LoopPlan plan = PlanLoop(*model, run, values);
  if (plan.next == 0 && plan.scanned.empty()) return false;
  Graph* graph = &model->graph;
  Node node = ControlNode(model, "Loop");
  BodyMaker body(model, "body_" + node.name);
  body.AddParam("trip");
  const ValueId go_on = body.AddParam("go_on");
  if (plan.carried != 0) body.AddCapture(plan.carried);
  for (const ValueId v : plan.captures) body.AddCapture(v);
  body.AddNodes(run);
  body.AddResult(go_on);
  if (plan.next != 0) {
    const HostTensor& before = *values[plan.carried];
    body.AddResult(FitValue(graph, body.fn(), body.In(plan.next), *values[plan.next], before.dtype,
                            before.dims, BoundsOfValue(before), random));
  }
  for (const ValueId v : plan.scanned) body.AddResult(body.In(v));
  const int64_t trips = random->Int(1, 4);
  if (random->Chance(0.5)) {
    node.inputs.push_back(AppendModelInts(graph, RandomModel::kMainFn, {}, {trips}));
  } else {
    node.inputs.push_back(AddModelInput(model, ScalarOf(DType::kInt64, {}, trips), true));
  }
  node.inputs.push_back(
      random->Chance(0.5)
          ? 0
          : AddConstValue(graph, &model->main(), ToConst(*ScalarOf(DType::kBool, {}, 1), "go")));
  if (plan.carried != 0) node.inputs.push_back(plan.carried);
  node.inputs.insert(node.inputs.end(), plan.captures.begin(), plan.captures.end());
  node.attrs.push_back({kCapturesAttr, static_cast<int64_t>(plan.captures.size())});
  node.callees.push_back({"body", body.fn()});
  if (plan.next != 0) node.outputs.push_back(plan.next);
  std::vector<ValueId> stacks;
  for (size_t i = 0; i < plan.scanned.size(); ++i) {
    Function& f = model->main();
    stacks.push_back(AddValue(&f, Type(), fmt::format("v{}", f.values.size())));
    node.outputs.push_back(stacks.back());
  }
  model->main().nodes.push_back(std::move(node));
  model->values.resize(model->main().values.size());
  // What others read is the last trip's.
  for (size_t i = 0; i < stacks.size(); ++i) {
    const ValueId last = AppendModelInts(graph, RandomModel::kMainFn, {}, {trips - 1});
    AppendModelNode(graph, RandomModel::kMainFn, "Gather", {stacks[i], last}, {});
    model->main().nodes.back().outputs = {plan.scanned[i]};
  }
  model->values.resize(model->main().values.size());
  return true;
}

void SymboliseInputs(RandomModel* model, Random* random) {
  static const std::vector<std::string> kNames = {"N", "M", "K", "P", "Q", "R"};
  std::map<int64_t, std::string> names;  // by size: sizes that are equal may have to be
  const std::vector<ValueId> params = model->main().params;
  const size_t first = static_cast<size_t>(
      random->Int(0, std::max<int64_t>(0, static_cast<int64_t>(params.size()) - 1)));
  for (size_t i = 0; i < params.size(); ++i) {
    const ValueId v = params[(first + i) % params.size()];
    const Type type = model->main().value(v).type;
    for (size_t d = 0; d < type.dims.size(); ++d) {
      const Dim dim = type.dims[d];
      if (!dim.known() || dim.value < 1 || !random->Chance(0.6)) continue;
      if (names.count(dim.value) == 0 && names.size() == kNames.size()) continue;
      const std::string& name = names.try_emplace(dim.value, kNames[names.size()]).first->second;
      Graph trial = model->graph;
      Symbol symbol;
      symbol.name = name;
      symbol.min = 1;
      trial.fn(RandomModel::kMainFn).value(v).type.dims[d] =
          trial.dims.OfSymbol(trial.dims.AddSymbol(symbol));
      Graph inferred = trial;
      FillDefaults(&inferred);
      if (Verify(inferred).ok() && Infer(&inferred).ok()) model->graph = std::move(trial);
    }
  }
}

bool HasSymbols(const RandomModel& model) {
  const Function& f = model.main();
  return std::any_of(f.params.begin(), f.params.end(), [&](ValueId v) {
    const std::vector<Dim>& dims = f.value(v).type.dims;
    return std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return !d.known(); });
  });
}

}  // namespace ge::test

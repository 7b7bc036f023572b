#include "ge/control/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ge/ir/walk.h"
#include "ge/ops/branches.h"

namespace ge {
namespace {

constexpr int64_t kMostToChoose = 16;  // elements of a value that decides what is computed from it

bool IsStatic(const Function& f, const Node& n) {
  return std::all_of(n.outputs.begin(), n.outputs.end(),
                     [&](ValueId v) { return v == 0 || f.value(v).type.is_static(); });
}

void ForgetTypes(Function* f) {
  for (Value& v : f->values) {
    if (v.constant != 0) continue;
    v.ints.reset();
    if (v.type.is_tensor()) v.type = UnrankedTensor(v.type.dtype);
  }
}

bool Contains(const std::vector<ValueId>& list, ValueId v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

void AddOnce(ValueId v, std::vector<ValueId>* list) {
  if (!Contains(*list, v)) list->push_back(v);
}

bool IsOnHost(const Graph& g, const Function& f, const Node& n) {
  return FindHostOp(f, n) != nullptr || FindDataSized(g, n) != nullptr;
}

bool IsText(const Function& f, ValueId v) {
  return v != 0 && f.value(v).type.is_tensor() && f.value(v).type.dtype == DType::kString;
}

// No plan holds a text. A node of one may ask how many there are, which SizeCut answers.
Status CheckPlannable(const Graph& g, const Function& f, const Node& n) {
  const auto text = [&](ValueId v) { return IsText(f, v); };
  const auto in = std::find_if(n.inputs.begin(), n.inputs.end(), text);
  const auto out = std::find_if(n.outputs.begin(), n.outputs.end(), text);
  const bool reads = in != n.inputs.end(), makes = out != n.outputs.end();
  if (!makes && (!reads || AsksSizes(n))) return {};
  return Status(Code::kUnsupported,
                fmt::format("operator {} {} {} here, and texts are the host's, which has no rule "
                            "for it; docs/models.md says which operators take them",
                            n.op, reads ? "reads" : "makes",
                            TypeToString(f.value(reads ? *in : *out).type, g.dims)))
      .AtNode(NodeLabel(n));
}

// Without bodies and other values than tensors, whose types are forgotten, nothing names sizes.
bool NamesNoDims(const FlowRest& rest) {
  const Function& f = rest.graph.fn(rest.fn);
  const auto tensor = [](const Value& v) {
    return v.type.is_tensor() || v.type.kind == TypeKind::kUnknown;
  };
  const auto plain = [](const Node& n) {
    return n.callees.empty() && std::none_of(n.attrs.begin(), n.attrs.end(), [](const Attr& a) {
             return std::holds_alternative<Dim>(a.value) || std::holds_alternative<Type>(a.value) ||
                    std::holds_alternative<std::vector<Type>>(a.value);
           });
  };
  return std::all_of(f.values.begin(), f.values.end(), tensor) &&
         std::all_of(f.nodes.begin(), f.nodes.end(), plain);
}

// What a node waits for is done where it is not among the nodes any more.
void ForgetDone(Function* f) {
  std::set<NodeId> here;
  for (const Node& n : f->nodes) here.insert(n.id);
  for (Node& n : f->nodes) {
    std::erase_if(n.after, [&](NodeId id) { return here.count(id) == 0; });
  }
}

// Of an entry, inputs must have names that differ, and outputs; values of a function need not.
void NameSignature(Function* f) {
  for (const std::vector<ValueId>* list : {&f->params, &f->results}) {
    std::set<std::string> names;
    for (const ValueId v : *list) {
      std::string& name = f->values[v].name;
      if (name.empty()) name = "value";
      while (!names.insert(name).second) name += "'";
    }
  }
}

class Cutter {
 public:
  Cutter(const FlowRest& rest, const InferHook& infer, const FlowKnown& known)
      : from_(rest), infer_(infer), known_(known) {}

  Result<FlowCut> Run() {
    for (bool again = true; again;) {
      GE_RETURN_IF_ERROR(Start());
      GE_RETURN_IF_ERROR(LookWhereItWaits());
      again = TakeBranches();
    }
    for (const uint32_t i : planned_) {
      GE_RETURN_IF_ERROR(CheckPlannable(at_.graph, fn(), fn().nodes[i]));
    }
    MakeRest();
    MakeNow();
    return std::move(cut_);
  }

 private:
  Function& fn() { return at_.graph.fn(at_.fn); }

  // The rest with the types of what is at hand.
  Status Start() {
    at_ = from_;
    Function& f = fn();
    ForgetTypes(&f);
    for (const ValueId v : f.params) {
      if (auto type = known_.type(v)) f.value(v).type = *std::move(type);
    }
    for (const ValueId v : cut_.by_content) Give(&at_, v);
    return infer_(&at_.graph);
  }

  // What a parameter holds, as a constant in its place; there is such a content.
  void Give(FlowRest* to, ValueId v) const {
    Function& f = to->graph.fn(to->fn);
    const Const& c = *known_.content(v);
    f.value(v).type = c.type;
    f.value(v).constant = to->graph.AddConst(c);
    std::erase(f.params, v);
  }

  // Which nodes can be planned, which the host can run after that plan, and which have their inputs
  // then, but no shape.
  void Classify() {
    planned_.clear();
    host_.clear();
    stuck_.clear();
    const Function& f = fn();
    const std::set<ValueId> params(f.params.begin(), f.params.end());
    std::set<ValueId> made, hosted;
    std::map<uint32_t, std::vector<uint32_t>> before;  // by node: what effects put before it
    for (const auto& [first, then] : OrderEdges(f)) before[then].push_back(first);
    std::set<uint32_t> planned, on_host;
    for (uint32_t i = 0; i < f.nodes.size(); ++i) {
      const Node& n = f.nodes[i];
      bool after_plan = true, after_host = true;
      for (const uint32_t first : before[i]) {
        after_plan = after_plan && planned.count(first) != 0;
        after_host = after_host && (planned.count(first) != 0 || on_host.count(first) != 0);
      }
      for (const ValueId v : n.inputs) {
        if (v == 0 || f.value(v).constant != 0 || params.count(v) != 0) continue;
        after_plan = after_plan && made.count(v) != 0;
        after_host = after_host && (made.count(v) != 0 || hosted.count(v) != 0);
      }
      if (IsControl(n) || IsOnHost(from_.graph, f, n)) {
        if (!after_host) continue;
        host_.push_back(i);
        on_host.insert(i);
        hosted.insert(n.outputs.begin(), n.outputs.end());
      } else if (after_plan && IsStatic(f, n)) {
        planned_.push_back(i);
        planned.insert(i);
        made.insert(n.outputs.begin(), n.outputs.end());
      } else if (after_plan) {
        stuck_.push_back(i);
      }
    }
  }

  // As long as something can be done without, contents decide nothing, so that large pieces do not
  // change with them; but where they change all the time, all is done that follows from those at
  // hand: each cut of its own would be another plan for each content.
  Status LookWhereItWaits() {
    for (Classify(); !stuck_.empty(); Classify()) {
      const bool idle = planned_.empty() && host_.empty();
      if (!idle && (cut_.by_content.empty() || !known_.all_contents)) break;
      const Status looked = LookInside();
      if (!looked.ok() && (idle || looked.code() != Code::kUnsupported)) return looked;
      if (!looked.ok()) break;
    }
    return {};
  }

  // Gives contents of inputs to the first stuck node until its shape follows: of one input if that
  // is enough, so that what is not a shape does not decide which plan it is.
  Status LookInside() {
    for (const uint32_t i : stuck_) {
      const Node n = fn().nodes[i];
      std::vector<ValueId> inputs;
      for (auto v = n.inputs.rbegin(); v != n.inputs.rend(); ++v) {
        const bool fresh = *v != 0 && fn().value(*v).constant == 0 && known_.content(*v) != nullptr;
        if (fresh) AddOnce(*v, &inputs);
      }
      for (const ValueId v : inputs) {
        GE_ASSIGN_OR_RETURN(const bool enough, Try({v}, i));
        if (enough) return {};
      }
      if (inputs.size() > 1) {
        GE_ASSIGN_OR_RETURN(const bool enough, Try(inputs, i));
        if (enough) return {};
      }
      if (std::vector<ValueId> behind; known_.all_contents && Behind(n, &behind)) {
        GE_ASSIGN_OR_RETURN(const bool enough, Try(behind, i));
        if (enough) return {};
      }
    }
    const Node& n = fn().nodes[stuck_.front()];
    return Status(Code::kUnsupported,
                  fmt::format("the shape of a result of {} follows neither from the shapes of its "
                              "inputs nor from what small ones hold",
                              n.op))
        .AtNode(NodeLabel(n));
  }

  // Whether node i has static results when these values are constants; they stay so if it has.
  Result<bool> Try(const std::vector<ValueId>& values, uint32_t i) {
    FlowRest before = at_;
    for (const ValueId v : values) Give(&at_, v);
    GE_RETURN_IF_ERROR(infer_(&at_.graph));
    if (IsStatic(fn(), fn().nodes[i])) {
      cut_.by_content.insert(cut_.by_content.end(), values.begin(), values.end());
      return true;
    }
    at_ = std::move(before);
    return false;
  }

  // The branches of the Ifs that the host would run now and whose condition is known, by shapes or
  // by small arguments. False when none was taken.
  bool TakeBranches() {
    std::vector<std::pair<NodeId, bool>> taken;
    for (const uint32_t i : host_) {
      const Node& n = fn().nodes[i];
      if (!IsBranch(n) || stay_.count(n.id) != 0) continue;
      auto condition = KnownCondition(at_.graph, at_.fn, n);
      if (!condition) condition = ByArguments(n);
      if (condition) taken.emplace_back(n.id, *condition);
    }
    bool any = false;
    for (const auto& [branch, condition] : taken) any |= Take(branch, condition);
    return any;
  }

  bool Take(NodeId branch, bool condition) {
    const std::vector<Node>& nodes = from_.graph.fn(from_.fn).nodes;
    const Node node =
        *std::find_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.id == branch; });
    std::vector<FunctionId> left;
    Transaction t(&from_.graph, "inline-branches");
    if (!TakeBranch(t, from_.fn, node, condition, &left)) return stay_.insert(branch), false;
    t.ForgetUnnamed(std::move(left));
    const ValueId by = node.inputs[0];
    if (from_.graph.fn(from_.fn).value(by).constant != 0) return true;
    conditions_.push_back(by);
    cut_.conditions.push_back(condition);
    return true;
  }

  // The condition, where what arguments hold decides it.
  std::optional<bool> ByArguments(const Node& branch) {
    std::vector<ValueId> arguments;
    const auto may = [&](ValueId v) { return known_.may_choose(v); };
    if (!SmallBehind(branch.inputs[0], may, &arguments) || arguments.empty()) return std::nullopt;
    FlowRest with = at_;
    for (const ValueId v : arguments) Give(&with, v);
    if (!infer_(&with.graph).ok()) return std::nullopt;
    const auto condition = KnownCondition(with.graph, with.fn, branch);
    if (!condition) return std::nullopt;
    for (const ValueId v : arguments) AddOnce(v, &cut_.chosen_by);
    return condition;
  }

  // Small values at hand that a value is computed from, where nothing else is but what is known
  // already. False when there are others.
  bool SmallBehind(ValueId value, const std::function<bool(ValueId)>& may,
                   std::vector<ValueId>* out) {
    const Function& f = fn();
    const std::set<ValueId> params(f.params.begin(), f.params.end());
    const DefUse uses = BuildDefUse(f);
    std::vector<ValueId> open = {value};
    std::set<ValueId> seen;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (v == 0 || f.value(v).constant != 0 || f.value(v).ints || !seen.insert(v).second) continue;
      if (params.count(v) != 0) {
        const Const* content = may(v) ? known_.content(v) : nullptr;
        if (content == nullptr || ElementCount(content->type) > kMostToChoose) return false;
        AddOnce(v, out);
        continue;
      }
      if (uses.producer[v] < 0) return false;
      const Node& n = f.nodes[static_cast<size_t>(uses.producer[v])];
      open.insert(open.end(), n.inputs.begin(), n.inputs.end());
    }
    return true;
  }

  // Small whole numbers at hand behind the inputs of a node.
  bool Behind(const Node& n, std::vector<ValueId>* out) {
    const auto may = [&](ValueId v) { return IsInteger(fn().value(v).type.dtype); };
    for (const ValueId v : n.inputs) {
      std::vector<ValueId> behind;
      if (SmallBehind(v, may, &behind)) {
        for (const ValueId b : behind) AddOnce(b, out);
      }
    }
    return !out->empty();
  }

  // Takes the nodes that are done out of the rest and says what it reads of values before it.
  void MakeRest() {
    Function& f = from_.graph.fn(from_.fn);
    std::set<uint32_t> gone(planned_.begin(), planned_.end());
    gone.insert(host_.begin(), host_.end());
    for (const uint32_t i : host_) {
      cut_.host.push_back(
          {f.nodes[i], FindHostOp(fn(), f.nodes[i]), FindDataSized(from_.graph, f.nodes[i])});
      cut_.has_types |= IsControl(f.nodes[i]) && !IsBranch(f.nodes[i]);
      cut_.has_types |= cut_.host.back().kernel != nullptr;
    }
    cut_.has_types |= !conditions_.empty();
    now_ = from_;
    std::set<ValueId> known(f.params.begin(), f.params.end());
    std::vector<Node> left;
    std::set<ValueId> made;
    for (uint32_t i = 0; i < f.nodes.size(); ++i) {
      Node& n = f.nodes[i];
      (gone.count(i) != 0 ? known : made).insert(n.outputs.begin(), n.outputs.end());
      if (gone.count(i) == 0) left.push_back(std::move(n));
    }
    f.nodes = std::move(left);
    ForgetDone(&f);
    const auto read = [&](ValueId v) {
      if (v != 0 && made.count(v) == 0 && f.value(v).constant == 0) live_.insert(v);
    };
    for (const Node& n : f.nodes) std::for_each(n.inputs.begin(), n.inputs.end(), read);
    std::for_each(f.results.begin(), f.results.end(), read);
    f.params.assign(live_.begin(), live_.end());
    for (const ValueId v : known) {
      if (v != 0 && live_.count(v) == 0) cut_.dead.push_back(v);
    }
    cut_.results = f.results;
    cut_.values = f.values.size();
    for (const ValueId v : cut_.dead) f.values[v] = Value();
    ForgetOthers(&from_.graph, from_.fn);
    cut_.rest = std::move(from_);
  }

  void MakeNow() {
    Function& f = now_.graph.fn(now_.fn);
    std::set<ValueId> wanted = live_;
    for (const HostStep& step : cut_.host) {
      wanted.insert(step.node.inputs.begin(), step.node.inputs.end());
    }
    std::vector<Node> nodes;
    for (const uint32_t i : planned_) nodes.push_back(f.nodes[i]);
    if (cut_.has_types) {
      for (const uint32_t i : host_) nodes.push_back(f.nodes[i]);
    }
    cut_.planned = planned_.size();
    f.nodes = std::move(nodes);
    ForgetDone(&f);
    std::set<ValueId> made;
    for (size_t i = 0; i < f.nodes.size(); ++i) {
      for (const ValueId v : f.nodes[i].outputs) {
        if (v == 0) continue;
        made.insert(v);
        if (i < cut_.planned && wanted.count(v) != 0) cut_.plan_out.push_back(v);
      }
    }
    FindInputs(f, made);
    f.params = cut_.in;
    f.results = cut_.plan_out;
    NameSignature(&f);
    f.results.insert(f.results.end(), conditions_.begin(), conditions_.end());
    ForgetTypes(&f);
    // What a run reads and writes of them are parameters and results.
    now_.graph.states.resize(std::min<size_t>(now_.graph.states.size(), 1));
    std::erase_if(f.effects, [](const Effect& e) { return e.kind == EffectKind::kState; });
    ForgetOthers(&now_.graph, now_.fn);
    Compact(&now_.graph);
    if (NamesNoDims(now_)) now_.graph.dims = DimTable();
    cut_.now = std::move(now_);
  }

  // What `now` reads of values before it: first what the plan takes.
  void FindInputs(const Function& f, const std::set<ValueId>& made) {
    std::vector<ValueId> others;
    const auto read = [&](ValueId v, std::vector<ValueId>* list) {
      const bool before = v != 0 && f.value(v).constant == 0 && made.count(v) == 0;
      if (before && !Contains(cut_.by_content, v) && !Contains(cut_.plan_in, v)) AddOnce(v, list);
    };
    for (size_t i = 0; i < f.nodes.size(); ++i) {
      for (const ValueId v : f.nodes[i].inputs) {
        read(v, i < cut_.planned && !IsText(f, v) ? &cut_.plan_in : &others);
      }
    }
    for (const ValueId v : conditions_) read(v, &others);
    for (const ValueId v : cut_.chosen_by) read(v, &others);
    cut_.in = cut_.plan_in;
    cut_.in.insert(cut_.in.end(), cut_.by_content.begin(), cut_.by_content.end());
    cut_.in.insert(cut_.in.end(), others.begin(), others.end());
  }

  FlowRest from_;  // as in the model, with branches that are taken
  FlowRest at_;    // the same with what is known of what is at hand
  FlowRest now_;
  const InferHook& infer_;
  const FlowKnown& known_;
  FlowCut cut_;
  std::vector<uint32_t> planned_, host_, stuck_;  // indices of nodes
  std::vector<ValueId> conditions_;
  std::set<NodeId> stay_;  // Ifs that cannot be taken apart
  std::set<ValueId> live_;
};

}  // namespace

Result<FlowCut> CutFlow(const FlowRest& rest, const InferHook& infer, const FlowKnown& known) {
  return Cutter(rest, infer, known).Run();
}

bool AsksSizes(const Node& node) {
  return node.domain.empty() && (node.op == "Shape" || node.op == "Size");
}

bool NeedsFlow(const Graph& graph, const Function& function) {
  const auto text = [&](ValueId v) { return IsText(function, v); };
  if (std::any_of(function.params.begin(), function.params.end(), text)) return true;
  if (std::any_of(function.results.begin(), function.results.end(), text)) return true;
  return std::any_of(function.nodes.begin(), function.nodes.end(), [&](const Node& n) {
    const bool known = std::all_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) {
      return v == 0 || function.value(v).type.is_static();
    });
    return !known || IsControl(n) || IsOnHost(graph, function, n);
  });
}

void ForgetOthers(Graph* graph, FunctionId fn) {
  std::vector<bool> reached(graph->functions.size(), false);
  std::vector<FunctionId> todo = {fn};
  while (!todo.empty()) {
    const FunctionId at = todo.back();
    todo.pop_back();
    if (reached[at]) continue;
    reached[at] = true;
    for (const Node& n : graph->fn(at).nodes) {
      for (const Callee& c : n.callees) todo.push_back(c.fn);
    }
  }
  for (Function& f : graph->functions) {
    if (reached[f.id]) continue;
    // Its memory too: places are many, and each has a graph.
    f.nodes = {};
    f.params = {};
    f.results = {};
    f.effects = {};
    f.values.resize(std::min<size_t>(f.values.size(), 1));
    f.values.shrink_to_fit();
  }
}

}  // namespace ge

#include "ge/control/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ge/ir/walk.h"
#include "ge/ops/edit.h"

namespace ge {
namespace {

bool IsStatic(const Function& f, const Node& n) {
  return std::all_of(n.outputs.begin(), n.outputs.end(),
                     [&](ValueId v) { return v == 0 || f.value(v).type.is_static(); });
}

class Cutter {
 public:
  Cutter(FlowRest rest, const InferHook& infer, const ContentHook& content)
      : rest_(std::move(rest)), infer_(infer), content_(content) {}

  Result<FlowCut> Run() {
    GE_RETURN_IF_ERROR(infer_(&rest_.graph));
    for (;;) {
      Classify();
      if (!planned_.empty() || !host_.empty() || stuck_.empty()) break;
      GE_RETURN_IF_ERROR(LookInside());
    }
    FlowCut cut;
    cut.by_content = by_content_;
    MakeRest(&cut);
    MakePlan(&cut);
    return cut;
  }

 private:
  Function& fn() { return rest_.graph.fn(rest_.fn); }

  // Which nodes can be planned, which the host can run after that plan, and which wait for contents
  // alone.
  void Classify() {
    planned_.clear(), host_.clear(), stuck_.clear();
    const Function& f = fn();
    const std::set<ValueId> params(f.params.begin(), f.params.end());
    std::set<ValueId> made, hosted;
    std::map<uint32_t, std::vector<uint32_t>> before;  // by node: what effects put before it
    for (const auto& [first, then] : OrderEdges(f)) before[then].push_back(first);
    std::set<uint32_t> planned, on_host;
    for (uint32_t i = 0; i < f.nodes.size(); ++i) {
      const Node& n = f.nodes[i];
      bool at_once = true, after_plan = true, after_host = true;
      for (const uint32_t first : before[i]) {
        at_once = false;
        after_plan = after_plan && planned.count(first) != 0;
        after_host = after_host && (planned.count(first) != 0 || on_host.count(first) != 0);
      }
      for (const ValueId v : n.inputs) {
        if (v == 0 || f.value(v).constant != 0 || params.count(v) != 0) continue;
        at_once = false;
        after_plan = after_plan && made.count(v) != 0;
        after_host = after_host && (made.count(v) != 0 || hosted.count(v) != 0);
      }
      if (IsControl(n) || FindHostOp(f, n) != nullptr) {
        if (!after_host) continue;
        host_.push_back(i);
        on_host.insert(i);
        hosted.insert(n.outputs.begin(), n.outputs.end());
      } else if (after_plan && IsStatic(f, n)) {
        planned_.push_back(i);
        planned.insert(i);
        made.insert(n.outputs.begin(), n.outputs.end());
      } else if (at_once) {
        stuck_.push_back(i);
      }
    }
  }

  // Gives contents of inputs to the first stuck node until its shape follows: of one input if that
  // is enough, so that what is not a shape does not decide which plan it is.
  Status LookInside() {
    for (const uint32_t i : stuck_) {
      const Node n = fn().nodes[i];
      std::vector<ValueId> inputs;
      for (auto v = n.inputs.rbegin(); v != n.inputs.rend(); ++v) {
        const bool fresh = *v != 0 && fn().value(*v).constant == 0 && content_(*v) != nullptr;
        if (fresh && std::find(inputs.begin(), inputs.end(), *v) == inputs.end()) {
          inputs.push_back(*v);
        }
      }
      for (const ValueId v : inputs) {
        GE_ASSIGN_OR_RETURN(const bool enough, Try({v}, i));
        if (enough) return {};
      }
      if (inputs.size() > 1) {
        GE_ASSIGN_OR_RETURN(const bool enough, Try(inputs, i));
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
    Graph before = rest_.graph;
    for (const ValueId v : values) {
      Const c = *content_(v);
      fn().value(v).type = c.type;
      fn().value(v).constant = rest_.graph.AddConst(std::move(c));
      std::erase(fn().params, v);
    }
    GE_RETURN_IF_ERROR(infer_(&rest_.graph));
    if (IsStatic(fn(), fn().nodes[i])) {
      by_content_.insert(by_content_.end(), values.begin(), values.end());
      return true;
    }
    rest_.graph = std::move(before);
    return false;
  }

  // Takes the nodes that are done out of the rest and says what it reads of values before it.
  void MakeRest(FlowCut* cut) {
    Function& f = fn();
    done_ = f;  // nodes and params as they were
    std::set<uint32_t> gone(planned_.begin(), planned_.end());
    gone.insert(host_.begin(), host_.end());
    for (const uint32_t i : host_) {
      HostStep step{f.nodes[i], FindHostOp(f, f.nodes[i]), {}};
      for (const ValueId v : step.node.outputs) step.types.push_back(f.value(v).type);
      cut->host.push_back(std::move(step));
    }
    std::vector<Node> left;
    for (uint32_t i = 0; i < f.nodes.size(); ++i) {
      if (gone.count(i) == 0) left.push_back(std::move(f.nodes[i]));
    }
    f.nodes = std::move(left);
    std::set<ValueId> made;
    for (const Node& n : f.nodes) made.insert(n.outputs.begin(), n.outputs.end());
    std::set<ValueId> live;
    const auto read = [&](ValueId v) {
      const bool before = v != 0 && made.count(v) == 0;
      if (before && (f.value(v).constant == 0 || IsLooked(v))) live.insert(v);
    };
    for (const Node& n : f.nodes) std::for_each(n.inputs.begin(), n.inputs.end(), read);
    std::for_each(f.results.begin(), f.results.end(), read);
    for (const ValueId v : by_content_) f.value(v).constant = 0;
    f.params.assign(live.begin(), live.end());
    std::set<ValueId> known(done_.params.begin(), done_.params.end());
    known.insert(by_content_.begin(), by_content_.end());
    for (const uint32_t i : gone) {
      const Node& n = done_.nodes[i];
      known.insert(n.outputs.begin(), n.outputs.end());
    }
    for (const ValueId v : known) {
      if (v != 0 && live.count(v) == 0) cut->dead.push_back(v);
    }
    live_ = std::move(live);
    cut->rest.fn = rest_.fn;
  }

  bool IsLooked(ValueId v) const {
    return std::find(by_content_.begin(), by_content_.end(), v) != by_content_.end();
  }

  // Of an entry, inputs must have names that differ, and outputs; values of a function need not.
  static void NameSignature(Function* f) {
    for (const std::vector<ValueId>* list : {&f->params, &f->results}) {
      std::set<std::string> names;
      for (const ValueId v : *list) {
        std::string& name = f->values[v].name;
        if (name.empty()) name = "value";
        while (!names.insert(name).second) name += "'";
      }
    }
  }

  // The planned nodes alone; those whose results nobody reads are left out by the passes.
  void MakePlan(FlowCut* cut) {
    std::set<ValueId> wanted = live_;
    for (const uint32_t i : host_) {
      const Node& n = done_.nodes[i];
      wanted.insert(n.inputs.begin(), n.inputs.end());
    }
    Function plan = done_;
    plan.nodes.clear(), plan.params.clear(), plan.results.clear();
    std::set<ValueId> made, params;
    for (const uint32_t i : planned_) {
      const Node& n = done_.nodes[i];
      for (const ValueId v : n.inputs) {
        if (v == 0 || done_.values[v].constant != 0 || made.count(v) != 0) continue;
        if (params.insert(v).second) plan.params.push_back(v);
      }
      for (const ValueId v : n.outputs) {
        made.insert(v);
        if (v != 0 && wanted.count(v) != 0) plan.results.push_back(v);
      }
      plan.nodes.push_back(n);
    }
    if (!plan.results.empty()) {
      cut->plan = rest_.graph;
      for (Function& other : cut->plan.functions) {
        if (other.id == rest_.fn) continue;
        other.nodes.clear(), other.params.clear(), other.results.clear(), other.effects.clear();
      }
      cut->plan_in = plan.params, cut->plan_out = plan.results;
      NameSignature(&plan);
      cut->plan.fn(rest_.fn) = std::move(plan);
      cut->plan.states.resize(std::min<size_t>(cut->plan.states.size(), 1));
      Compact(&cut->plan);
    }
    cut->rest = std::move(rest_);
  }

  FlowRest rest_;
  const InferHook& infer_;
  const ContentHook& content_;
  std::vector<uint32_t> planned_, host_, stuck_;  // indices of nodes
  std::vector<ValueId> by_content_;
  Function done_;
  std::set<ValueId> live_;
};

}  // namespace

Result<FlowCut> CutFlow(FlowRest rest, const InferHook& infer, const ContentHook& content) {
  return Cutter(std::move(rest), infer, content).Run();
}

bool NeedsFlow(const Function& f) {
  return std::any_of(f.nodes.begin(), f.nodes.end(), [&](const Node& n) {
    const bool known = std::all_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) {
      return v == 0 || f.value(v).type.is_static();
    });
    return !known || IsControl(n) || FindHostOp(f, n) != nullptr;
  });
}

}  // namespace ge

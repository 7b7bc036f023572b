// Parts of random models, and how a model with a difference becomes a small one: single outputs,
// earlier outputs, nodes cut out in favour of inputs or constants that hold what ref gave there,
// bodies put in place of their control flow. A smaller model stays when it still differs.
#include <fmt/format.h>

#include <algorithm>

#include "ge/ir/cut.h"
#include "ge/ops/edit.h"
#include "ge/ops/op.h"
#include "tools/ge_test/models/random_models.h"

namespace ge::test {
namespace {

// Judgements, of five runs or so each, that one shrinking may take.
constexpr int kMostJudgements = 900;

bool IsControlNode(const Node& n) { return !n.callees.empty(); }

// Every value anew, by ref. False when it does not run.
bool EvaluateAll(RandomModel* m) {
  std::vector<ValueId> all;
  for (const Node& n : m->main().nodes) {
    for (const ValueId v : n.outputs) {
      if (v != 0) all.push_back(v);
    }
  }
  m->values.resize(m->main().values.size());
  const RandomModel whole = CutModel(*m, std::vector<bool>(m->main().nodes.size(), true), all);
  auto run = RunGraph(TidyGraph(whole), "ref", PassNames(std::in_place), ModelInputs(whole));
  if (!run.ok()) return false;
  for (size_t i = 0; i < all.size(); ++i) {
    m->values[all[i]] = std::make_shared<HostTensor>(std::move(run->outputs[i]));
  }
  return true;
}

// Puts a control node's body in its place: the branch that is taken, or the first trip.
class Inliner {
 public:
  Inliner(RandomModel* m, size_t at) : m_(m), node_(m->main().nodes[at]), at_(at) {}

  bool Run() {
    const bool loop = node_.op == "Loop";
    if (!loop && node_.op != "If") return false;
    const HostTensor* first = node_.inputs[0] != 0 ? m_->values[node_.inputs[0]].get() : nullptr;
    FunctionId callee = node_.callees[0].fn;
    for (const Callee& c : node_.callees) {
      const bool taken = first != nullptr && ElementAsInt(*first, 0) != 0;
      if (!loop && c.role == (taken ? "then_branch" : "else_branch")) callee = c.fn;
    }
    const Function body = m_->graph.fn(callee);
    std::vector<ValueId> args(node_.inputs.begin() + (loop ? 2 : 1), node_.inputs.end());
    if (loop) {
      auto go = MakeTensor(DType::kBool, {});
      if (!go.ok()) return false;
      SetIntElement(&*go, 0, 1);
      args.insert(args.begin(), AddConstValue(&m_->graph, &m_->main(), ToConst(*go, "")));
      args.insert(args.begin(), AppendModelInts(&m_->graph, RandomModel::kMainFn, {}, {0}));
    }
    rest_.assign(m_->main().nodes.begin() + static_cast<ptrdiff_t>(at_) + 1,
                 m_->main().nodes.end());
    m_->main().nodes.resize(at_);
    CopyNodes(body, args);
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      const ValueId result = inside_.at(body.results[i + (loop ? 1 : 0)]);
      instead_[node_.outputs[i]] = loop ? AsOutput(result, node_.outputs[i]) : result;
    }
    return Finish();
  }

 private:
  void CopyNodes(const Function& body, const std::vector<ValueId>& args) {
    Function& f = m_->main();
    inside_[0] = 0;
    for (size_t i = 0; i < args.size(); ++i) inside_[body.params[i]] = args[i];
    for (ValueId v = 1; v < body.values.size(); ++v) {
      if (inside_.count(v) != 0) continue;
      const Value& value = body.value(v);
      inside_[v] = AddValue(&f, value.constant != 0 ? value.type : Type(),
                            fmt::format("v{}", f.values.size()));
      f.value(inside_[v]).constant = value.constant;
    }
    for (Node n : body.nodes) {
      const bool fit = IsFitNode(n);
      n.id = f.next_node_id++;
      n.name = fmt::format("{}{}", fit ? kFitNodePrefix : "n", n.id);
      for (ValueId& v : n.inputs) v = inside_.at(v);
      for (ValueId& v : n.outputs) v = inside_.at(v);
      f.nodes.push_back(std::move(n));
    }
  }

  // A carried value as it is; a scanned one as often as there were trips.
  ValueId AsOutput(ValueId result, ValueId output) {
    const HostTensor* whole = output < m_->values.size() ? m_->values[output].get() : nullptr;
    const auto captures = static_cast<size_t>(AttrInt(node_, "captures"));
    const size_t carried = node_.inputs.size() - 2 - captures;
    const auto place = std::find(node_.outputs.begin(), node_.outputs.end(), output);
    if (static_cast<size_t>(place - node_.outputs.begin()) < carried || whole == nullptr) {
      return result;
    }
    const ValueId axis = AppendModelInts(&m_->graph, RandomModel::kMainFn, {1}, {0});
    const ValueId one =
        AppendModelNode(&m_->graph, RandomModel::kMainFn, "Unsqueeze", {result, axis}, {});
    const std::vector<ValueId> parts(static_cast<size_t>(std::max<int64_t>(whole->dims[0], 1)),
                                     one);
    return AppendModelNode(&m_->graph, RandomModel::kMainFn, "Concat", parts,
                           {{"axis", int64_t{0}}});
  }

  bool Finish() {
    Function& f = m_->main();
    const auto replace = [&](ValueId* v) {
      const auto it = instead_.find(*v);
      if (*v != 0 && it != instead_.end()) *v = it->second;
    };
    for (Node& n : rest_) {
      for (ValueId& v : n.inputs) replace(&v);
      f.nodes.push_back(std::move(n));
    }
    for (ValueId& v : f.results) replace(&v);
    return EvaluateAll(m_);
  }

  RandomModel* m_;
  const Node node_;
  const size_t at_;
  std::vector<Node> rest_;
  std::map<ValueId, ValueId> inside_, instead_;
};

class Shrinker {
 public:
  Shrinker(const RandomModel& model, const std::string& engines) : m_(model), engines_(engines) {
    of_ref_ = IsOfRef(JudgeModel(m_, engines_));
  }

  RandomModel Run() {
    for (const ValueId v : std::vector<ValueId>(m_.main().results)) {
      if (Try(WithResults(m_, {v}))) break;
    }
    for (int round = 0; round < 4; ++round) {
      const size_t before = m_.main().nodes.size();
      EarlierResult();
      CutNodes();
      FixConstants();
      RandomModel slim = m_;
      if (SlimControl(&slim)) Try(std::move(slim));
      const bool inlined = InlineOne();
      if (!inlined && m_.main().nodes.size() == before) break;
    }
    ForgetSymbols();
    return std::move(m_);
  }

 private:
  static bool IsOfRef(const std::string& why) { return why.rfind("ref: ", 0) == 0; }

  bool Try(RandomModel candidate) {
    if (candidate.main().results.empty() || ++judged_ > kMostJudgements) return false;
    const std::string why = JudgeModel(candidate, engines_);
    if (why.empty() || IsOfRef(why) != of_ref_) return false;
    m_ = std::move(candidate);
    return true;
  }

  static RandomModel WithResults(const RandomModel& m, const std::vector<ValueId>& results) {
    const Function& f = m.main();
    return CutModel(m, NeededNodes(f, std::vector<bool>(f.nodes.size(), true), results), results);
  }

  // The first value that differs by itself.
  void EarlierResult() {
    for (size_t i = 0; i + 1 < m_.main().nodes.size(); ++i) {
      for (const ValueId v : std::vector<ValueId>(m_.main().nodes[i].outputs)) {
        if (v != 0 && Try(WithResults(m_, {v}))) return;
      }
    }
  }

  // Cuts nodes out, in ever smaller groups; what others read of them becomes an input.
  void CutNodes() {
    for (size_t size = std::max<size_t>(m_.main().nodes.size() / 2, 1);; size /= 2) {
      for (size_t at = 0; at < m_.main().nodes.size();) {
        const Function& f = m_.main();
        std::vector<bool> keep(f.nodes.size(), true);
        std::set<ValueId> gone;
        for (size_t i = at; i < std::min(at + size, keep.size()); ++i) {
          keep[i] = false;
          gone.insert(f.nodes[i].outputs.begin(), f.nodes[i].outputs.end());
        }
        const std::vector<ValueId> results = f.results;
        const bool result_gone = std::any_of(results.begin(), results.end(),
                                             [&](ValueId v) { return gone.count(v) != 0; });
        if (result_gone || !Try(CutModel(m_, NeededNodes(f, keep, results), results))) at += size;
      }
      if (size <= 1) return;
    }
  }

  // What constants alone decide becomes one, the latest first: an engine may need it to be one, so
  // that it cannot be made an input.
  void FixConstants() {
    const Function& f = m_.main();
    std::set<ValueId> varied(f.params.begin(), f.params.end());
    std::vector<ValueId> fixed;
    for (const Node& n : f.nodes) {
      const bool varies = std::any_of(n.inputs.begin(), n.inputs.end(),
                                      [&](ValueId v) { return varied.count(v) != 0; });
      if (varies) varied.insert(n.outputs.begin(), n.outputs.end());
      if (!varies && n.outputs.size() == 1) fixed.push_back(n.outputs[0]);
    }
    for (auto v = fixed.rbegin(); v != fixed.rend(); ++v) Try(WithConstant(m_, *v));
  }

  static RandomModel WithConstant(const RandomModel& m, ValueId v) {
    const Function& f = m.main();
    std::vector<bool> keep;
    for (const Node& n : f.nodes) keep.push_back(n.outputs != std::vector<ValueId>{v});
    RandomModel out = CutModel(m, NeededNodes(f, keep, f.results), f.results);
    if (std::erase(out.main().params, v) == 0) return m;
    out.main().value(v).constant = out.graph.AddConst(ToConst(*m.values[v], ""));
    return out;
  }

  bool InlineOne() {
    for (size_t i = 0; i < m_.main().nodes.size(); ++i) {
      if (!IsControlNode(m_.main().nodes[i])) continue;
      RandomModel candidate = m_;
      if (Inliner(&candidate, i).Run() && Try(std::move(candidate))) return true;
    }
    return false;
  }

  void ForgetSymbols() {
    RandomModel candidate = m_;
    Function& f = candidate.main();
    for (const ValueId v : f.params) {
      f.value(v).type = TensorType(m_.values[v]->dtype, m_.values[v]->dims);
    }
    if (HasSymbols(m_)) Try(std::move(candidate));
  }

  RandomModel m_;
  const std::string engines_;
  bool of_ref_ = false;  // the difference is that ref itself refuses
  int judged_ = 0;
};

}  // namespace

RandomModel CutModel(const RandomModel& model, const std::vector<bool>& keep,
                     std::vector<ValueId> results) {
  RandomModel out = model;
  Function& f = out.main();
  const std::set<ValueId> before(f.params.begin(), f.params.end());
  CutFunction(&f, keep, std::move(results));
  for (const ValueId v : f.params) {
    if (before.count(v) != 0) continue;
    const HostTensor& t = *out.values[v];
    f.value(v).type = TensorType(t.dtype, t.dims);
  }
  return out;
}

Graph TidyGraph(const RandomModel& model) {
  Graph g = model.graph;
  DropUncalled(&g);
  Compact(&g);
  return g;
}

std::vector<const HostTensor*> ModelInputs(const RandomModel& model) {
  std::vector<const HostTensor*> in;
  for (const ValueId v : model.main().params) in.push_back(model.values[v].get());
  return in;
}

int64_t CountModelNodes(const RandomModel& model, bool fit_nodes_too) {
  int64_t count = 0;
  const Graph g = TidyGraph(model);
  for (FunctionId fn = 1; fn < g.functions.size(); ++fn) {
    for (const Node& n : g.fn(fn).nodes) count += fit_nodes_too || !IsFitNode(n);
  }
  return count;
}

RandomModel ShrinkModel(const RandomModel& model, const std::string& engines) {
  return Shrinker(model, engines).Run();
}

}  // namespace ge::test

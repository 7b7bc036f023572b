// What a cut becomes at given shapes.
#include "ge/control/cut.h"
#include "ge/ops/branches.h"
#include "ge/ops/known_const.h"

namespace ge {
namespace {

class Sizer {
 public:
  Sizer(const FlowCut& cut, const InferHook& infer, const FlowKnown& known)
      : cut_(cut), infer_(infer), known_(known) {}

  std::optional<SizedCut> Run() {
    Graph g = cut_.now.graph;
    if (!cut_.conditions.empty() && !cut_.chosen_by.empty()) {
      Graph all = g;
      const bool same = Give(&all, cut_.by_content) && Give(&all, cut_.chosen_by) && Infer(&all) &&
                        SameConditions(all);
      if (!same) return std::nullopt;
    }
    if (!Give(&g, cut_.by_content) || !Infer(&g)) return std::nullopt;
    if (cut_.chosen_by.empty() && !SameConditions(g)) return std::nullopt;
    const Function& f = g.fn(cut_.now.fn);
    for (size_t i = 0; i < cut_.planned; ++i) {
      for (const ValueId v : f.nodes[i].outputs) {
        if (v != 0 && !f.value(v).type.is_static()) return std::nullopt;
      }
    }
    SizedCut sized;
    for (size_t i = cut_.planned; i < f.nodes.size(); ++i) {
      std::vector<Type>& types = sized.types.emplace_back();
      for (const ValueId v : f.nodes[i].outputs) types.push_back(f.value(v).type);
    }
    if (cut_.plan_out.empty()) return sized;
    if (!KnowSizesOfTexts(&g)) return std::nullopt;
    sized.plan = PlanOf(std::move(g));
    return sized;
  }

 private:
  // The contents as constants in place of parameters.
  bool Give(Graph* g, const std::vector<ValueId>& values) const {
    Function& f = g->fn(cut_.now.fn);
    const Function& all = cut_.now.graph.fn(cut_.now.fn);
    for (size_t i = 0; i < cut_.in.size(); ++i) {
      if (std::find(values.begin(), values.end(), cut_.in[i]) == values.end()) continue;
      const Const* content = known_.content(cut_.in[i]);
      if (content == nullptr) return false;
      const ValueId v = all.params[i];
      f.value(v).type = content->type;
      f.value(v).constant = g->AddConst(*content);
      std::erase(f.params, v);
    }
    return true;
  }

  bool Infer(Graph* g) const {
    Function& f = g->fn(cut_.now.fn);
    const Function& all = cut_.now.graph.fn(cut_.now.fn);
    for (size_t i = 0; i < cut_.in.size(); ++i) {
      Value& v = f.value(all.params[i]);
      if (v.constant != 0) continue;
      if (auto type = known_.type(cut_.in[i])) v.type = *std::move(type);
    }
    return infer_(g).ok();
  }

  bool SameConditions(const Graph& g) const {
    const Function& f = g.fn(cut_.now.fn);
    for (size_t i = 0; i < cut_.conditions.size(); ++i) {
      const auto truth = KnownTruth(g, f.value(f.results[cut_.plan_out.size() + i]));
      if (!truth || *truth != cut_.conditions[i]) return false;
    }
    return true;
  }

  // What planned nodes ask of texts, which no plan takes, as constants in place of the nodes.
  bool KnowSizesOfTexts(Graph* g) const {
    Function& f = g->fn(cut_.now.fn);
    std::vector<Node> left;
    for (size_t i = 0; i < cut_.planned; ++i) {
      Node& n = f.nodes[i];
      const bool texts =
          AsksSizes(n) && f.value(n.inputs[0]).type.dtype == DType::kString && n.outputs[0] != 0;
      if (!texts) {
        left.push_back(std::move(n));
        continue;
      }
      Value& size = f.value(n.outputs[0]);
      std::optional<Const> known = KnownConst(size);
      if (!known) return false;
      size.constant = g->AddConst(*std::move(known));
    }
    f.nodes = std::move(left);
    return true;
  }

  // The planned nodes alone; those whose results nobody reads are left out by the passes.
  Graph PlanOf(Graph g) const {
    Function& f = g.fn(cut_.now.fn);
    f.results.resize(cut_.plan_out.size());
    const Function& all = cut_.now.graph.fn(cut_.now.fn);
    f.params.assign(all.params.begin(),
                    all.params.begin() + static_cast<ptrdiff_t>(cut_.plan_in.size()));
    if (cut_.has_types) ForgetOthers(&g, cut_.now.fn);
    Compact(&g);
    return g;
  }

  const FlowCut& cut_;
  const InferHook& infer_;
  const FlowKnown& known_;
};

}  // namespace

std::optional<SizedCut> SizeCut(const FlowCut& cut, const InferHook& infer,
                                const FlowKnown& known) {
  return Sizer(cut, infer, known).Run();
}

}  // namespace ge

// One function alone: single assignment, order, attributes, effects and `after` edges.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "ge/ir/walk.h"
#include "ge/verify/rules.h"

namespace ge::verify {
namespace {

class FunctionCheck {
 public:
  FunctionCheck(const Graph& g, const Function& f, bool is_entry, const VerifyLimits& limits)
      : g_(g), f_(f), is_entry_(is_entry), limits_(limits) {}

  Status Run() {
    if (f_.values.empty()) return Bad(Where() + " lacks its absent value 0");
    GE_RETURN_IF_ERROR(Signature());
    GE_RETURN_IF_ERROR(Values());
    GE_RETURN_IF_ERROR(Identity());
    GE_RETURN_IF_ERROR(Producers());
    GE_RETURN_IF_ERROR(Order());
    GE_RETURN_IF_ERROR(Results());
    for (const Node& n : f_.nodes) {
      GE_RETURN_IF_ERROR(At(n, Attributes(n)));
      GE_RETURN_IF_ERROR(At(n, After(n)));
    }
    return Effects();
  }

 private:
  std::string Where() const { return "function '" + f_.name + "'"; }
  std::string ValueLabel(ValueId v) const {
    return f_.values[v].name.empty() ? "value " + std::to_string(v)
                                     : "value '" + f_.values[v].name + "'";
  }

  Status Range(ValueId v, const std::string& what) const {
    if (v < f_.values.size()) return {};
    return Bad(what + " is value " + std::to_string(v) + "; " + Where() + " has " +
               std::to_string(f_.values.size() - 1) + " values");
  }

  // The words are put together for what fails alone.
  Status Range(ValueId v, const char* kind, size_t site) const {
    return v < f_.values.size() ? Status() : Range(v, kind + std::to_string(site));
  }

  Status Signature() {
    made_.assign(f_.values.size(), false);
    std::map<std::string, size_t> names;
    for (size_t i = 0; i < f_.params.size(); ++i) {
      const ValueId v = f_.params[i];
      GE_RETURN_IF_ERROR(Range(v, "input " + std::to_string(i) + " of " + Where()));
      if (!v) return Bad("input " + std::to_string(i) + " of " + Where() + " is absent");
      if (made_[v]) return Bad(ValueLabel(v) + " is two inputs of " + Where() + "; keep one");
      if (f_.values[v].constant) {
        return Bad("input '" + f_.values[v].name + "' of " + Where() +
                   " is also a constant; make it one of the two");
      }
      made_[v] = true;
      const std::string& name = f_.values[v].name;
      if (is_entry_ && name.empty()) {
        return Bad("input " + std::to_string(i) + " of " + Where() + " has no name; give it one");
      }
      if (!name.empty() && !names.emplace(name, i).second) {
        return Bad("inputs " + std::to_string(names[name]) + " and " + std::to_string(i) + " of " +
                   Where() + " are both named '" + name + "'; rename one");
      }
    }
    for (size_t i = 0; i < f_.results.size(); ++i) {
      GE_RETURN_IF_ERROR(Range(f_.results[i], "output " + std::to_string(i) + " of " + Where()));
      if (!f_.results[i])
        return Bad("output " + std::to_string(i) + " of " + Where() + " is absent");
    }
    return {};
  }

  Status Values() {
    std::vector<bool> boundary(f_.values.size(), false);
    if (is_entry_) {
      for (ValueId v : f_.params) boundary[v] = true;
      for (ValueId v : f_.results) boundary[v] = true;
    }
    const TypeSite inside = f_.derived.kind.empty() ? TypeSite::kInside : TypeSite::kDerived;
    for (ValueId v = 1; v < f_.values.size(); ++v) {
      const Value& x = f_.values[v];
      const TypeSite site = boundary[v] ? TypeSite::kBoundary : inside;
      if (Plain(x.type)) {  // The common case builds no text.
      } else {
        GE_RETURN_IF_ERROR(CheckType(g_, x.type, site, limits_, ValueLabel(v) + " of " + Where()));
      }
      if (x.constant >= g_.consts.size()) {
        return Bad(ValueLabel(v) + " of " + Where() + " names constant " +
                   std::to_string(x.constant) + "; the graph has " +
                   std::to_string(g_.consts.size() - 1));
      }
      const Type& held = g_.consts[x.constant].type;
      if (x.constant && x.type.kind != TypeKind::kUnknown &&
          (x.type.dtype != held.dtype || x.type.dims != held.dims || !x.type.is_tensor())) {
        return Bad(ValueLabel(v) + " of " + Where() + " is declared " +
                   TypeToString(x.type, g_.dims) + " but its constant is " +
                   TypeToString(held, g_.dims));
      }
      if (x.loc >= g_.locs.size()) {
        return Bad(ValueLabel(v) + " of " + Where() + " names location " + std::to_string(x.loc) +
                   "; the graph has " + std::to_string(g_.locs.size() - 1));
      }
    }
    return {};
  }

  // A static tensor within every limit.
  bool Plain(const Type& t) const {
    if (!t.is_static() || !t.elems.empty() || t.dtype == DType::kString) return false;
    return static_cast<int64_t>(t.dims.size()) <= limits_.max_rank && ByteCount(t).has_value();
  }

  Status Identity() {
    std::unordered_map<std::string, const Node*> names;
    for (uint32_t i = 0; i < f_.nodes.size(); ++i) {
      const Node& n = f_.nodes[i];
      if (n.op.empty()) {
        return Bad("node " + std::to_string(i) + " of " + Where() + " has an empty op_type")
            .AtNode(NodeLabel(n));
      }
      if (!n.id || !position_.emplace(n.id, i).second) {
        return Bad("node id " + std::to_string(n.id) + " of " + Where() +
                   (n.id ? " is used twice" : " is reserved for the absent node"))
            .AtNode(NodeLabel(n));
      }
      if (n.loc >= g_.locs.size()) {
        return Bad("names location " + std::to_string(n.loc) + "; the graph has " +
                   std::to_string(g_.locs.size() - 1))
            .AtNode(NodeLabel(n));
      }
      if (n.name.empty()) continue;
      auto [it, fresh] = names.emplace(n.name, &n);
      if (!fresh) {
        return Bad("two nodes of " + Where() + " are named '" + n.name + "' (a " + it->second->op +
                   " and a " + n.op + "); rename one")
            .AtNode(n.name);
      }
    }
    return {};
  }

  Status Producers() {
    std::vector<int32_t> producer(f_.values.size(), -1);
    for (uint32_t i = 0; i < f_.nodes.size(); ++i) {
      const Node& n = f_.nodes[i];
      for (size_t s = 0; s < n.inputs.size(); ++s) {
        GE_RETURN_IF_ERROR(At(n, Range(n.inputs[s], "input ", s)));
      }
      for (size_t s = 0; s < n.outputs.size(); ++s) {
        const ValueId v = n.outputs[s];
        GE_RETURN_IF_ERROR(At(n, Range(v, "output ", s)));
        if (!v) continue;
        if (f_.values[v].constant || made_[v]) {
          return Bad("produces " + ValueLabel(v) + ", which is already " +
                     (f_.values[v].constant ? "a constant" : "an input of " + Where()))
              .AtNode(NodeLabel(n));
        }
        if (producer[v] >= 0) {
          return Bad("nodes '" + NodeLabel(f_.nodes[producer[v]]) + "' and '" + NodeLabel(n) +
                     "' both produce " + ValueLabel(v) + "; rename one output")
              .AtNode(NodeLabel(n));
        }
        producer[v] = static_cast<int32_t>(i);
      }
    }
    producer_ = std::move(producer);
    return {};
  }

  // Reads come after writes. A cycle is printed as such.
  Status Order() {
    for (ValueId v = 1; v < f_.values.size(); ++v) {
      if (f_.values[v].constant) made_[v] = true;
    }
    for (uint32_t i = 0; i < f_.nodes.size(); ++i) {
      const Node& n = f_.nodes[i];
      for (size_t s = 0; s < n.inputs.size(); ++s) {
        const ValueId v = n.inputs[s];
        if (!v || made_[v]) continue;
        const std::string what = "input " + std::to_string(s) + " is " + ValueLabel(v);
        if (producer_[v] < 0) {
          return Bad(what + ", which nothing produces; add the node, input or constant")
              .AtNode(NodeLabel(n));
        }
        Function copy = f_;
        GE_RETURN_IF_ERROR(SortNodes(&copy));
        return Bad(what + ", which the later node '" + NodeLabel(f_.nodes[producer_[v]]) +
                   "' produces; put the nodes in topological order")
            .AtNode(NodeLabel(n));
      }
      for (ValueId v : n.outputs) {
        if (v) made_[v] = true;
      }
    }
    return {};
  }

  Status Results() {
    std::map<std::string, ValueId> names;
    for (ValueId v : f_.results) {
      if (!made_[v]) {
        return Bad("output '" + f_.values[v].name + "' (value " + std::to_string(v) + ") of " +
                   Where() + " is never produced");
      }
      if (!is_entry_) continue;
      const std::string& name = f_.values[v].name;
      if (name.empty()) {
        return Bad("an output of " + Where() + " (value " + std::to_string(v) +
                   ") has no name; give it one");
      }
      if (!names.emplace(name, v).second) {
        return Bad("two outputs of " + Where() + " are named '" + name + "'; rename one");
      }
    }
    return {};
  }

  // A number, a text or a list of such says nothing about the graph.
  static bool IsPlain(const Attr& a) {
    return std::holds_alternative<int64_t>(a.value) || std::holds_alternative<double>(a.value) ||
           std::holds_alternative<std::string>(a.value) ||
           std::holds_alternative<std::vector<int64_t>>(a.value);
  }

  Status Attributes(const Node& n) const {
    std::set<std::string_view> names;
    for (const Attr& a : n.attrs) {
      if (IsPlain(a) && !a.name.empty() && names.insert(a.name).second) continue;
      if (IsPlain(a) && !a.name.empty())
        return Bad("attribute '" + a.name + "' is given twice; keep one");
      const std::string what = "attribute '" + a.name + "'";
      if (a.name.empty()) return Bad("an attribute has no name");
      if (!names.insert(a.name).second) return Bad(what + " is given twice; keep one");
      if (const auto* ref = std::get_if<AttrRef>(&a.value)) {
        const auto& params = f_.attr_params;
        if (std::find(params.begin(), params.end(), ref->param) == params.end()) {
          return Bad(what + " refers to '" + ref->param + "', which " + Where() +
                     " does not have as an attribute parameter");
        }
      } else if (const auto* c = std::get_if<ConstRef>(&a.value)) {
        if (!c->id || c->id >= g_.consts.size()) {
          return Bad(what + " names constant " + std::to_string(c->id) + "; the graph has " +
                     std::to_string(g_.consts.size() - 1));
        }
      } else if (const auto* t = std::get_if<Type>(&a.value)) {
        GE_RETURN_IF_ERROR(CheckType(g_, *t, TypeSite::kInside, limits_, what));
      } else if (const auto* ts = std::get_if<std::vector<Type>>(&a.value)) {
        for (const Type& x : *ts) {
          GE_RETURN_IF_ERROR(CheckType(g_, x, TypeSite::kInside, limits_, what));
        }
      } else if (const auto* d = std::get_if<Dim>(&a.value)) {
        if (d->expr > g_.dims.expr_count()) {
          return Bad(what + " names dim expression " + std::to_string(d->expr) +
                     "; the graph has " + std::to_string(g_.dims.expr_count()));
        }
      }
    }
    return {};
  }

  Status After(const Node& n) const {
    const uint32_t own = position_.at(n.id);
    for (NodeId id : n.after) {
      if (id == n.id) return Bad("has a control edge to itself; remove it");
      auto it = position_.find(id);
      if (it == position_.end()) {
        return Bad("has a control edge from node id " + std::to_string(id) + ", which is not in " +
                   Where() + "; control edges do not cross functions");
      }
      if (it->second > own) {
        Function copy = f_;
        GE_RETURN_IF_ERROR(SortNodes(&copy));
        return Bad("must run after the later node '" + NodeLabel(f_.nodes[it->second]) +
                   "'; put the nodes in topological order");
      }
    }
    return {};
  }

  Status Effects() const {
    std::map<uint32_t, std::pair<const Node*, uint32_t>> last;  // by group
    for (const Effect& e : f_.effects) {
      GE_RETURN_IF_ERROR(OneEffect(e));
    }
    for (const Node& n : f_.nodes) {
      for (const Effect& e : n.effects) {
        GE_RETURN_IF_ERROR(At(n, OneEffect(e)));
        if (e.kind != EffectKind::kCollective) continue;
        auto [it, fresh] = last.emplace(e.object, std::pair(&n, e.sequence));
        if (!fresh && e.sequence <= it->second.second) {
          return Bad("is collective " + std::to_string(e.sequence) + " of group " +
                     std::to_string(e.object) + " but stands after '" +
                     NodeLabel(*it->second.first) + "', which is " +
                     std::to_string(it->second.second) + "; sequence numbers rise in node order")
              .AtNode(NodeLabel(n));
        }
        it->second = {&n, e.sequence};
      }
    }
    return {};
  }

  Status OneEffect(const Effect& e) const {
    if (e.kind > EffectKind::kStream) {
      return Bad("unknown effect kind " + std::to_string(static_cast<int>(e.kind)) + " in " +
                 Where());
    }
    if (e.kind == EffectKind::kState && (!e.object || e.object >= g_.states.size())) {
      return Bad("an effect in " + Where() + " names state " + std::to_string(e.object) +
                 "; the graph has " + std::to_string(g_.states.size() - 1));
    }
    return {};
  }

  const Graph& g_;
  const Function& f_;
  const bool is_entry_;
  const VerifyLimits& limits_;
  std::vector<bool> made_;         // by value: exists at this point of the walk
  std::vector<int32_t> producer_;  // by value: node index or -1
  std::unordered_map<NodeId, uint32_t> position_;
};

}  // namespace

Status CheckFunction(const Graph& graph, const Function& function, bool is_entry,
                     const VerifyLimits& limits) {
  return FunctionCheck(graph, function, is_entry, limits).Run();
}

}  // namespace ge::verify

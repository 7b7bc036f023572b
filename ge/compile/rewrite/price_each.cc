#include "ge/compile/rewrite/price_each.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "ge/base/half.h"
#include "ge/compile/decompose/expansion.h"
#include "ge/compile/decompose/least_offers.h"
#include "ge/compile/decompose/structure_hash.h"
#include "ge/compile/rewrite/assumed_sizes.h"
#include "ge/engine/offers.h"
#include "ge/engine/view.h"
#include "ge/infer/infer.h"

namespace ge {
namespace {

constexpr int64_t kFreeSize = 64;  // of a symbol, where its range allows it
// Constants of more elements are asked about with zeros in place of their numbers: no engine looks
// at so many to decide what it takes.
constexpr int64_t kMostRead = 16 << 10;

float Widened(DType from, const std::byte* at) {
  uint16_t code = 0;
  std::memcpy(&code, at, sizeof code);
  return from == DType::kBfloat16 ? FloatOfBrain(code) : FloatOfHalf(code);
}

// The function as a question.
class Question {
 public:
  Question(const Graph& graph, FunctionId fn, const std::map<ValueId, Type>& as)
      : from_(graph), of_(graph.fn(fn)), as_(as), sizes_(AssumedSizes(graph.dims, kFreeSize)) {}

  Status Make() {
    graph_.opsets = from_.opsets;
    graph_.consts = from_.consts;  // payloads are shared
    graph_.dims = from_.dims;
    graph_.ops = from_.ops;
    graph_.AddFunction("price");
    Function& f = graph_.fn(1);
    f.values = of_.values;
    known_.assign(f.values.size(), false);
    for (ValueId v = 1; v < f.values.size(); ++v) {
      GE_ASSIGN_OR_RETURN(known_[v], Retype(v, &f.values[v]));
    }
    for (uint32_t i = 0; i < of_.nodes.size(); ++i) {
      if (!Asks(of_.nodes[i])) continue;
      at_.push_back(i);
      f.nodes.push_back(of_.nodes[i]);
      f.nodes.back().after.clear();
    }
    AddBorders(&f);
    return {};
  }

  const Graph& graph() const { return graph_; }
  const std::vector<uint32_t>& at() const { return at_; }  // positions there, by position here

 private:
  bool Asks(const Node& n) const {
    const auto known = [&](ValueId v) { return v == 0 || known_[v]; };
    const bool plain = n.id != 0 && n.callees.empty() && n.effects.empty();
    const auto refers = [](const Attr& a) { return std::holds_alternative<AttrRef>(a.value); };
    return plain && std::none_of(n.attrs.begin(), n.attrs.end(), refers) &&
           std::all_of(n.inputs.begin(), n.inputs.end(), known) &&
           std::all_of(n.outputs.begin(), n.outputs.end(), known);
  }

  // False where it has no size that could be assumed.
  Result<bool> Retype(ValueId v, Value* value) {
    const auto other = as_.find(v);
    const DType was = value->type.dtype;
    if (other != as_.end()) value->type = other->second;
    value->ints.reset();
    if (!value->type.is_tensor() || !value->type.ranked) return false;
    for (Dim& d : value->type.dims) {
      const auto size = from_.dims.Evaluate(d, sizes_);
      if (!size) return false;
      d = KnownDim(std::max<int64_t>(*size, 0));
    }
    if (!value->constant || value->type.dtype == was) return true;
    GE_ASSIGN_OR_RETURN(value->constant, Converted(value->constant, value->type));
    return true;
  }

  // The constant in the other type; its numbers where an engine may want to see them.
  Result<ConstId> Converted(ConstId id, const Type& type) {
    const auto [known, fresh] = converted_.try_emplace({id, type.dtype}, 0);
    if (!fresh) return known->second;
    const Const& c = from_.consts[id];
    const auto count = ElementCount(type).value_or(0), bytes = ByteCount(type).value_or(0);
    ConstScratch scratch;
    const bool half = c.type.dtype == DType::kFloat16 || c.type.dtype == DType::kBfloat16;
    const std::byte* data = count <= kMostRead && half ? ConstBytes(c, &scratch) : nullptr;
    if (data && type.dtype == DType::kFloat) {
      std::vector<float> wide(static_cast<size_t>(count));
      for (size_t i = 0; i < wide.size(); ++i) wide[i] = Widened(c.type.dtype, data + 2 * i);
      return known->second = graph_.AddConst(MakeConst(type, wide.data(), wide.size() * 4, c.name));
    }
    Const zeros;
    zeros.name = c.name;
    zeros.type = type;
    GE_ASSIGN_OR_RETURN(zeros.owner, Zeros(static_cast<uint64_t>(bytes)));
    zeros.data = static_cast<const std::byte*>(zeros.owner.get());
    zeros.bytes = static_cast<uint64_t>(bytes);
    return known->second = graph_.AddConst(std::move(zeros));
  }

  // Pages that nobody touches take no memory.
  static Result<std::shared_ptr<const void>> Zeros(uint64_t bytes) {
    void* block = std::calloc(std::max<uint64_t>(bytes, 1), 1);
    if (block == nullptr) {
      return Status(Code::kResourceExhausted, "no memory to ask for the price of a constant of " +
                                                  std::to_string(bytes) + " bytes");
    }
    return std::shared_ptr<const void>(block,
                                       [](const void* p) { std::free(const_cast<void*>(p)); });
  }

  void AddBorders(Function* f) const {
    std::set<ValueId> made, read;
    for (const Node& n : f->nodes) {
      made.insert(n.outputs.begin(), n.outputs.end());
      read.insert(n.inputs.begin(), n.inputs.end());
    }
    for (const ValueId v : read) {
      if (v && !f->value(v).constant && !made.count(v)) f->params.push_back(v);
    }
    for (const ValueId v : made) {
      if (v && !read.count(v)) f->results.push_back(v);
    }
  }

  const Graph& from_;
  const Function& of_;
  const std::map<ValueId, Type>& as_;
  const std::map<SymbolId, int64_t> sizes_;
  Graph graph_;
  std::vector<bool> known_;  // by value
  std::vector<uint32_t> at_;
  std::map<std::pair<ConstId, DType>, ConstId> converted_;
};

// The least that each node is offered for.
Result<std::vector<double>> LeastOffers(const Graph& g, const Function& f,
                                        const EngineList& engines) {
  GE_ASSIGN_OR_RETURN(const auto view, GraphView::Make(g, f));
  std::vector<PlanLayout> layouts(1);  // plain
  OfferSet offers;
  for (uint32_t e = 0; e < engines.size(); ++e) {
    GE_RETURN_IF_ERROR(QueryEngine(*engines[e], e, g, f, view->get(), &layouts, &offers));
  }
  return LeastOf(offers, f.nodes.size());
}

// The same of the parts of nodes that have some, summed up: what nobody but ref takes whole is
// often taken in parts. Nodes that are alike are asked about once.
Result<std::map<NodeId, double>> LeastOfParts(const Graph& g, const EngineList& engines) {
  const Function& f = g.fn(1);
  std::map<NodeId, uint64_t> keys;
  std::map<uint64_t, NodeId> first;
  std::map<NodeId, uint32_t> position;
  for (uint32_t i = 0; i < f.nodes.size(); ++i) position[f.nodes[i].id] = i;
  for (const NodeId id : NodesWithParts(g, f)) {
    keys[id] = KeyOfNode(f, f.nodes[position.at(id)]);
    first.emplace(keys[id], id);
  }
  std::map<NodeId, double> out;
  if (first.empty()) return out;
  std::vector<NodeId> asked;
  for (const auto& [key, id] : first) asked.push_back(id);
  std::sort(asked.begin(), asked.end());
  Graph apart = g;
  // Assumed sizes may contradict an operator's rule, which its decomposition relies on.
  std::erase_if(asked, [&](NodeId id) { return !InferNode(&apart, 1, position.at(id)).ok(); });
  GE_ASSIGN_OR_RETURN(const std::vector<Expansion> expansions, ExpandToAsk(&apart, 1, asked));
  const Function& parts = apart.fn(1);
  GE_ASSIGN_OR_RETURN(const std::vector<double> least, LeastOffers(apart, parts, engines));
  position.clear();
  for (uint32_t i = 0; i < parts.nodes.size(); ++i) position[parts.nodes[i].id] = i;
  std::map<uint64_t, double> sums;
  for (const Expansion& e : expansions) {
    if (e.parts.empty()) continue;  // a coded weight, which nobody computes
    double& sum = sums[keys.at(e.node)] = 0;
    for (const NodeId part : e.parts) {
      const auto at = position.find(part);
      if (at != position.end()) sum += least[at->second];
    }
  }
  for (const auto& [id, key] : keys) {
    const auto sum = sums.find(key);
    if (sum != sums.end()) out[id] = sum->second;
  }
  return out;
}

}  // namespace

Result<std::vector<double>> PriceEach(const Graph& graph, FunctionId fn,
                                      const std::map<ValueId, Type>& as,
                                      const EngineList& engines) {
  std::vector<double> out(graph.fn(fn).nodes.size(), std::numeric_limits<double>::infinity());
  Question question(graph, fn, as);
  GE_RETURN_IF_ERROR(question.Make());
  const Function& f = question.graph().fn(1);
  if (f.nodes.empty()) return out;
  GE_ASSIGN_OR_RETURN(const std::vector<double> least, LeastOffers(question.graph(), f, engines));
  GE_ASSIGN_OR_RETURN(const auto parts, LeastOfParts(question.graph(), engines));
  for (size_t i = 0; i < least.size(); ++i) {
    const auto of_parts = parts.find(f.nodes[i].id);
    const double sum = of_parts == parts.end() ? least[i] : of_parts->second;
    out[question.at()[i]] = std::min(least[i], sum);
  }
  return out;
}

}  // namespace ge

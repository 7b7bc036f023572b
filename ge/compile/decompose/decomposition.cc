#include "ge/compile/decompose/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "ge/compile/decompose/expansion.h"
#include "ge/compile/decompose/quantized_weights.h"
#include "ge/compile/decompose/whole_nodes.h"
#include "ge/host/machine.h"
#include "ge/ops/edit.h"
#include "ge/ops/op.h"
#include "ge/place/from_offers.h"

namespace ge {
namespace {

// Added to each offer that touches a part: of two equal ways the whole node stays.
constexpr double kTieNs = 0.01;

// By node id, where it stands; parts that a stand-in replaced stand nowhere.
void AddPlaces(const std::unordered_map<NodeId, uint32_t>& places, const std::vector<NodeId>& parts,
               std::vector<uint32_t>* out) {
  for (NodeId part : parts) {
    const auto at = places.find(part);
    if (at != places.end()) out->push_back(at->second);
  }
}

// Nodes that may become parts or constants.
std::vector<NodeId> Candidates(const Graph& g, const Function& f) {
  std::vector<NodeId> out = NodesWithParts(g, f);
  const std::vector<NodeId> quantized = QuantizedWeightsOf(g, f);
  out.insert(out.end(), quantized.begin(), quantized.end());
  return out;
}

using Places = std::unordered_map<NodeId, uint32_t>;

Places Positions(const Function& f) {
  Places out;
  for (uint32_t i = 0; i < f.nodes.size(); ++i) out[f.nodes[i].id] = i;
  return out;
}

// By node position: the offers whose first node it is.
std::vector<std::vector<size_t>> ByFirstNode(const Function& f, const OfferSet& offers) {
  std::vector<std::vector<size_t>> out(f.nodes.size());
  for (size_t i = 0; i < offers.offers.size(); ++i) {
    const Offer& o = offers.offers[i];
    if (!o.convert) out[*std::min_element(o.nodes.begin(), o.nodes.end())].push_back(i);
  }
  return out;
}

// Everything about one choice: the graph with whole nodes, the one with parts, and the offers.
struct Market {
  const Graph* graph = nullptr;  // whole
  Graph expanded;
  FunctionId fn = 0;
  std::vector<Expansion> expansions;
  OfferSet whole, parts;  // as answered, each by positions of its own function
  OfferSet merged;        // by positions of the expanded function
  // By merged offer: the expansions whose node it takes whole.
  std::vector<std::vector<size_t>> keeps;
  Plan plan;  // engines, devices, domains, links, conversions, layouts

  const Function& whole_fn() const { return graph->fn(fn); }
  const Function& parts_fn() const { return expanded.fn(fn); }
};

// Whether an offer's nodes read one of the values, whose makers are not among them.
bool ReadsOf(const Function& f, const Offer& offer, const std::set<ValueId>& values) {
  if (values.empty() || offer.convert) return false;
  std::set<ValueId> made;
  for (uint32_t n : offer.nodes) made.insert(f.nodes[n].outputs.begin(), f.nodes[n].outputs.end());
  for (uint32_t n : offer.nodes) {
    for (ValueId v : f.nodes[n].inputs) {
      if (values.count(v) && !made.count(v)) return true;
    }
  }
  return false;
}

// The outputs of quantized weights, or the constants in their place.
std::set<ValueId> QuantizedValues(const Market& m, bool whole) {
  std::set<ValueId> out;
  for (const Expansion& e : m.expansions) {
    if (e.parts.empty()) out.insert(whole ? e.from[0] : e.to[0]);
  }
  return out;
}

// Offers on the whole graph as patterns over the expanded one. Who reads the floats of a quantized
// weight that is not in the pattern is asked about the constant, in MergeParts.
void MergeWhole(Market* m) {
  const auto position = Positions(m->parts_fn());
  const std::set<ValueId> quantized = QuantizedValues(*m, true);
  std::unordered_map<NodeId, size_t> expanded;
  std::unordered_map<ValueId, ValueId> renamed;
  for (size_t i = 0; i < m->expansions.size(); ++i) {
    const Expansion& e = m->expansions[i];
    expanded[e.node] = i;
    for (size_t k = 0; k < e.from.size(); ++k) renamed[e.from[k]] = e.to[k];
  }
  for (Offer offer : m->whole.offers) {
    if (offer.convert || ReadsOf(m->whole_fn(), offer, quantized)) continue;
    std::vector<uint32_t> nodes;
    std::vector<size_t> keeps;
    for (uint32_t n : offer.nodes) {
      const NodeId id = m->whole_fn().nodes[n].id;
      const auto e = expanded.find(id);
      if (e == expanded.end()) {
        nodes.push_back(position.at(id));
        continue;
      }
      keeps.push_back(e->second);
      AddPlaces(position, m->expansions[e->second].parts, &nodes);
    }
    if (nodes.empty()) continue;  // a quantized weight alone
    std::sort(nodes.begin(), nodes.end());
    offer.nodes = std::move(nodes);
    for (OfferChoice& c : offer.choices) {
      for (auto& [value, layout] : c.layouts) {
        const auto it = renamed.find(value);
        if (it != renamed.end()) value = it->second;
      }
    }
    m->merged.offers.push_back(std::move(offer));
    m->keeps.push_back(std::move(keeps));
  }
}

// Of the offers on the expanded graph only those with a part, or that read a constant in the place
// of a quantized weight: the others are known already.
void MergeParts(Market* m) {
  const std::set<ValueId> quantized = QuantizedValues(*m, false);
  std::set<NodeId> parts;
  for (const Expansion& e : m->expansions) parts.insert(e.parts.begin(), e.parts.end());
  for (const Offer& given : m->parts.offers) {
    const bool touches =
        !given.convert && std::any_of(given.nodes.begin(), given.nodes.end(), [&](uint32_t n) {
          return parts.count(m->parts_fn().nodes[n].id) > 0;
        });
    if (!touches && !ReadsOf(m->parts_fn(), given, quantized)) continue;
    m->merged.offers.push_back(given);
    for (OfferChoice& c : m->merged.offers.back().choices) c.marginal_ns += kTieNs;
    m->keeps.emplace_back();
  }
}

// Some nodes of a function as a function of their own, and the offers for them alone.
struct Alone {
  Function function;
  OfferSet offers;
  std::unordered_map<ValueId, ValueId> value;

  ValueId Map(const Function& f, ValueId v) {
    if (!v) return 0;
    const auto [it, fresh] = value.emplace(v, static_cast<ValueId>(function.values.size()));
    if (fresh) function.values.push_back(f.value(v));
    return it->second;
  }
};

// `by_first`: of ByFirstNode, so that a cut costs what is cut out, not all offers.
Alone CutOut(const Function& f, const std::vector<uint32_t>& nodes,
             const std::vector<ValueId>& results, const OfferSet& offers,
             const std::vector<std::vector<size_t>>& by_first) {
  Alone a;
  a.function.values.resize(1);
  std::unordered_map<uint32_t, uint32_t> position;
  for (uint32_t n : nodes) {
    position[n] = static_cast<uint32_t>(a.function.nodes.size());
    Node& copy = a.function.nodes.emplace_back(f.nodes[n]);
    for (ValueId& v : copy.inputs) v = a.Map(f, v);
    for (ValueId& v : copy.outputs) v = a.Map(f, v);
  }
  for (ValueId v : results) a.function.results.push_back(a.Map(f, v));
  std::vector<size_t> near;
  for (uint32_t n : nodes) near.insert(near.end(), by_first[n].begin(), by_first[n].end());
  std::sort(near.begin(), near.end());
  for (size_t i : near) {
    const std::vector<uint32_t>& taken = offers.offers[i].nodes;
    const bool inside =
        std::all_of(taken.begin(), taken.end(), [&](uint32_t n) { return position.count(n) > 0; });
    if (!inside) continue;
    Offer o = offers.offers[i];
    for (uint32_t& n : o.nodes) n = position.at(n);
    for (OfferChoice& c : o.choices) {
      std::erase_if(c.layouts, [&](const auto& l) { return !a.value.count(l.first); });
      for (auto& [v, layout] : c.layouts) v = a.value.at(v);
    }
    a.offers.offers.push_back(std::move(o));
  }
  return a;
}

// What the nodes cost when nothing is around them; nothing when no offers cover them.
std::optional<double> PriceAlone(const Market& m, const Graph& g, const Alone& a) {
  Plan plan = m.plan;
  if (!Place(g, a.function, a.offers, {}, {}, &plan).ok()) return std::nullopt;
  return plan.predicted_ns;
}

// What notes look up, made once for all expansions.
struct NoteIndex {
  explicit NoteIndex(const Market& m)
      : whole_at(Positions(m.whole_fn())),
        parts_at(Positions(m.parts_fn())),
        whole_first(ByFirstNode(m.whole_fn(), m.whole)),
        parts_first(ByFirstNode(m.parts_fn(), m.parts)) {}
  const Places whole_at, parts_at;
  const std::vector<std::vector<size_t>> whole_first, parts_first;
};

std::string Note(const Market& m, const NoteIndex& index, const Expansion& e, bool kept) {
  if (e.parts.empty()) return kept ? "kept: its codes are multiplied" : "made a constant";
  std::vector<uint32_t> parts;
  AddPlaces(index.parts_at, e.parts, &parts);
  std::sort(parts.begin(), parts.end());
  const auto whole = PriceAlone(
      m, *m.graph,
      CutOut(m.whole_fn(), {index.whole_at.at(e.node)}, e.from, m.whole, index.whole_first));
  const auto apart =
      PriceAlone(m, m.expanded, CutOut(m.parts_fn(), parts, e.to, m.parts, index.parts_first));
  // Two prices alone may say otherwise than the whole graph did.
  const bool against = whole && apart && (kept ? *apart < *whole : *whole < *apart);
  const char* among = against ? ", and better with its neighbours" : "";
  if (kept) {
    if (!apart) return "kept: no engine takes all of its parts";
    if (!whole) return fmt::format("kept: in a pattern, against {:.0f} ns for its parts", *apart);
    return fmt::format("kept: {:.0f} ns against {:.0f} ns for its parts{}", *whole, *apart, among);
  }
  const std::string head = fmt::format("expanded from {}: ", e.op);
  if (!whole) return head + "no engine takes it whole";
  if (!apart) return head + fmt::format("in patterns, against {:.0f} ns for it whole", *whole);
  return head + fmt::format("{:.0f} ns against {:.0f} ns for it whole{}", *apart, *whole, among);
}

// What the cheapest plan of the market takes.
struct Solution {
  std::vector<bool> kept;  // by expansion: the node stays whole
  std::vector<PlanSegment> segments;
  std::string method;
  uint32_t searches = 0;
};

// No answer when no plan covers all.
Result<std::optional<Solution>> Solve(Market* m) {
  Plan plan = m->plan;
  Status placed = Place(m->expanded, m->parts_fn(), m->merged, {}, {}, &plan);
  if (placed.code() == Code::kUnsupported) return std::optional<Solution>();
  GE_RETURN_IF_ERROR(placed);
  Solution out{std::vector<bool>(m->expansions.size()), std::move(plan.functions[0].segments),
               std::move(plan.place_method), plan.searches};
  for (const PlanSegment& s : out.segments) {
    for (const PlanOffer& o : s.offers) {
      for (size_t e : m->keeps[o.offer_index]) out.kept[e] = true;
    }
  }
  return std::optional(std::move(out));
}

// From the market's nodes and values to those of the graph that comes out of it: whole nodes for
// the parts of those that are kept, the parts made there for those that are not.
class Renaming {
 public:
  // `made`: what became parts, in the order of the expansions that are not kept.
  Renaming(const Market& m, const std::vector<bool>& kept, const std::vector<Expansion>& made)
      : givers_(GiversOf(m.parts_fn())) {
    std::unordered_map<NodeId, const Node*> whole;
    for (const Node& n : m.whole_fn().nodes) whole[n.id] = &n;
    size_t next = 0;
    for (size_t i = 0; i < m.expansions.size(); ++i) {
      const Expansion& e = m.expansions[i];
      const Expansion* now = kept[i] ? nullptr : &made[next++];
      for (size_t k = 0; k < e.parts.size(); ++k) {
        nodes_[e.parts[k]] = now ? now->parts[k] : e.node;
      }
      for (size_t k = 0; !now && k < e.from.size(); ++k) {
        const auto& outputs = whole.at(e.node)->outputs;
        const auto at = std::find(outputs.begin(), outputs.end(), e.from[k]) - outputs.begin();
        givers_[e.to[k]] = {e.node, static_cast<uint32_t>(at)};
      }
      for (size_t k = 0; now && k < e.parts.size(); ++k) moved_[e.parts[k]] = now->parts[k];
    }
    for (GivenBy& g : givers_) {
      const auto it = moved_.find(g.first);
      if (it != moved_.end()) g.first = it->second;
    }
  }
  NodeId NodeOf(NodeId n) const {
    const auto it = nodes_.find(n);
    return it == nodes_.end() ? n : it->second;
  }
  const std::vector<GivenBy>& givers() const { return givers_; }

 private:
  std::unordered_map<NodeId, NodeId> nodes_, moved_;
  std::vector<GivenBy> givers_;
};

MarketCover CoverOf(const Market& m, const Solution& solution, const Renaming& renamed) {
  MarketCover out;
  out.method = solution.method;
  out.searches = solution.searches;
  for (const PlanSegment& s : solution.segments) {
    MarketCover::Segment segment{m.plan.devices[s.device].name, {}};
    for (const PlanOffer& o : s.offers) {
      MarketCover::Taken taken;
      std::set<NodeId> nodes;
      for (NodeId n : o.nodes) nodes.insert(renamed.NodeOf(n));
      for (size_t e : m.keeps[o.offer_index]) nodes.insert(m.expansions[e].node);
      taken.nodes.assign(nodes.begin(), nodes.end());
      const OfferChoice& choice = m.merged.offers[o.offer_index].choices[o.choice];
      taken.layouts = BorderOf(choice, renamed.givers(), m.plan.layouts);
      taken.alone_ns = o.setup_ns + o.launch_ns + o.marginal_ns;
      segment.offers.push_back(std::move(taken));
    }
    out.segments.push_back(std::move(segment));
  }
  return out;
}

// Which nodes are not kept, and why; *notes says why the others are.
std::vector<NodeId> NoteChoices(const Market& m, const std::vector<bool>& kept,
                                DecompositionNotes* notes,
                                std::unordered_map<NodeId, std::string>* why) {
  const NoteIndex index(m);
  std::vector<NodeId> expand;
  for (size_t i = 0; i < m.expansions.size(); ++i) {
    const NodeId node = m.expansions[i].node;
    std::string note = Note(m, index, m.expansions[i], kept[i]);
    if (kept[i]) {
      (*notes)[node] = std::move(note);
    } else {
      expand.push_back(node);
      (*why)[node] = std::move(note);
    }
  }
  return expand;
}

// Nodes among these that somebody takes whole, so that their weights stay codes
// (OpDef::keeps_codes). *notes says so of each.
std::vector<NodeId> TakeCoded(const Graph& g, const Function& f, const OfferSet& whole,
                              const std::vector<NodeId>& candidates, DecompositionNotes* notes) {
  std::vector<bool> offered(f.nodes.size());
  for (const Offer& o : whole.offers) {
    if (!o.convert)
      std::for_each(o.nodes.begin(), o.nodes.end(), [&](uint32_t n) { offered[n] = true; });
  }
  std::vector<NodeId> out;
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    const Node& n = f.nodes[i];
    const OpDef* op = FindOp(g, n);
    if (!offered[i] || op == nullptr || !op->keeps_codes) continue;
    if (std::count(candidates.begin(), candidates.end(), n.id) == 0) continue;
    (*notes)[n.id] = "kept: its weights stay codes";
    out.push_back(n.id);
  }
  return out;
}

}  // namespace

bool HasDecompositions(const Graph& g, const Function& f) {
  return !NodesWithParts(g, f).empty() || !QuantizedWeightsOf(g, f).empty();
}

Status ChooseDecompositions(const EngineList& engines, const PriceCache* cache,
                            const AskEngines& ask, const FloatsOfWeight& floats, Graph* graph,
                            FunctionId fn, const std::vector<NodeId>& whole,
                            std::vector<NodeId>* expanded, DecompositionNotes* notes,
                            MarketCover* cover, std::optional<AskedOffers>* asked) {
  Market m;
  m.graph = graph;
  m.fn = fn;
  std::vector<NodeId> free = NodesWithParts(*graph, graph->fn(fn));
  std::erase_if(free, [&](NodeId n) { return std::count(whole.begin(), whole.end(), n) > 0; });
  std::vector<NodeId> quantized = QuantizedWeightsOf(*graph, graph->fn(fn));
  std::erase_if(quantized, [&](NodeId n) { return std::count(whole.begin(), whole.end(), n) > 0; });
  if (free.empty() && quantized.empty()) return {};
  GE_RETURN_IF_ERROR(DescribeEngines(engines, HostMachine(), &m.plan));
  if (cache != nullptr) CorrectLinks(BooksOf(engines), *cache, &m.plan);
  GE_RETURN_IF_ERROR(ask(*graph, m.whole_fn(), &m.plan.layouts, &m.whole));
  for (const NodeId n : TakeCoded(*graph, m.whole_fn(), m.whole, free, notes)) {
    std::erase(free, n);
  }
  GE_ASSIGN_OR_RETURN(const auto whole_nodes, WholeNodes(*graph, fn, free, m.whole, ask, &m.plan));
  for (const auto& [node, price] : whole_nodes) {
    (*notes)[node] = fmt::format("kept: {:.0f} ns against at least {:.0f} ns for its parts",
                                 price.whole_ns, price.parts_ns);
  }
  std::erase_if(free, [&](NodeId n) { return whole_nodes.count(n) > 0; });
  free.insert(free.end(), quantized.begin(), quantized.end());
  m.expanded = *graph;
  GE_ASSIGN_OR_RETURN(m.expansions, ExpandToAsk(&m.expanded, fn, free));
  if (m.expansions.empty()) {
    *asked = AskedOffers{std::move(m.whole), std::move(m.plan.layouts)};
    return {};
  }
  GE_RETURN_IF_ERROR(ask(m.expanded, m.parts_fn(), &m.plan.layouts, &m.parts));
  DescribeConversions(m.whole, &m.plan);
  MergeWhole(&m);
  MergeParts(&m);
  GE_ASSIGN_OR_RETURN(const auto solved, Solve(&m));
  if (!solved) return {};
  std::unordered_map<NodeId, std::string> why;
  std::vector<NodeId> expand = NoteChoices(m, solved->kept, notes, &why);
  // Before the graph changes, which the market looks at.
  Graph chosen;
  std::vector<Expansion> made;
  if (!expand.empty()) {
    chosen = *graph;
    GE_ASSIGN_OR_RETURN(made, Expand(floats, &chosen, fn, expand));
  }
  if (made.size() == expand.size()) *cover = CoverOf(m, *solved, Renaming(m, solved->kept, made));
  if (expand.empty()) {
    *asked = AskedOffers{std::move(m.whole), std::move(m.plan.layouts)};
    return {};
  }
  *graph = std::move(chosen);
  for (const Expansion& e : made) {
    for (NodeId part : e.parts) (*notes)[part] = why.at(e.node);
  }
  Compact(graph);
  *expanded = std::move(expand);
  return {};
}

Status ExpandAgain(const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                   const std::vector<NodeId>& which, const std::string& why,
                   DecompositionNotes* notes) {
  const std::vector<NodeId> all = Candidates(*graph, graph->fn(fn));
  const std::set<NodeId> candidates(all.begin(), all.end());
  std::vector<NodeId> known;
  std::copy_if(which.begin(), which.end(), std::back_inserter(known),
               [&](NodeId n) { return candidates.count(n) > 0; });
  if (known.empty()) return {};
  GE_ASSIGN_OR_RETURN(const auto done, Expand(floats, graph, fn, known));
  for (const Expansion& e : done) {
    for (NodeId part : e.parts) (*notes)[part] = fmt::format("expanded from {}: {}", e.op, why);
  }
  Compact(graph);
  return {};
}

Status FoldQuantizedWeights(const FloatsOfWeight& floats, Graph* graph, FunctionId fn) {
  const std::vector<NodeId> quantized = QuantizedWeightsOf(*graph, graph->fn(fn));
  if (quantized.empty()) return {};
  GE_RETURN_IF_ERROR(Expand(floats, graph, fn, quantized).status());
  Compact(graph);
  return {};
}

Result<bool> ExpandAll(const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                       const std::string& why, DecompositionNotes* notes) {
  GE_ASSIGN_OR_RETURN(const auto done,
                      Expand(floats, graph, fn, Candidates(*graph, graph->fn(fn))));
  for (const Expansion& e : done) {
    for (NodeId part : e.parts) (*notes)[part] = fmt::format("expanded from {}: {}", e.op, why);
  }
  if (!done.empty()) Compact(graph);
  return !done.empty();
}

}  // namespace ge

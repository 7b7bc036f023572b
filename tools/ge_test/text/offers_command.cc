// `--- run offers ENGINES [memory=off]`: what engines answer about the graph as it stands, with no
// pass and no placement between: each offer with its price and the alignment that it wants of
// constants, and what compiling it alone states of memory; then each refusal.
// `--- run misfits ENGINES`: the graph's nodes with one port after the other of another element
// type, of other sizes, left out or no constant, with a port more, or with an attribute out of its
// range, as no graph that INFER has seen would be: what each engine says of that. Nothing runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ge/engine/abi_layouts.h"
#include "ge/engine/offers.h"
#include "ge/engine/view.h"
#include "ge/infer/infer.h"
#include "ge/ops/defaults.h"
#include "ge/session/session.h"
#include "tools/ge_test/text/commands.h"

namespace ge::test {
namespace {

// Prices to three digits: what differs by less is no decision of anybody.
std::string Ns(double ns) {
  if (ns < 1000) return fmt::format("{:.3g}", ns);
  const double unit = std::pow(10, std::floor(std::log10(ns)) - 2);
  return fmt::format("{:.0f}", std::round(ns / unit) * unit);
}

std::string NodeNames(const Function& f, const std::vector<uint32_t>& nodes) {
  std::vector<std::string> names;
  for (const uint32_t n : nodes) names.push_back(f.nodes[n].op);
  return fmt::format("{}", fmt::join(names, "+"));
}

// One offer as a segment of its own.
class Alone {
 public:
  Alone(const Function& f, const Offer& offer, const ge_graph* graph, const AbiLayouts& layouts,
        uint32_t choice)
      : nodes_(offer.nodes) {
    std::set<ValueId> made, read;
    for (const uint32_t n : nodes_) {
      for (const ValueId v : f.nodes[n].outputs) made.insert(v);
    }
    std::set<ValueId> left(f.results.begin(), f.results.end());
    for (uint32_t n = 0; n < f.nodes.size(); ++n) {
      const bool mine = std::binary_search(nodes_.begin(), nodes_.end(), n);
      for (const ValueId v : f.nodes[n].inputs) {
        if (v == 0) continue;
        if (!mine) left.insert(v);
        if (mine && !f.value(v).constant && !made.count(v) && read.insert(v).second) {
          in_.push_back(v);
        }
      }
    }
    for (const uint32_t n : nodes_) {
      for (const ValueId v : f.nodes[n].outputs) {
        if (v != 0 && left.count(v)) out_.push_back(v);
      }
    }
    std::map<ValueId, LayoutId> of;
    if (!offer.choices.empty()) {
      for (const auto& [v, layout] : offer.choices[choice].layouts) of[v] = layout;
    }
    for (const uint32_t v : in_) in_layout_.push_back(of.count(v) ? of[v] : 0);
    for (const uint32_t v : out_) out_layout_.push_back(of.count(v) ? of[v] : 0);
    taken_ = {offer.cookie, nodes_.data(), static_cast<uint32_t>(nodes_.size()), choice, {}};
    ge_segment& s = segment_;
    s.h = GE_HDR(ge_segment, GE_TAG_SEGMENT);
    s.graph = graph;
    s.taken = &taken_;
    s.n_taken = 1;
    s.device = offer.device;
    s.in = in_.data();
    s.n_in = static_cast<uint32_t>(in_.size());
    s.out = out_.data();
    s.n_out = static_cast<uint32_t>(out_.size());
    s.in_layout = in_layout_.data();
    s.out_layout = out_layout_.data();
    s.layout = layouts.data();
    s.n_layout = layouts.size();
  }

  // What the engine says of the segment's memory; its refusal where it cannot compile it after all.
  std::string Text(const Engine& engine) const {
    ge_err err = EmptyError(), why = EmptyError();
    ge_compiled c{};
    c.h = GE_HDR(ge_compiled, GE_TAG_COMPILED);
    c.err = &why;
    std::lock_guard<std::mutex> lock(engine.call_mutex());
    const ge_rc rc = engine.api().compile(engine.handle(), &segment_, 1, sizeof(ge_segment), &c,
                                          sizeof(ge_compiled), &err);
    if (rc != GE_OK || c.rc != GE_OK || c.exec == nullptr) {
      return "does not compile: " + std::string(why.msg, why.msg_len);
    }
    std::string text = Memory(c);
    if (engine.api().exec_destroy) engine.api().exec_destroy(c.exec);
    return text;
  }

 private:
  static std::string Memory(const ge_compiled& c) {
    std::vector<std::string> words;
    if (c.workspace != 0) words.push_back(fmt::format("workspace {}", c.workspace));
    for (uint32_t i = 0; i < c.n_internal; ++i) {
      const ge_internal& v = c.internal[i];
      words.push_back(fmt::format("internal {} at {}..{}{}", v.bytes, v.first_step, v.last_step,
                                  v.alias_of == UINT32_MAX ? "" : " over another"));
    }
    for (uint32_t i = 0; i < c.n_pack; ++i) {
      const auto* p = reinterpret_cast<const ge_pack*>(reinterpret_cast<const char*>(c.pack) +
                                                       uint64_t{i} * c.pack_stride);
      words.push_back(fmt::format("pack {}", p->bytes));
    }
    for (uint32_t i = 0; i < c.alias_count; ++i) {
      words.push_back(
          fmt::format("output {} may lie on input {}", c.alias[2 * i], c.alias[2 * i + 1]));
    }
    if ((c.flags & GE_COMPILED_SERIAL) != 0) words.push_back("serial");
    if ((c.flags & GE_COMPILED_INFALLIBLE) != 0) words.push_back("cannot fail");
    return fmt::format("{}", fmt::join(words, ", "));
  }

  std::vector<uint32_t> nodes_, in_, out_, in_layout_, out_layout_;
  ge_taken taken_{};
  ge_segment segment_{};
};

std::string ChoiceText(const Function& f, const OfferChoice& c,
                       const std::vector<PlanLayout>& layouts) {
  std::vector<std::string> words;
  for (const auto& [v, layout] : c.layouts) {
    if (layout != 0) {
      words.push_back(fmt::format("{}={}", f.value(v).name, LayoutName(layouts[layout])));
    }
  }
  const std::string price = Ns(c.marginal_ns) + " ns";
  return words.empty() ? price : fmt::format("{} with {}", price, fmt::join(words, ", "));
}

std::string OfferText(const Engine& engine, const Graph& graph, const ge_graph* view,
                      const Offer& o, const std::vector<PlanLayout>& layouts, bool with_memory) {
  const Function& f = graph.fn(1);
  if (o.convert) {
    return fmt::format("{}: {} to {}: {} a byte\n", engine.name(),
                       LayoutName(layouts[o.convert_from]), LayoutName(layouts[o.convert_to]),
                       Ns(o.convert_ns_per_byte));
  }
  std::string text = fmt::format("{} {}:", engine.name(), NodeNames(f, o.nodes));
  if (o.setup_ns > 0) text += fmt::format(" setup {},", Ns(o.setup_ns));
  text += fmt::format(" launch {}", Ns(o.launch_ns));
  if (o.shape_ns > 0) text += fmt::format(", {} for each shape", Ns(o.shape_ns));
  if (o.growable) text += fmt::format(", grows and saves {}", Ns(o.edge_saving_ns));
  if (o.rounds) text += ", rounds";
  text += fmt::format(", constants at {}\n", o.const_align);
  const AbiLayouts abi(layouts);
  for (uint32_t i = 0; i < o.choices.size(); ++i) {
    const std::string memory = with_memory ? Alone(f, o, view, abi, i).Text(engine) : "";
    text += fmt::format("  {}{}{}\n", ChoiceText(f, o.choices[i], layouts),
                        memory.empty() ? "" : ": ", memory);
  }
  return text;
}

// The graph with all that engines see of it, and engines.
struct Asked {
  std::unique_ptr<Session> session;
  Graph graph;
};

Result<Asked> Open(const CaseState& state, const std::vector<std::string>& args) {
  if (args.size() != 1) return CaseError("a list of engines is wanted, as in onednn,ref");
  Asked a;
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(args[0]));
  GE_ASSIGN_OR_RETURN(a.session, Session::Create(std::move(options)));
  a.graph = *state.graph;
  FillDefaults(&a.graph);
  GE_RETURN_IF_ERROR(Infer(&a.graph));
  return a;
}

Result<OfferSet> Ask(const Engine& engine, const Graph& graph, const ge_graph* view,
                     std::vector<PlanLayout>* layouts) {
  OfferSet offers;
  GE_RETURN_IF_ERROR(QueryEngine(engine, 0, graph, graph.fn(1), view, layouts, &offers));
  return offers;
}

std::string RefusalText(const Engine& engine, const Function& f, const Refusal& r) {
  return fmt::format("{} {}: no: {}: {}\n", engine.name(), f.nodes[r.node].op, WhyName(r.why),
                     r.text);
}

// What each engine says of one node, at position n.
Result<std::string> Verdict(const Asked& a, uint32_t n) {
  std::vector<std::string> answers;
  GE_ASSIGN_OR_RETURN(const auto view, GraphView::Make(a.graph, a.graph.fn(1)));
  GE_ASSIGN_OR_RETURN(const EngineList* engines, a.session->Engines());
  for (const auto& engine : *engines) {
    std::vector<PlanLayout> layouts(1);
    GE_ASSIGN_OR_RETURN(const OfferSet offers, Ask(*engine, a.graph, view->get(), &layouts));
    for (const Offer& o : offers.offers) {
      if (o.nodes == std::vector<uint32_t>{n}) answers.push_back("taken by " + engine->name());
    }
    for (const Refusal& r : offers.refusals) {
      if (r.node != n) continue;
      answers.push_back(fmt::format("{}: {}: {}", engine->name(), WhyName(r.why), r.text));
    }
    for (const std::string& why : offers.rejected) answers.push_back("rejected: " + why);
  }
  return fmt::format("{}", fmt::join(answers, "; "));
}

// What is done to the type of a port; false where there is nothing to change.
struct Change {
  const char* words;
  bool (*apply)(Type* type);
};
template <DType kFirst, DType kElse>
bool Becomes(Type* t) {
  t->dtype = t->dtype == kFirst ? kElse : kFirst;
  return true;
}
bool Resize(Type* t, size_t least_rank, void (*change)(std::vector<int64_t>* dims)) {
  auto dims = t->static_dims();
  if (dims.size() < least_rank) return false;
  change(&dims);
  *t = TensorType(t->dtype, dims);
  return true;
}
constexpr Change kDTypes[] = {{"i32", Becomes<DType::kInt32, DType::kUint8>},
                              {"f64", Becomes<DType::kDouble, DType::kFloat>}};
constexpr Change kAllDTypes[] = {{"i32", Becomes<DType::kInt32, DType::kUint8>},
                                 {"bool", Becomes<DType::kBool, DType::kInt8>}};
constexpr Change kSizes[] = {
    {"first longer", [](Type* t) { return Resize(t, 1, [](auto* dims) { ++dims->front(); }); }},
    {"last longer", [](Type* t) { return Resize(t, 2, [](auto* dims) { ++dims->back(); }); }},
    {"rank more", [](Type* t) { return Resize(t, 0, [](auto* dims) { dims->push_back(1); }); }},
    {"rank less", [](Type* t) { return Resize(t, 1, [](auto* dims) { dims->pop_back(); }); }},
    {"of two", [](Type* t) {
       return t->rank() == 0 && Resize(t, 0, [](auto* dims) { dims->assign(1, 2); });
     }}};

// Answers to changes of a graph's ports and attributes, in the order in which they came; what has
// the same answer stands together.
class Misfits {
 public:
  explicit Misfits(Asked* a) : a_(*a), f_(a->graph.fn(1)) {}

  Result<std::string> Run() {
    std::string out;
    for (at_ = 0; at_ < f_.nodes.size(); ++at_) {
      rows_.clear();
      const Node whole = f_.nodes[at_];
      for (size_t p = 0; p < whole.inputs.size(); ++p) {
        GE_RETURN_IF_ERROR(Port(fmt::format("input {}", p), &f_.nodes[at_].inputs[p]));
      }
      for (size_t p = 0; p < whole.outputs.size(); ++p) {
        GE_RETURN_IF_ERROR(Port(fmt::format("output {}", p), &f_.nodes[at_].outputs[p]));
      }
      GE_RETURN_IF_ERROR(OneMore());
      GE_RETURN_IF_ERROR(Together());
      for (Attr& attr : f_.nodes[at_].attrs) GE_RETURN_IF_ERROR(Attribute(&attr));
      out += whole.op + "\n";
      for (const auto& [answer, what] : rows_) {
        out += fmt::format("  {}: {}\n", fmt::join(what, ", "), answer);
      }
    }
    return out;
  }

 private:
  Status Note(const std::string& what) {
    GE_ASSIGN_OR_RETURN(const std::string answer, Verdict(a_, at_));
    for (auto& [known, rest] : rows_) {
      if (known == answer) return rest.push_back(what), Status();
    }
    rows_.push_back({answer, {what}});
    return {};
  }

  Status Port(const std::string& name, ValueId* port) {
    const ValueId v = *port;
    if (v == 0) return {};
    Value& value = f_.value(v);
    const Value as_it_was = value;
    const auto apply = [&](const Change& change) -> Status {
      if (value.constant || !change.apply(&value.type)) return {};
      const Status status = Note(name + " " + change.words);
      value = as_it_was;
      return status;
    };
    for (const Change& change : kDTypes) GE_RETURN_IF_ERROR(apply(change));
    for (const Change& change : kSizes) GE_RETURN_IF_ERROR(apply(change));
    if (value.constant) {
      value.constant = 0;
      GE_RETURN_IF_ERROR(Note(name + " not constant"));
      value = as_it_was;
    }
    *port = 0;
    const Status status = Note(name + " left out");
    *port = v;
    return status;
  }

  // A port of the first one's type behind the last one.
  Status OneMore() {
    for (auto list : {&Node::inputs, &Node::outputs}) {
      if ((f_.nodes[at_].*list).empty() || (f_.nodes[at_].*list)[0] == 0) continue;
      const Value like = f_.value((f_.nodes[at_].*list)[0]);
      f_.values.push_back(like);
      f_.values.back().constant = 0;
      (f_.nodes[at_].*list).push_back(static_cast<ValueId>(f_.values.size() - 1));
      const Status status = Note(list == &Node::inputs ? "an input more" : "an output more");
      (f_.nodes[at_].*list).pop_back();
      f_.values.pop_back();
      GE_RETURN_IF_ERROR(status);
    }
    return {};
  }

  // All ports of one element type become another one.
  Status Together() {
    const std::vector<Value> as_they_were = f_.values;
    std::set<ValueId> ports;
    std::set<DType> found;
    for (const auto* list : {&f_.nodes[at_].inputs, &f_.nodes[at_].outputs}) {
      for (const ValueId v : *list) {
        if (v == 0 || f_.value(v).constant) continue;
        ports.insert(v);
        found.insert(f_.value(v).type.dtype);
      }
    }
    for (const DType dtype : found) {
      for (const Change& change : kAllDTypes) {
        for (const ValueId v : ports) {
          if (f_.value(v).type.dtype == dtype) change.apply(&f_.value(v).type);
        }
        const Status status = Note(fmt::format("all of {} {}", DTypeName(dtype), change.words));
        f_.values = as_they_were;
        GE_RETURN_IF_ERROR(status);
      }
    }
    return {};
  }

  Status Attribute(Attr* attr) {
    const Attr as_it_was = *attr;
    const auto put = [&](Attr::Payload payload, const char* words) -> Status {
      attr->value = std::move(payload);
      const Status status = Note(fmt::format("{} {}", attr->name, words));
      *attr = as_it_was;
      return status;
    };
    if (std::holds_alternative<int64_t>(attr->value)) {
      GE_RETURN_IF_ERROR(put(int64_t{-100}, "-100"));
      GE_RETURN_IF_ERROR(put(int64_t{100}, "100"));
    } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&attr->value)) {
      std::vector<int64_t> more = *ints, odd = *ints;
      more.push_back(1);
      for (int64_t& v : odd) v = -100;
      GE_RETURN_IF_ERROR(put(more, "longer"));
      if (!odd.empty()) GE_RETURN_IF_ERROR(put(odd, "-100"));
    } else if (std::holds_alternative<std::string>(attr->value)) {
      GE_RETURN_IF_ERROR(put(std::string("?"), "'?'"));
    } else if (const auto* names = std::get_if<std::vector<std::string>>(&attr->value)) {
      std::vector<std::string> more = *names, odd = *names;
      more.push_back("?");
      for (std::string& name : odd) name.assign(60, '?');
      GE_RETURN_IF_ERROR(put(more, "longer"));
      if (!odd.empty()) GE_RETURN_IF_ERROR(put(odd, "of names of 60 letters"));
    }
    return {};
  }

  Asked& a_;
  Function& f_;
  uint32_t at_ = 0;
  std::vector<std::pair<std::string, std::vector<std::string>>> rows_;
};

}  // namespace

Status RunOffers(CaseState* state, const std::vector<std::string>& args) {
  std::vector<std::string> list = args;
  const bool with_memory = std::erase(list, "memory=off") == 0;
  GE_ASSIGN_OR_RETURN(const Asked a, Open(*state, list));
  std::string text;
  GE_ASSIGN_OR_RETURN(const auto view, GraphView::Make(a.graph, a.graph.fn(1)));
  GE_ASSIGN_OR_RETURN(const EngineList* engines, a.session->Engines());
  for (const auto& engine : *engines) {
    std::vector<PlanLayout> layouts(1);
    GE_ASSIGN_OR_RETURN(const OfferSet offers, Ask(*engine, a.graph, view->get(), &layouts));
    std::set<std::string> said;  // conversions are offered once for each place
    for (const Offer& o : offers.offers) {
      const std::string line = OfferText(*engine, a.graph, view->get(), o, layouts, with_memory);
      if (!o.convert || said.insert(line).second) text += line;
    }
    for (const Refusal& r : offers.refusals) text += RefusalText(*engine, a.graph.fn(1), r);
    for (const std::string& why : offers.rejected) text += "rejected: " + why + "\n";
  }
  state->output = text;
  return {};
}

Status RunMisfits(CaseState* state, const std::vector<std::string>& args) {
  GE_ASSIGN_OR_RETURN(Asked a, Open(*state, args));
  GE_ASSIGN_OR_RETURN(state->output, Misfits(&a).Run());
  return {};
}

}  // namespace ge::test

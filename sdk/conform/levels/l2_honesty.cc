// Level 2: offers are what they say. Each node is answered, each offer compiles, runs and computes
// what its nodes mean from its own inputs, alone and in unions.
#include <fmt/format.h>

#include <algorithm>

#include "sdk/conform/case.h"
#include "sdk/conform/covers.h"
#include "sdk/conform/execute.h"
#include "sdk/conform/oracle.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

using mock::Answer;
using mock::Offer;

// Deep graphs in f32: this level finds wrong results, level 3 wrong digits.
constexpr uint32_t kMostChoices = 8;

std::string Names(const mock::Graph& g, const std::vector<uint32_t>& nodes) {
  std::string out;
  for (uint32_t n : nodes) out += (out.empty() ? "" : "+") + g.nodes[n].op;
  return out;
}

// Empty, or what is wrong with how the nodes were answered.
std::string AnswerFault(const mock::Graph& g, const Answer& answer) {
  if (answer.rc != GE_OK) {
    return fmt::format("query failed (code {}): {}", answer.rc, answer.error);
  }
  if (!answer.illegal.empty()) return "query: " + answer.illegal[0];
  std::vector<int> offered(g.nodes.size()), alone(g.nodes.size()), declined(g.nodes.size());
  for (const Offer& o : answer.offers) {
    for (uint32_t n : o.nodes) {
      ++offered[n];
      alone[n] += o.nodes.size() == 1;
    }
    const std::string fault = PatternFault(g, o);
    if (!fault.empty()) return "query: " + fault;
  }
  for (const mock::Decline& d : answer.declines) {
    ++declined[d.node];
    if (d.why < GE_WHY_OP || d.why > GE_WHY_OTHER) {
      return fmt::format("query: {} is declined for reason {}, which is no GE_WHY_*",
                         g.nodes[d.node].op, d.why);
    }
  }
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    if (offered[n] == 0 && declined[n] == 0) {
      return fmt::format("query: {} (node {}) is neither offered nor declined", g.nodes[n].op, n);
    }
    if (alone[n] != 0 && declined[n] != 0) {
      return fmt::format("query: {} (node {}) is offered and declined", g.nodes[n].op, n);
    }
    if (declined[n] > 1) {
      return fmt::format("query: {} (node {}) is declined {} times", g.nodes[n].op, n, declined[n]);
    }
  }
  return "";
}

// Empty, or where an output of the offers taken is off.
std::string OutputFault(Oracle* oracle, const mock::Segment& s, const Values& values,
                        const std::string& what) {
  for (const mock::Border& b : s.out) {
    const std::string fault = oracle->Differs(b.value, values.at(b.value));
    if (!fault.empty()) return fmt::format("enqueue of {}: output {}: {}", what, b.value, fault);
  }
  return "";
}

// Every offer with every choice of layouts, alone.
std::string RunEachOffer(Rig& rig, const Sample& sample, const Answer& answer, Oracle* oracle,
                         int* run) {
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    const Offer& o = answer.offers[i];
    if (o.converts()) continue;
    const auto choices = std::max<uint32_t>(1, static_cast<uint32_t>(o.choices.size()));
    for (uint32_t c = 0; c < std::min(choices, kMostChoices); ++c) {
      Values values = oracle->values();
      const Group group = {{i, c}};
      std::string why;
      if (!RunGroup(rig.engine(), sample.graph, answer, group, &values, &why)) return why;
      const mock::Segment s = mock::MakeSegment(sample.graph, answer, group);
      why = OutputFault(oracle, s, values, Names(sample.graph, o.nodes));
      if (!why.empty()) return why;
      ++*run;
    }
  }
  return "";
}

Outcome OffersOfShape(Subject& s, int shape) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = SampleOf(static_cast<Shape>(shape));
  const Answer answer = rig.engine().Query(sample.graph);
  std::string why = AnswerFault(sample.graph, answer);
  if (!why.empty()) return Fail(why);
  Oracle oracle(rig.ref(), sample, kLoose);
  if (!oracle.Prepare(&why)) return Fail(why);
  int run = 0;
  why = RunEachOffer(rig, sample, answer, &oracle, &run);
  if (!why.empty()) return rig.Judged(Fail(why));
  const Outcome closed =
      rig.Closed(Pass(fmt::format("{} offers and choices, {} of {} nodes declined", run,
                                  answer.declines.size(), sample.graph.nodes.size())));
  if (run == 0 && !IsBad(closed.verdict)) {
    return Unsupported("it declines every node: " +
                       (answer.declines.empty() ? "" : answer.declines[0].text));
  }
  return closed;
}

Outcome UnionsOf(Subject& s, int shape) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = SampleOf(static_cast<Shape>(shape));
  const Answer answer = rig.engine().Query(sample.graph);
  Oracle oracle(rig.ref(), sample, kLoose);
  std::string why;
  if (!oracle.Prepare(&why)) return Fail(why);
  Random r(s.Seed(static_cast<uint64_t>(shape)));
  int unions = 0;
  for (int draw = 0; draw < 6; ++draw) {
    const auto groups = RandomCover(sample.graph, answer, 1, draw < 2 ? 1 : 0.6, &r);
    for (const Group& group : groups) unions += group.size() > 1;
    Values values;
    if (!RunGraph(rig.engine(), rig.ref(), sample.graph, answer, groups, sample.inputs, &values,
                  &why)) {
      return rig.Judged(Fail(why));
    }
    for (uint32_t v : sample.graph.out) {
      why = oracle.Differs(v, values.at(v));
      if (!why.empty()) return Fail(fmt::format("output {} of a union of offers: {}", v, why));
    }
  }
  if (unions == 0) return rig.Judged(Unsupported("it makes no growable offers that touch"));
  return rig.Closed(Pass(fmt::format("{} unions", unions)));
}

bool SameOffer(const Offer& a, const Offer& b) {
  const auto text = [](const Offer& o) {
    std::string out = fmt::format("{} {} {} {} {} {}", fmt::join(o.nodes, ","), o.flags, o.device,
                                  o.const_align, o.edge_saving_ns, o.priced);
    out += fmt::format(" {} {} {} {} {}", o.cost.setup_ns, o.cost.marginal_ns, o.cost.launch_ns,
                       o.cost.workspace, o.cost.persistent);
    for (const mock::Choice& c : o.choices) {
      out += fmt::format("; {}", c.marginal_ns);
      for (const auto& [v, l] : c.layouts) out += fmt::format(" {}:{}", v, l);
    }
    return out + fmt::format(" {} {} {}", o.convert_from, o.convert_to, o.convert_ns_per_byte);
  };
  return text(a) == text(b);
}

std::string AnswersDiffer(const Answer& a, const Answer& b) {
  if (a.offers.size() != b.offers.size()) {
    return fmt::format("{} offers, then {}", a.offers.size(), b.offers.size());
  }
  for (size_t i = 0; i < a.offers.size(); ++i) {
    if (!SameOffer(a.offers[i], b.offers[i])) {
      return fmt::format("offer {} of nodes {} is another one: marginal {} ns, then {} ns", i,
                         fmt::join(a.offers[i].nodes, ","), a.offers[i].cost.marginal_ns,
                         b.offers[i].cost.marginal_ns);
    }
  }
  return a.declines.size() == b.declines.size() ? "" : "other declines";
}

Outcome Deterministic(Subject& s, int other_engine) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  Rig second(s);
  if (!second.ready()) return second.outcome();
  for (int shape = 0; shape < kShapes; ++shape) {
    const Sample sample = SampleOf(static_cast<Shape>(shape));
    const Answer a = rig.engine().Query(sample.graph);
    mock::Engine& other = other_engine != 0 ? second.engine() : rig.engine();
    (void)other.Query(OneAdd({3}).graph);  // what was asked between must not matter
    const std::string why = AnswersDiffer(a, other.Query(sample.graph));
    if (!why.empty()) {
      return Fail(fmt::format("query of {} answers otherwise when it is asked again{}: {}",
                              sample.name, other_engine != 0 ? " of a second engine" : "", why));
    }
  }
  return rig.Judged(Pass());
}

// ---- graphs that nobody can take whole
// ------------------------------------------------------------

enum Odd {
  kUnknownOp,
  kUnknownDomain,
  kBodies,
  kUnknownDims,
  kUnknownRank,
  kOldOpset,
  kStrings,
  kNoNodes
};

mock::Graph OddGraph(Odd odd) {
  mock::Graph g;
  if (odd == kNoNodes) {
    g.Output(g.Input(GE_F32, {2}));
    return g;
  }
  const int32_t dtype = odd == kStrings ? GE_STRING : GE_F32;
  const Dims dims = odd == kUnknownDims ? Dims{-1, 4} : Dims{3, 4};
  const uint32_t a = g.Input(dtype, dims), b = g.Input(dtype, dims);
  const char* first = odd == kUnknownOp ? "Frobnicate" : odd == kBodies ? "If" : "Add";
  const uint32_t y = g.Op1(first, {a, b}, {dtype, dims});
  g.Output(g.Op1(odd == kBodies ? "Loop" : "Relu", {y}, {dtype, dims}));
  if (odd == kUnknownDomain) g.nodes[0].domain = g.nodes[1].domain = "com.example.odd";
  if (odd == kBodies) g.nodes[0].n_body = g.nodes[1].n_body = 2;
  if (odd == kOldOpset) g.nodes[0].version = g.nodes[1].version = 1;
  for (mock::Value& v : g.values) {
    if (odd == kUnknownRank) {
      v.type.ranked = false;
      v.type.dims.clear();
    }
  }
  return g;
}

Outcome AnswersOdd(Subject& s, int odd) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const mock::Graph g = OddGraph(static_cast<Odd>(odd));
  const Answer answer = rig.engine().Query(g);
  const std::string why = AnswerFault(g, answer);
  if (!why.empty()) return Fail(why);
  for (const Offer& o : answer.offers) {
    if (o.nodes.empty()) continue;
    const bool unknown = odd == kUnknownDomain || (odd == kUnknownOp && o.nodes[0] == 0);
    if (unknown) return Fail("query: an operator that nobody knows is offered");
    if (odd == kStrings) return Fail("query: arithmetic on strings is offered");
  }
  return rig.Closed(Pass(fmt::format("{} offers", answer.offers.size())));
}

// Optional inputs that are not there.
Outcome AbsentInputs(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  Net n(31);
  const uint32_t x = n.In({3, 5});
  const uint32_t y = n.Gemm(x, n.Const(GE_F32, {5, 7}), 0, false, false);
  const uint32_t most = n.graph.Constant(Tensor::Of<float>(GE_F32, {}, {0.25f}));
  n.Out(n.graph.Op1("Clip", {y, 0, most}, {GE_F32, {3, 7}}));
  const Sample sample = n.Take("absent");
  const Answer answer = rig.engine().Query(sample.graph);
  std::string why = AnswerFault(sample.graph, answer);
  if (!why.empty()) return Fail(why);
  Oracle oracle(rig.ref(), sample, kLoose);
  if (!oracle.Prepare(&why)) return Fail(why);
  int run = 0;
  why = RunEachOffer(rig, sample, answer, &oracle, &run);
  if (!why.empty()) return rig.Judged(Fail(why));
  return run == 0 ? Unsupported("it declines Gemm and Clip")
                  : rig.Closed(Pass(fmt::format("{} offers", run)));
}

// ---- compile
// --------------------------------------------------------------------------------------

// All offers of single nodes as segments of one call; each may succeed by itself.
Outcome ManySegments(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = SampleOf(Shape::kBranches);
  Sample chain = Chain(6);
  int run = 0;
  for (const Sample* one : {&sample, static_cast<const Sample*>(&chain)}) {
    const Answer answer = rig.engine().Query(one->graph);
    Oracle oracle(rig.ref(), *one, kLoose);
    std::string why;
    if (!oracle.Prepare(&why)) return Fail(why);
    std::vector<mock::Segment> segments;
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      if (answer.offers[i].converts()) continue;
      segments.push_back(mock::MakeSegment(one->graph, answer, {{i, 0}}));
    }
    if (segments.empty()) continue;
    auto execs = mock::Compiler(rig.engine(), one->graph, answer).Compile(segments);
    std::reverse(execs.begin(), execs.end());
    while (!execs.empty()) {
      const mock::Exec& x = *execs.back();
      if (x.rc != GE_OK) return Fail("compile of several segments at once: " + x.error);
      Values values = oracle.values();
      if (!RunSegment(rig.engine(), one->graph, answer, x, &values, &why)) return Fail(why);
      why = OutputFault(&oracle, x.segment, values, "one of several segments");
      if (!why.empty()) return Fail(why);
      execs.erase(execs.begin());  // the oldest goes first, the last one is run last
      ++run;
    }
  }
  return run == 0 ? Unsupported("it offers none of these nodes")
                  : rig.Closed(Pass(fmt::format("{} segments", run)));
}

// An exec computes from what its segment reads: other numbers than those of the nodes before.
Outcome ReadsItsInputsAlone(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  int run = 0;
  for (const Shape shape : {Shape::kChain, Shape::kBranches, Shape::kMoves, Shape::kScalars}) {
    const Sample sample = SampleOf(shape);
    const Answer answer = rig.engine().Query(sample.graph);
    const Answer by_ref = rig.ref().Query(sample.graph);
    Values wanted;
    std::string why;
    if (!RunRef(rig.ref(), sample.graph, sample.inputs, &wanted, &why)) return Fail(why);
    Random r(s.Seed(5));
    for (auto& [v, t] : wanted) {
      if (sample.graph.values[v].constant != nullptr || !IsFloat(t.dtype)) continue;
      t = r.Numbers(t.dtype, t.dims, -2, 2);
    }
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      const Offer& o = answer.offers[i];
      if (o.converts() || o.nodes.size() != 1) continue;
      Values found = wanted, by = wanted;
      const auto ref_offer = OffersOf(by_ref, o.nodes);
      if (ref_offer.empty()) continue;
      if (!RunGroup(rig.engine(), sample.graph, answer, {{i, 0}}, &found, &why)) return Fail(why);
      if (!RunGroup(rig.ref(), sample.graph, by_ref, {{ref_offer[0], 0}}, &by, &why)) {
        return Fail(why);
      }
      for (uint32_t v : sample.graph.nodes[o.nodes[0]].out) {
        for (int64_t k = 0; k < by[v].count(); ++k) {
          const double f = ElementOf(found[v], k), w = ElementOf(by[v], k);
          const double size = std::max(1.0, std::abs(w));
          if (f == w || std::abs(f - w) <= 1e-3 * size) continue;
          return Fail(
              fmt::format("{} alone, with inputs of its own: element {} is {}, wanted {}; "
                          "it does not compute from its segment's inputs",
                          sample.graph.nodes[o.nodes[0]].op, k, f, w));
        }
      }
      ++run;
    }
  }
  return run == 0 ? Unsupported("it offers none of these nodes")
                  : rig.Closed(Pass(fmt::format("{} offers", run)));
}

Outcome Conversions(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = SampleOf(Shape::kConvNet);
  const Answer answer = rig.engine().Query(sample.graph);
  int run = 0;
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    const Offer& o = answer.offers[i];
    if (!o.converts()) continue;
    for (uint32_t v = 1; v < sample.graph.values.size(); ++v) {
      const mock::Value& value = sample.graph.values[v];
      const size_t rank = value.type.dims.size();
      const auto open = [&](uint32_t l) { return l == 0 || mock::IsOpen(answer.layouts[l], rank); };
      if (value.constant != nullptr || !open(o.convert_from) || !open(o.convert_to)) continue;
      Random r(v);
      const Tensor plain = r.Numbers(value.type.dtype, value.type.dims, -1, 1);
      std::vector<unsigned char> from;
      std::string why;
      ToLayout(rig.engine(), sample.graph, answer, v, o.convert_from, plain, &from, &why);
      const auto exec = mock::Compiler(rig.engine(), sample.graph, answer)
                            .Compile(mock::MakeConversion(answer, i, v));
      if (exec->rc != GE_OK) return Fail("compile of a conversion: " + exec->error);
      mock::Launch launch(*exec);
      launch.SetInput(0, from);
      if (launch.Run() != GE_OK) return Fail("enqueue of a conversion: " + launch.error());
      Tensor back;
      FromLayout(rig.engine(), sample.graph, answer, v, o.convert_to, launch.Output(0), &back,
                 &why);
      if (back.bytes != plain.bytes) {
        return Fail(fmt::format("a conversion from layout {} to {} of {} changes or loses elements",
                                o.convert_from, o.convert_to, TypeText(plain)));
      }
      ++run;
      break;
    }
  }
  return run == 0 ? rig.Judged(Unsupported("it offers no conversions"))
                  : rig.Closed(Pass(fmt::format("{} conversions", run)));
}

// `shape`: the exec of other dims computes what compile's would, or the engine says no.
Outcome OtherShapes(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  if (rig.engine().api().shape == nullptr) return Unsupported("shape is NULL");
  int run = 0, refused = 0;
  std::string why;
  const auto make = [](int64_t rows) {
    Net n(41);
    const uint32_t x = n.In({rows, 24});
    uint32_t y = n.MatMul(x, n.Const(GE_F32, {24, 17}, -0.2, 0.2));
    y = n.Unary("Relu", n.Binary("Add", y, n.Const(GE_F32, {17})));
    n.Out(n.Binary("Mul", y, y));
    return n.Take("rows");
  };
  const Sample first = make(5);
  const Answer answer = rig.engine().Query(first.graph);
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    const Offer& o = answer.offers[i];
    if (o.converts()) continue;
    const mock::Segment segment = mock::MakeSegment(first.graph, answer, {{i, 0}});
    const auto like = mock::Compiler(rig.engine(), first.graph, answer).Compile(segment);
    if (like->rc != GE_OK) return Fail("compile: " + like->error);
    for (const int64_t rows : {1, 5, 8, 63, 0}) {
      const Sample other = make(rows);
      Oracle oracle(rig.ref(), other, kLoose);
      if (!oracle.Prepare(&why)) return Fail(why);
      const auto exec = mock::Compiler(rig.engine(), other.graph, answer).Shape(*like, segment);
      if (exec->rc == GE_UNIMPLEMENTED) {
        ++refused;
        continue;
      }
      if (exec->rc != GE_OK) {
        return Fail(fmt::format("shape of {} at {} rows failed (code {}): {}",
                                Names(first.graph, o.nodes), rows, exec->rc, exec->error));
      }
      Values values = oracle.values();
      if (!RunSegment(rig.engine(), other.graph, answer, *exec, &values, &why)) return Fail(why);
      why = OutputFault(&oracle, exec->segment, values, fmt::format("shape at {} rows", rows));
      if (!why.empty()) return Fail(why);
      ++run;
    }
  }
  if (run == 0) return rig.Judged(Unsupported("it reshapes none of these nodes"));
  return rig.Closed(Pass(fmt::format("{} reshaped, {} refused", run, refused)));
}

Outcome SanePrices(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  constexpr uint64_t kMost = uint64_t{1} << 60;  // 36 years
  int priced = 0, unpriced = 0;
  for (int shape = 0; shape < kShapes; ++shape) {
    const Sample sample = SampleOf(static_cast<Shape>(shape));
    for (const Offer& o : rig.engine().Query(sample.graph).offers) {
      const std::string what = o.converts() ? "a conversion" : Names(sample.graph, o.nodes);
      if (!o.priced || o.cost.marginal_ns == GE_UNKNOWN_NS) {
        ++unpriced;
      } else if (o.cost.marginal_ns > kMost) {
        return Fail(fmt::format("query: {} asks {} ns", what, o.cost.marginal_ns));
      }
      ++priced;
      if (!o.priced) continue;
      if (o.cost.setup_ns > kMost || o.cost.launch_ns > kMost || o.edge_saving_ns > kMost) {
        return Fail(fmt::format("query: {} asks {} ns of setup, {} ns of launch, saves {} ns", what,
                                o.cost.setup_ns, o.cost.launch_ns, o.edge_saving_ns));
      }
      if (o.cost.confidence > 1000 || o.cost.source > GE_PRICE_MEASURED) {
        return Fail(fmt::format("query: {} has confidence {} and source {}", what,
                                o.cost.confidence, o.cost.source));
      }
      if (o.cost.workspace > uint64_t{1} << 40 || o.cost.persistent > uint64_t{1} << 40) {
        return Fail(fmt::format("query: {} wants {} bytes of workspace and {} that stay", what,
                                o.cost.workspace, o.cost.persistent));
      }
    }
  }
  return rig.Closed(Pass(fmt::format("{} offers, {} without a price", priced, unpriced)));
}

}  // namespace

std::vector<Case> HonestyCases() {
  std::vector<Case> cases;
  for (int shape = 0; shape < kShapes; ++shape) {
    const std::string name = NameOf(static_cast<Shape>(shape));
    cases.push_back({2, "offers-of-" + name, OffersOfShape, shape});
    cases.push_back({2, "unions-of-" + name, UnionsOf, shape});
  }
  const std::vector<Case> more = {
      {2, "deterministic", Deterministic, 0},
      {2, "deterministic-engines", Deterministic, 1},
      {2, "unknown-operator", AnswersOdd, kUnknownOp},
      {2, "unknown-domain", AnswersOdd, kUnknownDomain},
      {2, "bodies", AnswersOdd, kBodies},
      {2, "unknown-dims", AnswersOdd, kUnknownDims},
      {2, "unknown-rank", AnswersOdd, kUnknownRank},
      {2, "old-opset", AnswersOdd, kOldOpset},
      {2, "strings", AnswersOdd, kStrings},
      {2, "no-nodes", AnswersOdd, kNoNodes},
      {2, "absent-inputs", AbsentInputs},
      {2, "many-segments", ManySegments},
      {2, "reads-its-inputs-alone", ReadsItsInputsAlone},
      {2, "conversions", Conversions},
      {2, "other-shapes", OtherShapes},
      {2, "prices-are-sane", SanePrices},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace ge::conform

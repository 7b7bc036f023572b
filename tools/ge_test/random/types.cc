// ge-test --types N: what INFER says of the node of a random case when it is told less than all of
// its inputs: sizes that are symbols, ranks that nobody stated, constants that come at run time,
// numbers that are the sizes of another tensor. It must take the node still, whatever it says must
// hold at the sizes of the case, and BIND to these must come to what is said when all is known.
// Parts that the node then has must make a legal graph, of which the same holds. No node runs, but
// for the small integers that INFER claims to know.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontend/text/text.h"
#include "ge/compile/decompose/decomposition.h"
#include "ge/infer/infer.h"
#include "ge/ops/defaults.h"
#include "ge/verify/verify.h"
#include "tools/ge_test/random_case.h"

namespace ge::test {
namespace {

constexpr int kShownTypes = 3;    // of an operator
constexpr int64_t kMostInts = 8;  // that become the sizes of a tensor

// How little is known of a case.
struct Known {
  const char* words;
  bool ranks;                      // else no input has a rank
  double size;                     // how likely a size stays a number
  bool one_name;                   // equal sizes are one symbol: nothing but their value is lost
  double constants;                // how likely a constant stays one
  bool numbers_are_sizes = false;  // small integers are the shape of another input
  bool exact =
      false;  // sizes above 1 alone are symbols: what follows must be said in terms of them
};
constexpr Known kAll = {"everything known", true, 1, true, 1};
constexpr Known kLess[] = {
    {"sizes that are symbols", true, 0, true, 1},
    {"sizes above 1 that are symbols", true, 0, true, 1, false, true},
    {"sizes that are symbols, and numbers that are sizes", true, 0, true, 1, true},
    {"numbers that are sizes", true, 1, true, 1, true},
    {"sizes of which each is another symbol", true, 0, false, 0.5},
    {"some sizes", true, 0.5, true, 0.5},
    {"some sizes and ranks", true, 0.5, false, 0.5},
    {"no constants", true, 1, true, 0},
    {"no ranks", false, 0, true, 1},
    {"no ranks and no constants", false, 0, true, 0},
};
// Whose weight's sizes are what its windows are, and whose indices' are the rank of its result.
constexpr std::string_view kOfWindows[] = {
    "Conv", "ConvInteger", "ConvTranspose", "DeformConv", "FusedConv", "QLinearConv", "GatherND"};
constexpr size_t kSomeRanks = 6;

// The graph of a case of which less is known, and the numbers that stand behind its symbols.
class Forgetful {
 public:
  Forgetful(const RandomCase& c, const Known& known, Random* random) : known_(known), r_(*random) {
    RandomCase less = c;
    for (auto& in : less.inputs) in.constant = in.constant && r_.Chance(known.constants);
    std::vector<std::shared_ptr<HostTensor>> tensors;
    graph = ToGraph(less, DType::kUndefined, &tensors);
    const FunctionId fn = graph.entries[0].fn;
    const std::vector<ValueId> params = graph.fn(fn).params;
    for (size_t i = 0; i < params.size(); ++i) {
      shapes.push_back(tensors[i]->dims);
      graph.fn(fn).value(params[i]).type = TypeOf(tensors[i]->dtype, tensors[i]->dims);
    }
    if (known.numbers_are_sizes) MakeSizes(less);
    FillDefaults(&graph);
  }

  Graph graph;
  std::vector<std::vector<int64_t>> shapes;  // of the parameters
  std::map<SymbolId, int64_t> sizes;

 private:
  Type TypeOf(DType dtype, const std::vector<int64_t>& dims) {
    if (!known_.ranks || (&known_ == &kLess[kSomeRanks] && r_.Chance(0.3))) {
      return UnrankedTensor(dtype);
    }
    std::vector<Dim> made;
    for (const int64_t d : dims) {
      const bool number = known_.exact ? d <= 1 : r_.Chance(known_.size);
      made.push_back(number ? KnownDim(d) : SymbolOf(d));
    }
    return TensorType(dtype, std::move(made));
  }

  // A symbol whose range holds the size and says more or less of it.
  Dim SymbolOf(int64_t size) {
    Symbol s;
    s.name = known_.one_name ? fmt::format("S{}", size) : fmt::format("S{}_{}", size, sizes.size());
    if (SymbolId id = graph.dims.FindSymbol(s.name)) return graph.dims.OfSymbol(id);
    s.min = known_.exact ? 2 : r_.Int(0, 1) * std::min<int64_t>(size, r_.Int(1, 3));
    if (r_.Chance(0.3)) s.max = size + r_.Int(1, 4);
    const SymbolId id = graph.dims.AddSymbol(s);
    sizes[id] = size;
    return graph.dims.OfSymbol(id);
  }

  // Inputs that hold a few whole numbers, none below 0, become Shape of a parameter that has these
  // sizes.
  void MakeSizes(const RandomCase& c) {
    Function& f = graph.fn(graph.entries[0].fn);
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const HostTensor* t = c.inputs[i].tensor.get();
      if (t == nullptr || !c.inputs[i].constant || t->dtype != DType::kInt64) continue;
      if (t->dims.size() != 1 || t->count() > kMostInts) continue;
      std::vector<int64_t> numbers;
      for (int64_t k = 0; k < t->count(); ++k) numbers.push_back(ElementAsInt(*t, k));
      // A 0 would tell Reshape to copy, which no rule expects of a symbol.
      const int64_t least = std::string_view(c.op->name) == "Reshape" ? 1 : 0;
      if (std::any_of(numbers.begin(), numbers.end(), [&](int64_t n) { return n < least; })) {
        continue;
      }
      const ValueId of = AddValue(&f, TypeOf(DType::kBool, numbers), fmt::format("of{}", i));
      f.params.push_back(of);
      shapes.push_back(numbers);
      Node node;
      node.id = f.next_node_id++;
      node.op = "Shape";
      node.inputs = {of};
      node.outputs = {AddValue(&f, Type(), fmt::format("sizes{}", i))};
      f.nodes.back().inputs[i] = node.outputs[0];
      f.nodes.insert(f.nodes.begin(), std::move(node));
    }
  }

  const Known& known_;
  Random& r_;
};

// Whether what is said of a size or number holds where it is `want`; "" or what is wrong.
std::string Holds(const DimTable& dims, Dim said, const std::map<SymbolId, int64_t>& sizes,
                  int64_t want) {
  const DimTable::Range range = dims.RangeOf(said);
  if (want < range.lo || want > range.hi) {
    return fmt::format("{}, from {} to {}, where it is {}", dims.ToString(said), range.lo, range.hi,
                       want);
  }
  const auto found = said.known() ? std::optional(said.value) : dims.Evaluate(said, sizes);
  if (!found || *found == want) return "";
  return fmt::format("{}, which is {} where it is {}", dims.ToString(said), *found, want);
}

// What is wrong with the types of `less`, if those of `all` are right.
std::string Wrong(const Forgetful& all, const Forgetful& less, bool exact) {
  const Function& f = all.graph.fn(all.graph.entries[0].fn);
  const Function& g = less.graph.fn(less.graph.entries[0].fn);
  for (size_t i = 0; i < f.results.size(); ++i) {
    const Value &want = f.value(f.results[i]), &said = g.value(g.results[i]);
    const std::string both = fmt::format("out{} is {}, and {} when all is known", i,
                                         TypeToString(said.type, less.graph.dims),
                                         TypeToString(want.type, all.graph.dims));
    if (said.type.kind != want.type.kind || said.type.dtype != want.type.dtype) return both;
    if (exact && want.type.ranked && !said.type.ranked) return both;
    if (!said.type.ranked) continue;
    if (!want.type.ranked || want.type.rank() != said.type.rank()) return both;
    for (size_t a = 0; a < want.type.rank(); ++a) {
      const Dim w = want.type.dims[a], s = said.type.dims[a];
      if (!w.known() && s.known()) return both;
      if (exact && w.known() && !s.known() && !less.graph.dims.Evaluate(s, less.sizes)) return both;
      const std::string why = w.known() ? Holds(less.graph.dims, s, less.sizes, w.value) : "";
      if (!why.empty()) return fmt::format("axis {} of out{} is {}", a, i, why);
    }
    for (size_t k = 0; want.ints && said.ints && k < want.ints->size(); ++k) {
      const Dim w = (*want.ints)[k];
      const std::string why =
          w.known() ? Holds(less.graph.dims, (*said.ints)[k], less.sizes, w.value) : "";
      if (!why.empty()) return fmt::format("element {} of out{} is {}", k, i, why);
    }
  }
  return "";
}

// Whether a size is no symbol but of those that only data decide.
bool IsOfData(const DimTable& dims, Dim d, int depth = 0) {
  if (d.known() || depth > 16) return true;
  const DimTable::Expr& e = dims.expr(d.expr);
  if (e.op == DimOp::kSymbol) return dims.symbol(e.symbol).data_dependent;
  if (e.op != DimOp::kSum) return IsOfData(dims, e.a, depth + 1) && IsOfData(dims, e.b, depth + 1);
  return std::all_of(e.terms.begin(), e.terms.end(), [&](const DimTable::Term& t) {
    return IsOfData(dims, Dim{0, t.atom}, depth + 1);
  });
}

// Puts parts in the place of the node, where it has some: whether it had. Coded weights stay, since
// nobody is here who would make their floats.
Result<bool> TakeApart(Graph* graph) {
  const FloatsOfWeight none = [](const Graph&, const Function&, const Node&) {
    return Result<std::optional<Const>>(std::optional<Const>());
  };
  DecompositionNotes notes;
  const FunctionId fn = graph->entries[0].fn;
  GE_ASSIGN_OR_RETURN(const bool any, ExpandAll(none, graph, fn, "", &notes));
  if (!any) return false;
  GE_RETURN_IF_ERROR(Verify(*graph));
  GE_RETURN_IF_ERROR(Infer(graph));
  return true;
}

class TypesOfOne {
 public:
  TypesOfOne(const SweepOptions& options, const OpDef& op) : options_(options), op_(op) {}

  void Run() {
    for (case_ = 0; case_ < options_.count; ++case_) {
      Random random(MixSeed(options_.seed, op_.name, case_));
      CaseMaker maker(op_, PickDType(op_, &random), &random);
      FindRandomOp(op_)->make(maker);
      One(maker.c, &random);
    }
  }

  int64_t passed = 0, failed = 0, refused = 0;

 private:
  void One(const RandomCase& c, Random* random) {
    Forgetful all(c, kAll, random);
    if (!Infer(&all.graph).ok()) {  // ge-test --random tells
      ++refused;
      return;
    }
    Count(all, kAll.words, OfAll(c, all));
    for (const Known& known : kLess) {
      Forgetful less(c, known, random);
      const Status inferred = Infer(&less.graph);
      const bool exact = known.exact && std::find(std::begin(kOfWindows), std::end(kOfWindows),
                                                  op_.name) == std::end(kOfWindows);
      Count(less, known.words,
            inferred.ok() ? Wrong(all, less, exact) : "it is refused: " + inferred.ToString());
      if (!inferred.ok()) continue;
      if (op_.decompose) Parts(all, less, known);
      const Status bound = Bind(&less.graph, "main", less.shapes);
      Count(less, fmt::format("{}, then bound", known.words),
            bound.ok() ? known.constants == 1 ? Same(all, less) : Wrong(all, less, false)
                       : "it is refused: " + bound.ToString());
    }
  }

  // What is said of the parts of a node of which less is known.
  void Parts(const Forgetful& all, const Forgetful& less, const Known& known) {
    Forgetful parts = less;
    const auto apart = TakeApart(&parts.graph);
    if (apart.ok() && !*apart) return;
    Count(parts, fmt::format("{}, in parts", known.words),
          apart.ok() ? Wrong(all, parts, false) : "no legal graph: " + apart.status().ToString());
  }

  // What is wrong where nothing is left out.
  std::string OfAll(const RandomCase& c, const Forgetful& all) {
    const Function& f = all.graph.fn(all.graph.entries[0].fn);
    bool any = false;
    for (size_t i = 0; i < f.results.size(); ++i) {
      const Value& v = f.value(f.results[i]);
      const Port& port = op_.outputs[std::min(i, op_.outputs.size() - 1)];
      if (v.type.is_tensor() && (port.dtypes & Bit(v.type.dtype)) == 0) {
        return fmt::format("out{} is {}, which the operator's record does not name", i,
                           TypeToString(v.type, all.graph.dims));
      }
      if (v.type.is_tensor() && !v.type.ranked) return fmt::format("out{} has no rank", i);
      for (const Dim d : v.type.dims) {
        if (!IsOfData(all.graph.dims, d)) {
          return fmt::format("out{} is {}, of which a size is neither known nor of data", i,
                             TypeToString(v.type, all.graph.dims));
        }
      }
      any |= v.ints.has_value();
    }
    if (!any) return "";
    const auto run = RunRandomCase(c, DType::kUndefined, "ref");
    for (size_t i = 0; run.ok() && i < f.results.size(); ++i) {
      const auto& ints = f.value(f.results[i]).ints;
      for (size_t k = 0; ints && k < ints->size(); ++k) {
        const int64_t found = ElementAsInt(run->outputs[i], static_cast<int64_t>(k));
        const std::string why = Holds(all.graph.dims, (*ints)[k], {}, found);
        if (!why.empty()) return fmt::format("element {} of out{} is {}", k, i, why);
      }
    }
    return "";
  }

  // The same types, since the same is known.
  static std::string Same(const Forgetful& all, const Forgetful& bound) {
    const Function& f = all.graph.fn(all.graph.entries[0].fn);
    const Function& g = bound.graph.fn(bound.graph.entries[0].fn);
    for (size_t i = 0; i < f.results.size(); ++i) {
      const std::string want = TypeToString(f.value(f.results[i]).type, all.graph.dims);
      const std::string found = TypeToString(g.value(g.results[i]).type, bound.graph.dims);
      const bool fixed = f.value(f.results[i]).type.is_static();
      if (fixed && want != found) return fmt::format("out{} is {}, wanted {}", i, found, want);
    }
    return Wrong(all, bound, false);
  }

  void Count(const Forgetful& of, std::string_view known, const std::string& why) {
    if (why.empty()) {
      ++passed;
      return;
    }
    if (++failed > kShownTypes) return;
    fmt::print("FAILED  {}, seed {}, case {}, {}: {}\n{}", FullName(op_), options_.seed, case_,
               known, why, PrintText(of.graph));
  }

  const SweepOptions& options_;
  const OpDef& op_;
  int64_t case_ = 0;
};

}  // namespace

int RunRandomTypes(const SweepOptions& options) {
  fmt::print("seed {}, {} cases for each operator\n", options.seed, options.count);
  int64_t passed = 0, failed = 0, matched = 0;
  for (const OpDef* op : AllOps()) {
    if (!options.op.empty() && options.op != FullName(*op)) continue;
    if (FindRandomOp(*op) == nullptr) continue;  // ge-test --random tells
    ++matched;
    TypesOfOne one(options, *op);
    one.Run();
    passed += one.passed;
    failed += one.failed;
    if (one.passed + one.failed == 0) {
      ++failed;
      fmt::print("FAILED  {}: INFER took none of {} cases\n", FullName(*op), one.refused);
    }
  }
  if (matched == 0) {
    fmt::print(stderr, "ge-test: found no operator '{}'; `ge ops` lists them\n", options.op);
    return 2;
  }
  fmt::print("{} passed, {} failed, 0 skipped\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace ge::test

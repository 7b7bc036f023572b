#include "ge/verify/verify.h"

#include <gtest/gtest.h>

#include <functional>

namespace ge {
namespace {

const Type kF32 = TensorType(DType::kFloat, std::vector<int64_t>{2});

Node MakeNode(Function* f, const std::string& op, std::vector<ValueId> in,
              std::vector<ValueId> out) {
  Node n;
  n.id = f->next_node_id++;
  n.op = op;
  n.name = op + std::to_string(n.id);
  n.inputs = std::move(in);
  n.outputs = std::move(out);
  f->nodes.push_back(n);
  return n;
}

// main(x) -> y = Tanh(Relu(x)); values x=1 a=2 y=3.
Graph Good() {
  Graph g;
  Function& f = g.AddFunction("main");
  AddValue(&f, kF32, "x");
  AddValue(&f, kF32, "a");
  AddValue(&f, kF32, "y");
  f.params = {1};
  f.results = {3};
  MakeNode(&f, "Relu", {1}, {2});
  MakeNode(&f, "Tanh", {2}, {3});
  g.entries.push_back({"main", 1, Entry::Role::kInfer});
  return g;
}

// A function of one parameter and one result: r = Neg(p).
FunctionId AddBody(Graph* g, const std::string& name, DType result = DType::kFloat) {
  Function& f = g->AddFunction(name);
  AddValue(&f, kF32, "p");
  AddValue(&f, TensorType(result, std::vector<int64_t>{2}), "r");
  f.params = {1};
  f.results = {2};
  MakeNode(&f, "Neg", {1}, {2});
  return f.id;
}

struct BadGraph {
  const char* name;
  Code code;
  const char* says;  // part of the message
  std::function<void(Graph&)> spoil;
};

class Refuses : public ::testing::TestWithParam<BadGraph> {};

TEST_P(Refuses, WithAMessage) {
  Graph g = Good();
  ASSERT_TRUE(Verify(g).ok()) << Verify(g).ToString();
  GetParam().spoil(g);
  const Status s = Verify(g);
  EXPECT_EQ(s.code(), GetParam().code) << s.ToString();
  EXPECT_NE(s.ToString().find(GetParam().says), std::string::npos) << s.ToString();
}

void Constant(Graph& g, const Type& type, uint64_t bytes) {
  Const c;
  c.name = "w";
  c.type = type;
  static const std::byte kData[64] = {};
  c.data = kData;
  c.bytes = bytes;
  g.AddConst(c);
}

constexpr Code kBad = Code::kInvalidGraph;
constexpr Code kLimit = Code::kLimitExceeded;

const BadGraph kStructure[] = {
    {"no_entry", kBad, "no graph", [](Graph& g) { g.entries.clear(); }},
    {"entry_function", kBad, "names function 9", [](Graph& g) { g.entries[0].fn = 9; }},
    {"entry_twice", kBad, "two entries", [](Graph& g) { g.entries.push_back(g.entries[0]); }},
    {"no_outputs", kBad, "no outputs", [](Graph& g) { g.fn(1).results.clear(); }},
    {"empty_op", kBad, "empty op_type", [](Graph& g) { g.fn(1).nodes[0].op.clear(); }},
    {"self_loop", kBad, "Relu1 -> Relu1", [](Graph& g) { g.fn(1).nodes[0].inputs[0] = 2; }},
    {"cycle", kBad, "Relu1 -> Tanh2 -> Relu1", [](Graph& g) { g.fn(1).nodes[0].inputs[0] = 3; }},
    {"unsorted", kBad, "topological order",
     [](Graph& g) { std::swap(g.fn(1).nodes[0], g.fn(1).nodes[1]); }},
    {"dangling_input", kBad, "input 0 is value 77",
     [](Graph& g) { g.fn(1).nodes[1].inputs[0] = 77; }},
    {"dangling_output", kBad, "output 0 is value 77",
     [](Graph& g) { g.fn(1).nodes[1].outputs[0] = 77; }},
    {"unproduced_input", kBad, "nothing produces",
     [](Graph& g) { g.fn(1).nodes[1].inputs[0] = AddValue(&g.fn(1), kF32, "ghost"); }},
    {"unproduced_output", kBad, "never produced",
     [](Graph& g) { g.fn(1).results[0] = AddValue(&g.fn(1), kF32, "ghost"); }},
    {"two_producers", kBad, "both produce", [](Graph& g) { MakeNode(&g.fn(1), "Abs", {1}, {2}); }},
    {"produces_input", kBad, "already an input", [](Graph& g) { g.fn(1).nodes[1].outputs[0] = 1; }},
    {"node_names", kBad, "two nodes", [](Graph& g) { g.fn(1).nodes[1].name = "Relu1"; }},
    {"node_ids", kBad, "used twice", [](Graph& g) { g.fn(1).nodes[1].id = 1; }},
    {"input_names", kBad, "both named 'x'",
     [](Graph& g) { g.fn(1).params.push_back(AddValue(&g.fn(1), kF32, "x")); }},
    {"input_twice", kBad, "is two inputs", [](Graph& g) { g.fn(1).params.push_back(1); }},
    {"output_twice", kBad, "two outputs", [](Graph& g) { g.fn(1).results.push_back(3); }},
    {"function_names", kBad, "two functions", [](Graph& g) { AddBody(&g, "main"); }},
    {"node_location", kBad, "location 5", [](Graph& g) { g.fn(1).nodes[0].loc = 5; }},
    {"control_self", kBad, "control edge to itself",
     [](Graph& g) { g.fn(1).nodes[0].after = {1}; }},
    {"control_across", kBad, "do not cross functions",
     [](Graph& g) { g.fn(1).nodes[0].after = {99}; }},
    {"control_cycle", kBad, "Relu1 -> Tanh2 -> Relu1",
     [](Graph& g) { g.fn(1).nodes[0].after = {2}; }},
    {"attr_twice", kBad, "given twice",
     [](Graph& g) {
       g.fn(1).nodes[0].attrs = {Attr{"a", int64_t{1}}, Attr{"a", int64_t{2}}};
     }},
    {"attr_const", kBad, "names constant 4",
     [](Graph& g) {
       g.fn(1).nodes[0].attrs = {Attr{"value", ConstRef{4}}};
     }},
    {"attr_ref", kBad, "attribute parameter",
     [](Graph& g) {
       g.fn(1).nodes[0].attrs = {Attr{"a", AttrRef{"alpha"}}};
     }},
    {"state_effect", kBad, "names state 1",
     [](Graph& g) {
       g.fn(1).nodes[0].effects = {Effect{EffectKind::kState, 1, 0}};
     }},
    {"collective_order", kBad, "sequence numbers rise",
     [](Graph& g) {
       g.fn(1).nodes[0].effects = {Effect{EffectKind::kCollective, 1, 2}};
       g.fn(1).nodes[1].effects = {Effect{EffectKind::kCollective, 1, 1}};
     }},
};
INSTANTIATE_TEST_SUITE_P(Structure, Refuses, ::testing::ValuesIn(kStructure),
                         [](const auto& info) { return std::string(info.param.name); });

void SetType(Graph& g, Type t) { g.fn(1).value(2).type = std::move(t); }
Type Wrap(TypeKind kind, std::vector<Type> elems = {kF32}) {
  Type t;
  t.kind = kind;
  t.elems = std::move(elems);
  return t;
}

const BadGraph kTypes[] = {
    {"negative_dim", kBad, "size -5 on axis 0",
     [](Graph& g) { SetType(g, TensorType(DType::kFloat, std::vector<int64_t>{-5})); }},
    {"min_dim", kBad, "axis 0",
     [](Graph& g) { SetType(g, TensorType(DType::kFloat, std::vector<int64_t>{INT64_MIN})); }},
    {"elements_overflow", kLimit, "2^63",
     [](Graph& g) {
       SetType(g, TensorType(DType::kFloat, std::vector<int64_t>{1ll << 32, 1ll << 32}));
     }},
    {"bytes_overflow", kLimit, "2^63 bytes",
     [](Graph& g) {
       SetType(g, TensorType(DType::kDouble, std::vector<int64_t>{1ll << 31, 1ll << 30}));
     }},
    {"rank", kLimit, "rank 17",
     [](Graph& g) { SetType(g, TensorType(DType::kFloat, std::vector<int64_t>(17, 1))); }},
    {"dtype_number", kBad, "number 99",
     [](Graph& g) { SetType(g, UnrankedTensor(static_cast<DType>(99))); }},
    {"dim_expression", kBad, "dim expression 7",
     [](Graph& g) {
       SetType(g, TensorType(DType::kFloat, std::vector<Dim>{Dim{0, 7}}));
     }},
    {"func_params", kBad, "a function of 3 parameters with 2 types",
     [](Graph& g) {
       Type t = Wrap(TypeKind::kFunc, {kF32, kF32});
       t.params = 3;
       SetType(g, t);
     }},
    {"func_of_nothing", kBad, "may be function 99",
     [](Graph& g) {
       Type t = Wrap(TypeKind::kFunc, {});
       t.candidates = {99};
       SetType(g, t);
     }},
    {"func_at_boundary", kBad, "may not cross",
     [](Graph& g) { g.fn(1).value(1).type = Wrap(TypeKind::kFunc, {}); }},
    {"pack_of_nothing", kBad, "Pack of function 0",
     [](Graph& g) { SetType(g, Wrap(TypeKind::kPack, {})); }},
    {"pack_at_boundary", kBad, "may not cross",
     [](Graph& g) {
       g.fn(1).value(1).type = Wrap(TypeKind::kPack, {});
       g.fn(1).value(1).type.fn = 1;
     }},
    {"zero", kBad, "Zero type", [](Graph& g) { SetType(g, Wrap(TypeKind::kZero)); }},
    {"sequence_arity", kBad, "2 element types",
     [](Graph& g) {
       SetType(g, Wrap(TypeKind::kSequence, {kF32, kF32}));
     }},
    {"nesting", kLimit, "nested deeper",
     [](Graph& g) {
       Type t = kF32;
       for (int i = 0; i < 1000; ++i) t = Wrap(TypeKind::kSequence, {t});
       SetType(g, t);
     }},
    {"symbol_range", kBad, "can have no value",
     [](Graph& g) {
       Symbol s;
       s.name = "N";
       s.min = 5;
       s.max = 2;
       g.dims.AddSymbol(s);
     }},
};
INSTANTIATE_TEST_SUITE_P(Types, Refuses, ::testing::ValuesIn(kTypes),
                         [](const auto& info) { return std::string(info.param.name); });

const BadGraph kTables[] = {
    {"payload_size", kBad, "2 elements (8 bytes) but its payload holds 12 bytes",
     [](Graph& g) { Constant(g, kF32, 12); }},
    {"two_payloads", kBad, "more than one payload",
     [](Graph& g) {
       Constant(g, kF32, 8);
       g.consts[1].splat.resize(4);
     }},
    {"no_payload", kBad, "payload holds 0 bytes",
     [](Graph& g) {
       Constant(g, kF32, 8);
       g.consts[1].data = nullptr;
     }},
    {"external_length", kBad, "payload holds 7 bytes",
     [](Graph& g) {
       Constant(g, kF32, 0);
       g.consts[1].data = nullptr;
       g.consts[1].external = {"w.bin", 0, 7, ""};
     }},
    {"strings", kBad, "needs 2 strings",
     [](Graph& g) {
       Const c;
       c.type = TensorType(DType::kString, std::vector<int64_t>{2});
       c.strings = {"one"};
       g.AddConst(c);
     }},
    {"unknown_shape", kBad, "known element type and shape",
     [](Graph& g) { Constant(g, UnrankedTensor(DType::kFloat), 8); }},
    {"value_against_constant", kBad, "but its constant is",
     [](Graph& g) {
       Constant(g, kF32, 8);
       const ValueId v = AddValue(&g.fn(1), TensorType(DType::kInt32, std::vector<int64_t>{2}));
       g.fn(1).value(v).constant = 1;
     }},
    {"input_is_constant", kBad, "also a constant",
     [](Graph& g) {
       Constant(g, kF32, 8);
       g.fn(1).value(1).constant = 1;
     }},
    {"state_init", kBad, "starts from constant",
     [](Graph& g) {
       Constant(g, TensorType(DType::kInt32, std::vector<int64_t>{2}), 8);
       State s;
       s.name = "w";
       s.type = kF32;
       s.init = 1;
       g.states.push_back(s);
     }},
    {"state_names", kBad, "two states",
     [](Graph& g) {
       State s;
       s.name = "w";
       s.type = kF32;
       g.states.push_back(s);
       g.states.push_back(s);
     }},
};
INSTANTIATE_TEST_SUITE_P(Tables, Refuses, ::testing::ValuesIn(kTables),
                         [](const auto& info) { return std::string(info.param.name); });

// Adds If(x; x) with two bodies to main.
void AddIf(Graph& g, FunctionId then_fn, FunctionId else_fn) {
  Function& f = g.fn(1);
  const ValueId out = AddValue(&f, kF32, "o");
  MakeNode(&f, "If", {1, 1}, {out});
  f.nodes.back().callees = {{"then_branch", then_fn}, {"else_branch", else_fn}};
}

void AddCall(Graph& g, FunctionId from, FunctionId to) {
  Function& f = g.fn(from);
  const ValueId out = AddValue(&f, kF32, "call" + std::to_string(f.values.size()));
  MakeNode(&f, "Call", {1}, {out});
  f.nodes.back().domain = "ge";
  f.nodes.back().callees = {{"fn", to}};
}

const BadGraph kCalls[] = {
    {"missing_callee", kBad, "calls function 8", [](Graph& g) { AddCall(g, 1, 8); }},
    {"self_recursion", kBad, "main -> main", [](Graph& g) { AddCall(g, 1, 1); }},
    {"mutual_recursion", kBad, "main -> body -> main",
     [](Graph& g) {
       AddCall(g, 1, AddBody(&g, "body"));
       AddCall(g, 2, 1);
     }},
    {"recursion_by_attribute", kBad, "main -> main",
     [](Graph& g) {
       g.fn(1).nodes[0].attrs = {Attr{"f", FunctionRef{1}}};
     }},
    {"depth", kLimit, "the limit is 64",
     [](Graph& g) {
       for (int i = 0; i < 70; ++i) {
         const FunctionId next = AddBody(&g, "f" + std::to_string(i));
         AddCall(g, next - 1, next);
       }
     }},
    {"arity", kBad, "takes 1 inputs but is given 2",
     [](Graph& g) {
       AddCall(g, 1, AddBody(&g, "body"));
       g.fn(1).nodes.back().inputs.push_back(1);
     }},
    {"results", kBad, "gives 1 results, the node wants 0",
     [](Graph& g) {
       AddCall(g, 1, AddBody(&g, "body"));
       g.fn(1).nodes.back().outputs.clear();
     }},
    {"argument_type", kBad, "wants f32 for its input 0 but is given i64",
     [](Graph& g) {
       AddCall(g, 1, AddBody(&g, "body"));
       const ValueId v =
           AddValue(&g.fn(1), TensorType(DType::kInt64, std::vector<int64_t>{2}), "i");
       g.fn(1).params.push_back(v);
       g.fn(1).nodes.back().inputs[0] = v;
     }},
    {"branch_types", kBad, "in then_branch 'a' and",
     [](Graph& g) {
       const FunctionId a = AddBody(&g, "a"), b = AddBody(&g, "b", DType::kInt32);
       AddIf(g, a, b);
     }},
    {"missing_branch", kBad, "needs a then_branch",
     [](Graph& g) {
       AddIf(g, AddBody(&g, "a"), 2);
       g.fn(1).nodes.back().callees.pop_back();
     }},
};
INSTANTIATE_TEST_SUITE_P(Calls, Refuses, ::testing::ValuesIn(kCalls),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Verify, AcceptsRecursiveFunctionsAndBranches) {
  Graph g = Good();
  const FunctionId a = AddBody(&g, "a"), b = AddBody(&g, "b");
  AddIf(g, a, b);
  AddCall(g, b, b);
  g.fn(b).recursive = true;
  EXPECT_TRUE(Verify(g).ok()) << Verify(g).ToString();
}

TEST(Verify, AcceptsDegenerateGraphs) {
  Graph g;
  Function& f = g.AddFunction("main");
  AddValue(&f, kF32, "x");
  f.params = {1};
  f.results = {1};
  g.entries.push_back({"main", 1, Entry::Role::kInfer});
  EXPECT_TRUE(Verify(g).ok()) << Verify(g).ToString();
}

TEST(Verify, IsLinearInLongChainsAndWideNodes) {
  Graph g = Good();
  Function& f = g.fn(1);
  ValueId last = 3;
  std::vector<ValueId> all;
  for (int i = 0; i < 100000; ++i) {
    const ValueId out = AddValue(&f, kF32);
    MakeNode(&f, "Neg", {last}, {out});
    all.push_back(last = out);
  }
  const ValueId out = AddValue(&f, kF32, "wide");
  MakeNode(&f, "Sum", all, {out});
  EXPECT_TRUE(Verify(g).ok()) << Verify(g).ToString();
  VerifyLimits limits;
  limits.max_nodes = 1000;
  EXPECT_EQ(Verify(g, limits).code(), kLimit);
}

}  // namespace
}  // namespace ge

#include "ge/infer/infer.h"

#include <gtest/gtest.h>

#include "ge/ops/defaults.h"

namespace ge {
namespace {

class InferTest : public ::testing::Test {
 protected:
  InferTest() {
    g.AddFunction("main");
    g.entries.push_back({"main", 1, Entry::Role::kInfer});
  }
  Function& F() { return g.fn(1); }
  Dim Sym(const std::string& name) {
    Symbol s;
    s.name = name;
    return g.dims.OfSymbol(g.dims.AddSymbol(s));
  }
  ValueId Param(const std::string& name, Type t) {
    const ValueId v = AddValue(&F(), std::move(t), name);
    F().params.push_back(v);
    return v;
  }
  ValueId Ints(const std::vector<int64_t>& v) {
    return AddConstValue(
        &g, &F(),
        MakeConst(TensorType(DType::kInt64, std::vector<int64_t>{static_cast<int64_t>(v.size())}),
                  v.data(), v.size() * 8));
  }
  ValueId Add(const std::string& op, std::vector<ValueId> in, std::vector<Attr> attrs = {},
              Type declared = {}) {
    Node n;
    n.id = F().next_node_id++;
    n.op = op;
    n.name = op + std::to_string(n.id);
    n.inputs = std::move(in);
    n.attrs = std::move(attrs);
    FillDefaults(&n);
    n.outputs = {AddValue(&F(), std::move(declared), n.name + "_out")};
    F().nodes.push_back(n);
    return n.outputs[0];
  }
  void Result(ValueId v) { F().results.push_back(v); }
  std::string TypeOf(ValueId v) { return TypeToString(F().value(v).type, g.dims); }

  Graph g;
};

Type F32(std::vector<Dim> dims) { return TensorType(DType::kFloat, std::move(dims)); }

TEST_F(InferTest, TypesAndKnownIntegers) {
  const ValueId x = Param("x", F32({Sym("N"), KnownDim(3)}));
  const ValueId y = Add("Relu", {x});
  const ValueId shape = Add("Shape", {y});
  Result(y);
  Result(shape);
  ASSERT_TRUE(Infer(&g).ok()) << Infer(&g).ToString();
  EXPECT_EQ(TypeOf(y), "f32[N,3]");
  EXPECT_EQ(TypeOf(shape), "i64[2]");
  ASSERT_TRUE(F().value(shape).ints);
  EXPECT_EQ((*F().value(shape).ints)[0], Sym("N"));
  EXPECT_EQ((*F().value(shape).ints)[1], KnownDim(3));
}

TEST_F(InferTest, DeclaredTypesAreMerged) {
  const ValueId x = Param("x", F32({Sym("N"), KnownDim(3)}));
  const ValueId a = Add("Relu", {x}, {}, F32({Sym("N"), Sym("C")}));
  const ValueId b = Add("Relu", {a}, {}, F32({KnownDim(4), Sym("C")}));
  Result(b);
  ASSERT_TRUE(Infer(&g).ok());
  EXPECT_EQ(TypeOf(a), "f32[N,3]") << "an inferred number beats a declared symbol";
  EXPECT_EQ(TypeOf(b), "f32[4,3]") << "a declared number beats an inferred symbol";
}

TEST_F(InferTest, ContradictionsNameBothAndTheNode) {
  const ValueId x = Param("x", F32({KnownDim(2), KnownDim(3)}));
  Result(Add("Relu", {x}, {}, F32({KnownDim(2), KnownDim(5)})));
  const std::string text = Infer(&g).ToString();
  EXPECT_NE(text.find("INVALID_GRAPH: node 'Relu1': value 'Relu1_out' is declared f32[2,5]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("f32[2,3]"), std::string::npos) << text;
}

TEST_F(InferTest, DtypeContradictionIsRefused) {
  const ValueId x = Param("x", F32({KnownDim(2)}));
  Result(Add("Relu", {x}, {}, TensorType(DType::kInt64, std::vector<int64_t>{2})));
  EXPECT_EQ(Infer(&g).code(), Code::kInvalidGraph);
}

TEST_F(InferTest, UnknownOperatorNamesNearOnes) {
  const ValueId x = Param("x", F32({KnownDim(2)}));
  Result(Add("Rellu", {x}));
  const Status s = Infer(&g);
  EXPECT_EQ(s.code(), Code::kUnsupported);
  EXPECT_NE(s.message().find("Relu"), std::string::npos) << s.ToString();
}

TEST_F(InferTest, OldOpsetIsRefused) {
  g.opsets[""] = 13;
  EXPECT_EQ(Infer(&g).code(), Code::kFailedPrecondition);
}

TEST_F(InferTest, InferringAgainMakesNoNewSymbols) {
  const ValueId x = Param("x", F32({Sym("N")}));
  const ValueId shape = Param("shape", TensorType(DType::kInt64, std::vector<int64_t>{2}));
  const ValueId y = Add("Reshape", {x, shape});
  Result(y);
  ASSERT_TRUE(Infer(&g).ok());
  const uint32_t symbols = g.dims.symbol_count();
  const std::string type = TypeOf(y);
  EXPECT_GT(symbols, 1u);
  ASSERT_TRUE(Infer(&g).ok());
  EXPECT_EQ(g.dims.symbol_count(), symbols);
  EXPECT_EQ(TypeOf(y), type);
}

TEST_F(InferTest, BindMakesEverythingStatic) {
  const ValueId x = Param("x", F32({Sym("N"), KnownDim(3), Sym("H")}));
  const ValueId flat = Add("Reshape", {x, Ints({0, -1})});
  const ValueId y = Add("Relu", {flat}, {}, F32({Sym("N"), Sym("M")}));
  Result(y);
  ASSERT_TRUE(Infer(&g).ok()) << Infer(&g).ToString();
  Graph symbolic = g;
  ASSERT_TRUE(Bind(&g, "main", {{2, 3, 5}}).ok());
  EXPECT_EQ(TypeOf(x), "f32[2,3,5]");
  EXPECT_EQ(TypeOf(y), "f32[2,15]");
  g = symbolic;
  ASSERT_TRUE(Bind(&g, "main", {{2, 3, 0}}).ok()) << "a size of zero is a size";
  EXPECT_EQ(TypeOf(y), "f32[2,0]");
}

TEST_F(InferTest, BindSolvesSumsAndChecksExpressions) {
  const Dim n = Sym("N");
  const Dim twice = *g.dims.Add(*g.dims.Mul(n, KnownDim(2)), KnownDim(1));
  Param("x", F32({twice}));
  const ValueId y = Param("y", F32({n}));
  Result(Add("Relu", {y}));
  EXPECT_TRUE(Bind(&g, "main", {{7}, {3}}).ok());
  Graph again = g;
  EXPECT_EQ(Bind(&again, "main", {{7}, {4}}).code(), Code::kInvalidArgument) << "y is fixed now";
}

TEST_F(InferTest, BindRefusals) {
  const Dim n = Sym("N");
  const ValueId x = Param("x", F32({n, KnownDim(3)}));
  Param("y", F32({n}));
  Result(Add("Relu", {x}));
  g.dims.symbol(g.dims.FindSymbol("N")).max = 100;
  struct Case {
    std::vector<std::vector<int64_t>> shapes;
    const char* says;
  };
  const Case cases[] = {
      {{{2, 3}, {4}}, "dim 'N' is 2 by input 'x' axis 0 but 4 by input 'y' axis 0"},
      {{{2, 3}}, "has 2 inputs, 1 shapes"},
      {{{2, 4}, {2}}, "input 'x' was given shape [2,4], wanted f32[N,3]"},
      {{{2}, {2}}, "the rank is 1 instead of 2"},
      {{{-2, 3}, {2}}, "sizes are 0 or more"},
      {{{200, 3}, {200}}, "wanted 0 to 100"},
  };
  for (const Case& c : cases) {
    Graph copy = g;
    const Status s = Bind(&copy, "main", c.shapes);
    EXPECT_EQ(s.code(), Code::kInvalidArgument);
    EXPECT_NE(s.message().find(c.says), std::string::npos) << s.ToString();
  }
  EXPECT_EQ(Bind(&g, "nobody", {}).code(), Code::kInvalidArgument);
}

// A Loop whose body is r = Concat(carried, x): the carried value grows.
TEST_F(InferTest, LoopBodiesAreTypedFromTheirArguments) {
  const ValueId x = Param("x", F32({KnownDim(2)}));
  const ValueId body_of = Add("Loop", {0, 0, x, x}, {Attr{"captures", int64_t{1}}});
  Result(body_of);
  Function& b = g.AddFunction("body");
  for (const char* name : {"i", "go", "carried", "x"}) {
    b.params.push_back(AddValue(&b, Type{}, name));
  }
  Node n;
  n.id = b.next_node_id++;
  n.op = "Concat";
  n.attrs = {Attr{"axis", int64_t{0}}};
  n.inputs = {3, 4};
  n.outputs = {AddValue(&b, Type{}, "longer")};
  b.nodes.push_back(n);
  b.results = {2, n.outputs[0]};
  F().nodes[0].callees = {{"body", 2}};
  const Status s = Infer(&g);
  // The body is typed first; the Loop itself has no record in the operator table yet.
  EXPECT_TRUE(s.ok() || s.code() == Code::kUnsupported) << s.ToString();
  const Function& body = g.fn(2);
  EXPECT_EQ(TypeToString(body.value(1).type, g.dims), "i64[]");
  EXPECT_EQ(TypeToString(body.value(2).type, g.dims), "bool[]");
  EXPECT_EQ(TypeToString(body.value(4).type, g.dims), "f32[2]");
  EXPECT_EQ(TypeToString(body.value(3).type, g.dims), "f32[body_carried_0_0]");
  EXPECT_EQ(TypeToString(body.value(5).type, g.dims), "f32[body_carried_0_0+2]");
}

// Its body's carried value grows in a function that the body calls, which knows no size of one
// round.
TEST_F(InferTest, WhatABodyCallsKnowsNoSizeOfARound) {
  const ValueId x = Param("x", F32({KnownDim(2)}));
  Result(Add("Loop", {0, 0, x, x}, {Attr{"captures", int64_t{1}}}));
  const auto function = [&](const char* name, std::vector<const char*> params) -> FunctionId {
    Function& f = g.AddFunction(name);
    for (const char* p : params) f.params.push_back(AddValue(&f, Type{}, p));
    return static_cast<FunctionId>(g.functions.size() - 1);
  };
  const auto node = [&](FunctionId fn, const char* domain, const char* op) {
    Function& f = g.fn(fn);
    Node n;
    n.id = f.next_node_id++;
    n.domain = domain;
    n.op = op;
    n.inputs = {f.params.end()[-2], f.params.end()[-1]};
    n.outputs = {AddValue(&f, Type{}, "longer")};
    f.nodes.push_back(n);
    f.results = {n.outputs[0]};
  };
  const FunctionId body = function("body", {"i", "go", "carried", "x"});
  const FunctionId longer = function("longer", {"a", "b"});
  node(body, "ge", "Call");
  node(longer, "", "Concat");
  g.fn(longer).nodes[0].attrs = {Attr{"axis", int64_t{0}}};
  g.fn(body).nodes[0].callees = {{"fn", longer}};
  g.fn(body).results.insert(g.fn(body).results.begin(), 2);
  F().nodes[0].callees = {{"body", body}};
  const Status s = Infer(&g);
  ASSERT_TRUE(s.ok()) << s.ToString();
  const auto type = [&](FunctionId fn, ValueId v) {
    return TypeToString(g.fn(fn).value(v).type, g.dims);
  };
  EXPECT_EQ(type(body, 3), "f32[body_carried_0_0]");
  EXPECT_EQ(type(longer, 1), "f32[body_carried_0_0]");
  EXPECT_EQ(type(longer, 2), "f32[2]");
  EXPECT_EQ(type(longer, 3), "f32[body_carried_0_0+2]");
}

TEST_F(InferTest, LongChainsAreFast) {
  ValueId last = Param("x", F32({Sym("N"), KnownDim(8)}));
  for (int i = 0; i < 20000; ++i) last = Add("Relu", {last});
  Result(last);
  ASSERT_TRUE(Infer(&g).ok());
  EXPECT_EQ(TypeOf(last), "f32[N,8]");
  ASSERT_TRUE(Bind(&g, "main", {{4, 8}}).ok());
  EXPECT_EQ(TypeOf(last), "f32[4,8]");
}

}  // namespace
}  // namespace ge

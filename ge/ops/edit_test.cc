#include "ge/ops/edit.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <type_traits>

namespace ge {
namespace {

const Type kMatrix = TensorType(DType::kFloat, std::vector<int64_t>{2, 3});

// main(x) -> a = Relu(x), b = Tanh(a), result b named "y".
struct EditedChain {
  EditedChain() {
    g.AddFunction("main");
    Function& f = g.fn(1);
    x = AddValue(&f, kMatrix, "x");
    f.params = {x};
    a = Add("Relu", x, "a");
    b = Add("Tanh", a, "y");
    f.results = {b};
    g.entries.push_back({"main", 1, Entry::Role::kInfer});
  }
  ValueId Add(const std::string& op, ValueId in, const std::string& out) {
    Function& f = g.fn(1);
    Node n;
    n.id = f.next_node_id++;
    n.op = op;
    n.name = op + "_" + out;
    n.inputs = {in};
    n.outputs = {AddValue(&f, kMatrix, out)};
    f.nodes.push_back(n);
    return n.outputs[0];
  }
  std::string Order() const {
    std::string s;
    for (const Node& n : g.fn(1).nodes) s += n.op + " ";
    return s;
  }
  Graph g;
  ValueId x, a, b;
};

// Commit needs memory; where there was none for the pass it would end the process.
TEST(Transaction, WhereAnExceptionPassesNothingIsCommitted) {
  static_assert(!std::is_nothrow_destructible_v<Transaction>);
  EditedChain c;
  EXPECT_THROW(
      {
        Transaction t(&c.g, "test");
        t.AddNode(1, 1, "", "Neg", {c.x}, {}, {kMatrix}, {});
        throw std::bad_alloc();
      },
      std::bad_alloc);
  EXPECT_EQ(c.Order(), "Relu Tanh Neg ");  // not yet in its place
}

TEST(Transaction, TypesHoldWhereOnlyLikeStandsForLike) {
  EditedChain c;
  const NodeId relu = c.g.fn(1).nodes[0].id;
  Transaction t(&c.g, "test");
  EXPECT_TRUE(t.types_hold());
  t.ReplaceUses(1, c.a, c.x);
  t.Erase(1, relu);
  EXPECT_GT(t.edits(), 0);
  EXPECT_TRUE(t.types_hold());
  // A constant's numbers are news, even of the same type.
  EditedChain d;
  Transaction u(&d.g, "test");
  const float zeros[6] = {};
  u.ReplaceUses(1, d.a, u.AddConst(1, MakeConst(kMatrix, zeros, sizeof zeros)));
  EXPECT_FALSE(u.types_hold());
  EditedChain e;
  e.g.fn(1).value(e.a).type = UnrankedTensor(DType::kFloat);
  Transaction v(&e.g, "test");
  v.ReplaceUses(1, e.a, e.x);
  EXPECT_FALSE(v.types_hold());
  EditedChain f;
  Transaction w(&f.g, "test");
  w.SetAttr(1, f.g.fn(1).nodes[0].id, {"axis", int64_t{1}});
  EXPECT_FALSE(w.types_hold());
}

TEST(Transaction, AFunctionHasTheEffectsOfItsNodesOnEachObject) {
  EditedChain c;
  Transaction t(&c.g, "test");
  t.SetEffects(1, 1, {{EffectKind::kState, 1, 0}, {EffectKind::kState, 2, 0}});
  t.SetEffects(1, 2, {{EffectKind::kState, 2, 5}, {EffectKind::kIo, 1, 0}});
  const std::vector<Effect>& all = c.g.fn(1).effects;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].object, 1u);
  EXPECT_EQ(all[1].object, 2u);
  EXPECT_EQ(all[2].kind, EffectKind::kIo);
}

TEST(Transaction, AFunctionAloneIsAnEdit) {
  EditedChain c;
  Transaction t(&c.g, "test");
  EXPECT_FALSE(t.touched());
  const FunctionId made = t.AddFunction("made");
  EXPECT_EQ(c.g.fn(made).name, "made");
  EXPECT_EQ(t.edits(), 1);
  EXPECT_TRUE(t.touched());
}

TEST(Transaction, AddsBeforeAndErases) {
  EditedChain c;
  {
    Transaction t(&c.g, "test-pass");
    const Node& tanh = c.g.fn(1).nodes[1];
    const NodeId id = tanh.id;
    const auto out = t.AddNode(1, id, "", "Exp", {c.a}, {}, {kMatrix}, {&tanh});
    const auto twice = t.AddNode(1, id, "", "Neg", {out[0]}, {}, {kMatrix}, {});
    EXPECT_EQ(t.Readers(1, c.a).size(), 2u);
    t.ReplaceUses(1, c.b, twice[0]);
    t.Erase(1, id);
    EXPECT_EQ(t.Readers(1, c.a).size(), 1u);
    EXPECT_EQ(t.edits(), 4);
  }
  const Function& f = c.g.fn(1);
  EXPECT_EQ(c.Order(), "Relu Exp Neg ");
  EXPECT_EQ(f.value(f.results[0]).name, "y") << "the output keeps the user's name";
  ASSERT_EQ(f.nodes[1].origin.size(), 1u);
  EXPECT_EQ(f.nodes[1].origin[0].pass, "test-pass");
  EXPECT_EQ(f.nodes[1].origin[0].from_nodes, std::vector<std::string>{"Tanh_y"});
  EXPECT_EQ(NodeLabel(f.nodes[1]), "Tanh_y");
}

TEST(Transaction, AddsAtTheEndAndSetsParts) {
  EditedChain c;
  Transaction t(&c.g, "p");
  t.AddNode(1, 0, "", "Abs", {c.b}, {}, {kMatrix}, {});
  t.SetAttr(1, 1, Attr{"alpha", 0.5});
  t.SetAttr(1, 1, Attr{"alpha", 0.25});
  t.SetInput(1, 2, 2, c.x);
  t.Commit();
  EXPECT_EQ(c.Order(), "Relu Tanh Abs ");
  EXPECT_EQ(std::get<double>(c.g.fn(1).nodes[0].attr("alpha")->value), 0.25);
  EXPECT_EQ(c.g.fn(1).nodes[1].inputs, (std::vector<ValueId>{c.a, 0, c.x}));
}

TEST(Transaction, KnowsWhenANameWouldBeLost) {
  EditedChain c;
  c.g.fn(1).results.push_back(c.a);
  Transaction t(&c.g, "p");
  EXPECT_FALSE(t.CanReplace(1, c.b, c.x)) << "result by a parameter";
  EXPECT_FALSE(t.CanReplace(1, c.b, c.a)) << "result by another result";
  const ValueId free = t.AddNode(1, 0, "", "Exp", {c.x}, {}, {kMatrix}, {})[0];
  EXPECT_TRUE(t.CanReplace(1, c.b, free));
}

TEST(Transaction, ErasedControlEdgesAreInherited) {
  EditedChain c;
  c.Add("Neg", c.x, "z");
  Function& f = c.g.fn(1);
  f.nodes[1].after = {1};
  f.nodes[2].after = {2};
  Transaction t(&c.g, "p");
  t.Erase(1, 2);
  t.Commit();
  EXPECT_EQ(f.nodes[1].after, std::vector<NodeId>{1});
}

TEST(Transaction, ManyEditsAreFast) {
  EditedChain c;
  ValueId last = c.b;
  constexpr int kNodes = 100000;
  for (int i = 0; i < kNodes; ++i) last = c.Add("Neg", last, "v" + std::to_string(i));
  Transaction t(&c.g, "p");
  for (int i = 2; i < kNodes; ++i) {
    const NodeId id = c.g.fn(1).nodes[i].id;
    const ValueId in = c.g.fn(1).nodes[i].inputs[0], out = c.g.fn(1).nodes[i].outputs[0];
    const ValueId made = t.AddNode(1, id, "", "Abs", {in}, {}, {kMatrix}, {})[0];
    t.ReplaceUses(1, out, made);
    t.Erase(1, id);
  }
  t.Commit();
  EXPECT_EQ(c.g.fn(1).nodes.size(), static_cast<size_t>(kNodes) + 2);
  EXPECT_EQ(c.g.fn(1).nodes[5].op, "Abs");
}

TEST(Compact, DropsUnusedValuesAndConstants) {
  EditedChain c;
  Function& f = c.g.fn(1);
  float one = 1;
  const Type scalar = TensorType(DType::kFloat, std::vector<int64_t>{});
  AddConstValue(&c.g, &f, MakeConst(scalar, &one, 4, "unused"));
  const ValueId used = AddConstValue(&c.g, &f, MakeConst(scalar, &one, 4, "used"));
  f.nodes[1].inputs.push_back(used);
  f.nodes[0].attrs.push_back(
      Attr{"value", ConstRef{c.g.AddConst(MakeConst(scalar, &one, 4, "attr"))}});
  Compact(&c.g);
  ASSERT_EQ(c.g.consts.size(), 3u);
  EXPECT_EQ(c.g.consts[f.value(f.nodes[1].inputs[1]).constant].name, "used");
  EXPECT_EQ(c.g.consts[std::get<ConstRef>(f.nodes[0].attrs[0].value).id].name, "attr");
  EXPECT_EQ(f.values.size(), 5u);
  EXPECT_EQ(f.value(f.results[0]).name, "y");
}

TEST(SortNodes, IsStableAndKeepsEffects) {
  EditedChain c;
  Function& f = c.g.fn(1);
  c.Add("Abs", c.x, "p");
  c.Add("Neg", c.x, "q");
  f.nodes[2].effects = {Effect{EffectKind::kRng, 1, 0}};
  f.nodes[3].effects = {Effect{EffectKind::kRng, 1, 0}};
  std::swap(f.nodes[0], f.nodes[1]);  // Tanh before the Relu that it reads
  ASSERT_TRUE(SortNodes(&f).ok());
  EXPECT_EQ(c.Order(), "Relu Tanh Abs Neg ");
}

TEST(SortNodes, PrintsTheCycle) {
  EditedChain c;
  Function& f = c.g.fn(1);
  f.nodes[0].inputs[0] = c.b;
  const Status s = SortNodes(&f);
  EXPECT_EQ(s.code(), Code::kInvalidGraph);
  EXPECT_NE(s.message().find("Relu_a -> Tanh_y -> Relu_a"), std::string::npos) << s.message();
  f.nodes[0].inputs[0] = c.a;
  EXPECT_NE(SortNodes(&f).message().find("Relu_a -> Relu_a"), std::string::npos);
}

TEST(Const, SplatsAreExpanded) {
  Const c;
  c.type = TensorType(DType::kUint4, std::vector<int64_t>{5});
  c.splat = {std::byte{0x3}};
  ConstScratch scratch;
  const std::byte* p = ConstBytes(c, &scratch);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(scratch->bytes(), 3u);
  EXPECT_EQ(p[2], std::byte{0x33});
  float v = 2.5f;
  c.type = kMatrix;
  c.splat.assign(reinterpret_cast<std::byte*>(&v), reinterpret_cast<std::byte*>(&v) + 4);
  p = ConstBytes(c, &scratch);
  ASSERT_EQ(scratch->bytes(), 24u);
  std::memcpy(&v, p + 20, 4);
  EXPECT_EQ(v, 2.5f);
}

TEST(Types, PrintAndCount) {
  DimTable d;
  EXPECT_EQ(TypeToString(kMatrix, d), "f32[2,3]");
  EXPECT_EQ(TypeToString(TensorType(DType::kInt64, std::vector<int64_t>{}), d), "i64[]");
  EXPECT_EQ(TypeToString(UnrankedTensor(DType::kBool), d), "bool[?]");
  EXPECT_EQ(ByteCount(kMatrix), 24);
  EXPECT_EQ(ByteCount(TensorType(DType::kInt4, std::vector<int64_t>{3})), 2);
  EXPECT_FALSE(ByteCount(TensorType(DType::kFloat, std::vector<int64_t>{1ll << 32, 1ll << 30})));
  EXPECT_FALSE(ElementCount(TensorType(DType::kFloat, std::vector<int64_t>{1ll << 32, 1ll << 32})));
  for (int i = 1; i < kDTypeCount; ++i) {
    EXPECT_EQ(DTypeFromName(DTypeName(static_cast<DType>(i))), static_cast<DType>(i));
  }
}

TEST(Transaction, AddsFunctionsParametersAndResults) {
  EditedChain c;
  Transaction t(&c.g, "test");
  const FunctionId copy = t.CopyFunction(1, "copy");
  EXPECT_EQ(c.g.fn(copy).name, "copy");
  EXPECT_EQ(c.g.fn(copy).id, copy);
  EXPECT_EQ(c.g.fn(copy).nodes[0].id, c.g.fn(1).nodes[0].id) << "nodes keep their numbers";
  const FunctionId fn = t.AddFunction("more");
  const ValueId p = t.AddParam(fn, "p", kMatrix);
  EXPECT_TRUE(t.IsParam(fn, p));
  const ValueId out = t.AddNode(fn, 0, "", "Relu", {p}, {}, {kMatrix}, {})[0];
  t.SetResults(fn, {out}, {"r"});
  EXPECT_TRUE(t.IsResult(fn, out));
  t.SetResults(copy, {c.a}, {});
  EXPECT_FALSE(t.IsResult(copy, c.b));
  t.Commit();
  EXPECT_EQ(c.g.fn(fn).value(out).name, "r");
  EXPECT_EQ(c.g.fn(copy).value(c.a).name, "a");
  EXPECT_EQ(c.g.fn(1).results, std::vector<ValueId>{c.b}) << "the original stays";
  EXPECT_GT(t.edits(), 0);
}

TEST(Transaction, EffectsOfANodeAreThoseOfItsFunction) {
  EditedChain c;
  c.g.states.resize(1);
  Transaction t(&c.g, "test");
  State state;
  state.name = "s";
  state.type = kMatrix;
  const StateId s = t.AddState(state);
  const Effect effect{EffectKind::kState, s, 0};
  t.SetEffects(1, 1, {effect});
  t.SetEffects(1, 2, {effect});
  EXPECT_EQ(c.g.fn(1).nodes[0].effects, std::vector<Effect>{effect});
  EXPECT_EQ(c.g.fn(1).effects, std::vector<Effect>{effect});
}

TEST(Transaction, SortsOrNamesTheCycle) {
  EditedChain c;
  {
    Transaction t(&c.g, "test");
    const ValueId out = t.AddNode(1, 0, "", "Exp", {c.x}, {}, {kMatrix}, {})[0];
    t.SetInput(1, 1, 0, out);  // Relu reads what stands behind it
    EXPECT_TRUE(t.Sort(1).ok());
  }
  EXPECT_EQ(c.Order(), "Exp Relu Tanh ");
  Transaction t(&c.g, "test");
  t.SetInput(1, 1, 0, c.b);
  const Status s = t.Sort(1);
  EXPECT_EQ(s.code(), Code::kInvalidGraph);
  EXPECT_NE(s.message().find("->"), std::string::npos) << s.message();
}

}  // namespace
}  // namespace ge

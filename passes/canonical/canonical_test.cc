#include "ge/verify/verify.h"
#include "passes/canonical/cast_texts_in_two.h"
#include "passes/canonical/drop_dead.h"
#include "passes/canonical/drop_dropout.h"
#include "passes/canonical/drop_identity.h"
#include "passes/canonical/merge_duplicates.h"
#include "passes/canonical/move_texts_by_index.h"
#include "passes/pass_graph_testing.h"

namespace ge {
namespace {

void ExpectLegal(const Graph& g) {
  const Status s = Verify(g);
  EXPECT_TRUE(s.ok()) << s.ToString();
}

TEST(DropIdentity, DisappearsInsideAndAtAResult) {
  PassGraph p;
  const ValueId a = p.Add("Relu", {p.Param("x")});
  const ValueId b = p.Add("Identity", {a});
  const ValueId c = p.Add("Identity", {b});
  const ValueId d = p.Add("Tanh", {c});
  p.Result(p.Add("Identity", {d}), "y");
  EXPECT_GT(p.Run<DropIdentity>(), 0);
  EXPECT_EQ(p.Ops(), "Relu Tanh");
  EXPECT_EQ(p.F().value(p.F().results[0]).name, "y");
  EXPECT_EQ(p.F().nodes[0].origin[0].from_nodes,
            (std::vector<std::string>{"Identity2", "Identity3"}));
  ExpectLegal(p.g);
  EXPECT_EQ(p.Run<DropIdentity>(), 0);
}

TEST(DropIdentity, StaysBetweenTwoNamesOfTheUser) {
  PassGraph p;
  const ValueId x = p.Param("x");
  p.Result(p.Add("Identity", {x}), "copy");
  const ValueId r = p.Add("Relu", {x});
  p.Result(r, "r");
  p.Result(p.Add("Identity", {r}), "again");
  EXPECT_EQ(p.Run<DropIdentity>(), 0);
  ExpectLegal(p.g);
}

ValueId Bool(PassGraph& p, bool value) {
  const std::byte b{value};
  return AddConstValue(&p.g, &p.F(),
                       MakeConst(TensorType(DType::kBool, std::vector<int64_t>{}), &b, 1));
}

TEST(DropDropout, DisappearsInInference) {
  PassGraph p;
  const ValueId a = p.Add("Relu", {p.Param("x")});
  const ValueId b = p.Add("Dropout", {a});
  const ValueId c = p.Outputs("Dropout", {b, 0, Bool(p, false)},
                              {p.F32({2}), TensorType(DType::kBool, std::vector<int64_t>{2})})[0];
  p.Result(p.Add("Tanh", {c}), "y");
  EXPECT_GT(p.Run<DropDropout>(), 0);
  EXPECT_EQ(p.Ops(), "Relu Tanh");
  ExpectLegal(p.g);
}

TEST(DropDropout, StaysWhenItTrainsOrItsMaskIsRead) {
  PassGraph p;
  const Type mask = TensorType(DType::kBool, std::vector<int64_t>{2});
  const ValueId x = p.Param("x");
  const ValueId mode = p.Param("mode", TensorType(DType::kBool, std::vector<int64_t>{}));
  const ValueId a = p.Add("Dropout", {x, 0, Bool(p, true)});
  const ValueId b = p.Add("Dropout", {a, 0, mode});
  const auto masked = p.Outputs("Dropout", {b}, {p.F32({2}), mask});
  p.Result(p.Add("Tanh", {masked[0]}), "y");
  p.Result(masked[1], "mask");
  EXPECT_EQ(p.Run<DropDropout>(), 0);
}

TEST(MergeDuplicates, TwinsBecomeOne) {
  PassGraph p;
  const ValueId x = p.Param("x");
  const ValueId one = p.Floats("one", {2}, {1, 1}), other = p.Floats("other", {2}, {1, 1});
  const ValueId a = p.Add("Add", {x, one}), b = p.Add("Add", {x, other});
  const ValueId c = p.Add("Relu", {a}), d = p.Add("Relu", {b});
  p.Result(p.Add("Mul", {c, d}), "y");
  EXPECT_GT(p.Run<MergeDuplicates>(), 0);
  EXPECT_EQ(p.Ops(), "Add Relu Mul");
  EXPECT_EQ(p.F().nodes[2].inputs, (std::vector<ValueId>{c, c}));
  EXPECT_EQ(p.F().nodes[0].origin[0].from_nodes, std::vector<std::string>{"Add2"});
  ExpectLegal(p.g);
}

TEST(MergeDuplicates, LeavesAloneWhatDiffers) {
  PassGraph p;
  const ValueId x = p.Param("x");
  p.Result(p.Add("LeakyRelu", {x}, {Attr{"alpha", 0.1}}), "a");
  p.Result(p.Add("LeakyRelu", {x}, {Attr{"alpha", 0.2}}), "b");
  p.Result(p.Add("Relu", {x}), "c");
  p.Result(p.Add("Relu", {x}), "d");  // both names are the user's
  const ValueId e = p.Add("Tanh", {x}), f = p.Add("Tanh", {x});
  p.F().nodes.back().hints.no_cse_group = "recomputed";
  const ValueId g = p.Add("Abs", {x}), h = p.Add("Abs", {x});
  p.F().nodes.back().effects = {Effect{EffectKind::kRng, 1, 0}};
  p.Result(p.Add("Sum", {e, f, g, h}), "s");
  EXPECT_EQ(p.Run<MergeDuplicates>(), 0);
}

TEST(MergeDuplicates, LooksPastANodeThatHasAnEffect) {
  PassGraph p;
  const ValueId x = p.Param("x");
  const ValueId a = p.Add("Abs", {x});
  p.F().nodes.back().effects = {Effect{EffectKind::kRng, 1, 0}};
  const ValueId b = p.Add("Abs", {x}), c = p.Add("Abs", {x}), d = p.Add("Abs", {x});
  p.Result(p.Add("Sum", {a, b, c, d}), "s");
  EXPECT_GT(p.Run<MergeDuplicates>(), 0);
  EXPECT_EQ(p.Ops(), "Abs Abs Sum");
  EXPECT_EQ(p.F().nodes[2].inputs, (std::vector<ValueId>{a, b, b, b}));
}

TEST(MergeDuplicates, ComparesSmallConstantsByContentAndLargeOnesByName) {
  PassGraph p;
  const ValueId x = p.Param("x", p.F32({1, 500}));
  const ValueId large = p.Floats("large", {500}, std::vector<float>(500, 1)),
                other = p.Floats("other", {500}, std::vector<float>(500, 1));
  const ValueId a = p.Add("Add", {x, large}), b = p.Add("Add", {x, other}),
                c = p.Add("Add", {x, large});
  p.Result(p.Add("Sum", {a, b, c}), "s");
  EXPECT_GT(p.Run<MergeDuplicates>(), 0);
  EXPECT_EQ(p.Ops(), "Add Add Sum");
  EXPECT_EQ(p.F().nodes[2].inputs, (std::vector<ValueId>{a, b, a}));
}

TEST(DropDead, RemovesWhatNobodyNeeds) {
  PassGraph p;
  const ValueId x = p.Param("x");
  p.Add("Tanh", {p.Add("Exp", {x})});
  p.Result(p.Add("Relu", {x}), "y");
  EXPECT_EQ(p.Run<DropDead>(), 2);
  EXPECT_EQ(p.Ops(), "Relu");
  ExpectLegal(p.g);
}

TEST(DropDead, KeepsEffectsAndUnknownOperators) {
  PassGraph p;
  const ValueId x = p.Param("x");
  p.Add("Exp", {x});
  p.F().nodes.back().effects = {Effect{EffectKind::kIo, 1, 0}};
  p.Add("SomebodysOperator", {x});
  p.Result(p.Add("Relu", {x}), "y");
  EXPECT_EQ(p.Run<DropDead>(), 0);
}

TEST(DropDead, RemovesUnreadOptionalOutputs) {
  PassGraph p;
  const ValueId x = p.Param("x", p.F32({1, 1, 4, 4}));
  const Type indices = TensorType(DType::kInt64, std::vector<int64_t>{1, 1, 3, 3});
  const auto out = p.Outputs("MaxPool", {x}, {p.F32({1, 1, 3, 3}), indices},
                             {Attr{"kernel_shape", std::vector<int64_t>{2, 2}}});
  p.Result(out[0], "y");
  EXPECT_EQ(p.Run<DropDead>(), 1);
  EXPECT_EQ(p.F().nodes[0].outputs, std::vector<ValueId>{out[0]});
  ExpectLegal(p.g);
}

Type Texts(const std::vector<int64_t>& dims) { return TensorType(DType::kString, dims); }

TEST(MoveTextsByIndex, MovesNumbersAndKeepsTheOrigin) {
  PassGraph p;
  const ValueId c = p.Param("c", TensorType(DType::kBool, std::vector<int64_t>{2}));
  const ValueId a = p.Param("a", Texts({2})), b = p.Param("b", Texts({2}));
  p.Result(p.Add("Where", {c, a, b}, {}, Texts({2})), "y");
  p.F().nodes[0].hints.stage = "1";
  EXPECT_GT(p.Run<MoveTextsByIndex>(), 0);
  EXPECT_EQ(p.Ops(),
            "Size Add Range Shape Reshape Size Add Range Shape Reshape Where Concat Gather");
  EXPECT_EQ(p.F().value(p.F().results[0]).name, "y");
  for (const Node& n : p.F().nodes) {
    ASSERT_EQ(n.origin.size(), 1u);
    EXPECT_EQ(n.origin[0].from_nodes, std::vector<std::string>{"Where1"});
    EXPECT_EQ(NodeLabel(n), "Where1");
    EXPECT_EQ(n.hints.stage, "1");
  }
  ExpectLegal(p.g);
  EXPECT_EQ(p.Run<MoveTextsByIndex>(), 0);
}

TEST(MoveTextsByIndex, TheSameTextsAreOnceInTheTable) {
  PassGraph p;
  const ValueId i = p.Param("i", TensorType(DType::kInt64, std::vector<int64_t>{2}));
  const ValueId a = p.Param("a", Texts({2}));
  p.Result(p.Add("ScatterElements", {a, i, a}, {}, Texts({2})), "y");
  EXPECT_GT(p.Run<MoveTextsByIndex>(), 0);
  EXPECT_EQ(p.Ops(), "Size Add Range Shape Reshape ScatterElements Gather");
  ExpectLegal(p.g);
}

TEST(MoveTextsByIndex, TheShapeAloneChangesWithoutACopy) {
  PassGraph p;
  p.Result(p.Add("Flatten", {p.Param("a", Texts({2, 1, 3}))}, {}, Texts({2, 3})), "y");
  EXPECT_GT(p.Run<MoveTextsByIndex>(), 0);
  const Node& last = p.F().nodes.back();
  EXPECT_EQ(last.op, "Reshape");
  EXPECT_EQ(last.inputs[0], p.F().params[0]);
  ExpectLegal(p.g);
}

TEST(MoveTextsByIndex, LeavesAloneWhatHasAnEffectOrLooksAtTexts) {
  PassGraph p;
  const ValueId a = p.Param("a", Texts({2}));
  p.Add("Transpose", {a}, {}, Texts({2}));
  p.F().nodes.back().effects = {Effect{EffectKind::kIo, 1, 0}};
  p.Result(p.Add("Equal", {a, a}, {}, TensorType(DType::kBool, std::vector<int64_t>{2})), "y");
  p.Result(p.Add("Transpose", {p.Param("x")}), "z");
  EXPECT_EQ(p.Run<MoveTextsByIndex>(), 0);
}

TEST(CastTextsInTwo, GoesByAWiderTypeBothWays) {
  PassGraph p;
  const auto half = TensorType(DType::kFloat16, std::vector<int64_t>{2});
  const ValueId a = p.Param("a", Texts({2})), h = p.Param("h", half);
  p.Result(p.Add("Cast", {a}, {Attr{"to", int64_t{10}}}, half), "y");
  p.Result(p.Add("Cast", {h}, {Attr{"to", int64_t{8}}}, Texts({2})), "z");
  EXPECT_GT(p.Run<CastTextsInTwo>(), 0);
  EXPECT_EQ(p.Ops(), "Cast Cast Cast Cast");
  EXPECT_EQ(p.F().value(p.F().nodes[0].outputs[0]).type.dtype, DType::kDouble);
  EXPECT_EQ(p.F().value(p.F().nodes[2].outputs[0]).type.dtype, DType::kFloat);
  EXPECT_EQ(NodeLabel(p.F().nodes[0]), "Cast1");
  ExpectLegal(p.g);
  EXPECT_EQ(p.Run<CastTextsInTwo>(), 0);
}

TEST(CastTextsInTwo, LeavesOtherTypesAlone) {
  PassGraph p;
  const ValueId a = p.Param("a", Texts({2}));
  p.Result(p.Add("Cast", {a}, {Attr{"to", int64_t{1}}}), "y");
  p.Result(p.Add("Cast", {p.Param("x")}, {Attr{"to", int64_t{8}}}, Texts({2})), "z");
  EXPECT_EQ(p.Run<CastTextsInTwo>(), 0);
}

TEST(Canonical, ManyNodesAreFast) {
  PassGraph p;
  ValueId last = p.Param("x");
  for (int i = 0; i < 50000; ++i) {
    last = p.Add("Identity", {p.Add("Relu", {last})});
    p.Add("Exp", {last});
  }
  p.Result(p.Add("Tanh", {last}), "y");
  p.Run<DropIdentity>();
  p.Run<MergeDuplicates>();
  p.Run<DropDead>();
  EXPECT_EQ(p.F().nodes.size(), 50001u);
}

}  // namespace
}  // namespace ge

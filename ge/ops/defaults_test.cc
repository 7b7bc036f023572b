#include "ge/ops/defaults.h"

#include <gtest/gtest.h>

#include "ge/ops/edit.h"

namespace ge {
namespace {

Node NodeOf(std::string op, std::vector<Attr> attrs = {}, std::string domain = "") {
  Node n;
  n.domain = std::move(domain);
  n.op = std::move(op);
  n.attrs = std::move(attrs);
  return n;
}

bool Fits(AttrKind kind, const Attr::Payload& value) {
  return (kind == AttrKind::kInt && std::holds_alternative<int64_t>(value)) ||
         (kind == AttrKind::kFloat && std::holds_alternative<double>(value)) ||
         (kind == AttrKind::kString && std::holds_alternative<std::string>(value)) ||
         (kind == AttrKind::kInts && std::holds_alternative<std::vector<int64_t>>(value));
}

TEST(Defaults, EachIsOfItsKindAndOfNoRequiredAttribute) {
  int found = 0;
  for (const OpDef* op : AllOps()) {
    for (const AttrDef& d : op->attrs) {
      if (!d.default_value) continue;
      ++found;
      EXPECT_FALSE(d.required) << FullName(*op) << " " << d.name;
      EXPECT_TRUE(Fits(d.kind, *d.default_value)) << FullName(*op) << " " << d.name;
    }
  }
  EXPECT_GT(found, 250);
}

TEST(Defaults, AreFilledInBehindWhatIsGivenAndOnce) {
  Node n = NodeOf("Gemm", {{"transB", int64_t{1}}});
  FillDefaults(&n);
  ASSERT_EQ(n.attrs.size(), 4u);
  EXPECT_EQ(n.attrs[0].name, "transB");
  EXPECT_EQ(std::get<int64_t>(n.attrs[0].value), 1);
  EXPECT_EQ(std::get<double>(n.attr("alpha")->value), 1);
  EXPECT_EQ(std::get<int64_t>(n.attr("transA")->value), 0);
  FillDefaults(&n);
  EXPECT_EQ(n.attrs.size(), 4u);
  const std::vector<const Attr*> stated = StatedAttrs(n);
  ASSERT_EQ(stated.size(), 1u);
  EXPECT_EQ(stated[0]->name, "transB");
}

TEST(Defaults, WhatHasNoneStaysAbsentAndForeignNodesStayAsTheyAre) {
  Node conv = NodeOf("Conv");
  FillDefaults(&conv);
  EXPECT_FALSE(HasAttr(conv, "kernel_shape"));
  EXPECT_TRUE(HasAttr(conv, "auto_pad"));
  Node foreign = NodeOf("Conv", {{"group", int64_t{1}}}, "somebody.else");
  FillDefaults(&foreign);
  EXPECT_EQ(foreign.attrs.size(), 1u);
  EXPECT_EQ(StatedAttrs(foreign).size(), 1u);
}

TEST(Defaults, AreComparedToTheBit) {
  const Node leaky = NodeOf("LeakyRelu");
  EXPECT_TRUE(IsDefault(leaky, {"alpha", double{0.01f}}));
  EXPECT_FALSE(IsDefault(leaky, {"alpha", 0.01}));  // a double that no ONNX file can hold
  EXPECT_FALSE(IsDefault(leaky, {"alpha", int64_t{0}}));
  EXPECT_FALSE(IsDefault(leaky, {"beta", double{0.01f}}));
  const Node shrink = NodeOf("Shrink"), encoder = NodeOf("LabelEncoder", {}, "ai.onnx.ml");
  EXPECT_TRUE(IsDefault(shrink, {"bias", 0.0}));
  EXPECT_FALSE(IsDefault(shrink, {"bias", -0.0}));
  EXPECT_TRUE(IsDefault(encoder, {"default_float", -0.0}));
  EXPECT_FALSE(IsDefault(encoder, {"default_float", 0.0}));
  const Node mvn = NodeOf("MeanVarianceNormalization");
  EXPECT_TRUE(IsDefault(mvn, {"axes", std::vector<int64_t>{0, 2, 3}}));
  EXPECT_FALSE(IsDefault(mvn, {"axes", std::vector<int64_t>{0, 2}}));
}

TEST(Defaults, APassNeedNotGiveThem) {
  Graph g;
  Function& f = g.AddFunction("main");
  const Type type = TensorType(DType::kFloat, std::vector<int64_t>{2, 3});
  const ValueId x = AddValue(&f, type, "x");
  f.params = {x};
  {
    Transaction t(&g, "test-pass");
    t.AddNode(1, 0, "", "Softmax", {x}, {}, {type}, {});
  }
  ASSERT_EQ(g.fn(1).nodes.size(), 1u);
  const Node& n = g.fn(1).nodes[0];
  ASSERT_NE(n.attr("axis"), nullptr);
  EXPECT_EQ(std::get<int64_t>(n.attr("axis")->value), -1);
  EXPECT_TRUE(CheckNodeAgainstOp(n, *FindOp("", "Softmax")).ok());
}

TEST(Defaults, ANodeWithoutThemIsAFaultOfThisProgram) {
  Node n = NodeOf("Softmax");
  n.inputs = {1};
  n.outputs = {2};
  const Status s = CheckNodeAgainstOp(n, *FindOp("", "Softmax"));
  EXPECT_EQ(s.code(), Code::kInternal);
  EXPECT_NE(s.message().find("'axis'"), std::string::npos) << s.ToString();
}

}  // namespace
}  // namespace ge

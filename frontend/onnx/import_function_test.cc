// Functions that a model itself defines: written out where they are called.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/onnx/model_testing.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

using testing::AddAttr;
using testing::AddFloat;
using testing::AddInt;
using testing::AddInts;
using testing::AddNode;
using testing::ExpectImportRefused;
using testing::TestModel;

// Leak of domain "own": y = LeakyRelu(x, alpha = the attribute slope, or 0.5). Two calls of it.
TestModel CallsLeak() {
  TestModel m(17);
  auto* own = m.m.add_opset_import();
  own->set_domain("own");
  own->set_version(1);
  auto* f = m.m.add_functions();
  f->set_domain("own");
  f->set_name("Leak");
  f->add_input("x");
  f->add_input("unused");
  f->add_output("y");
  auto* slope = f->add_attribute_proto();
  slope->set_name("slope");
  slope->set_type(1);
  slope->set_f(0.5f);
  auto* opset = f->add_opset_import();
  opset->set_domain("");
  opset->set_version(17);
  wire::Graph body;
  AddAttr(AddNode(&body, "LeakyRelu", "x", "y", "leaky"), "alpha", 1)->set_ref_attr_name("slope");
  f->mutable_node()->CopyFrom(body.node());
  m.Input("x", {2});
  AddNode(m.g(), "Leak", "x", "a", "first")->set_domain("own");
  AddNode(m.g(), "Leak", "a", "y", "second")->set_domain("own");
  AddFloat(m.g()->mutable_node(1), "slope", 0.25f);
  m.Output("y");
  return m;
}

TEST(ImportFunction, StandsWhereItIsCalled) {
  auto g = CallsLeak().Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  std::string text;
  for (const Node& n : g->fn(g->FindEntry("main")->fn).nodes) {
    text += n.name + "=" + n.op;
    if (n.op == "LeakyRelu") text += fmt::format("({})", AttrFloat(n, "alpha", -1));
    text += " ";
  }
  EXPECT_EQ(text,
            "first/leaky=LeakyRelu(0.5) first/y=Identity second/leaky=LeakyRelu(0.25) "
            "second/y=Identity ");
}

// Names of nodes are notes in ONNX: two calls of one name, and a node that has what they would get.
TEST(ImportFunction, NumbersEqualNames) {
  TestModel m = CallsLeak();
  for (int i = 0; i < 2; ++i) m.g()->mutable_node(i)->set_name("leak");
  AddNode(m.g(), "Relu", "y", "z", "leak/leaky#0");
  AddNode(m.g(), "Relu", "z", "v", "same");
  AddNode(m.g(), "Relu", "v", "w", "same");
  AddNode(m.g(), "Leak", "w", "last", "leak")->set_domain("own");
  m.Output("last");
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  std::string text;
  for (const Node& n : g->fn(g->FindEntry("main")->fn).nodes) text += n.name + " ";
  EXPECT_EQ(text,
            "leak/leaky leak/y leak/leaky#0 leak/y#0 leak/leaky#0#2 same same#4 leak/leaky#1 "
            "leak/y#1 ");
}

// An input that a call leaves out is left out by the nodes that read it.
TEST(ImportFunction, LeavesOutWhatTheCallLeavesOut) {
  TestModel m = CallsLeak();
  wire::Graph body;
  AddNode(&body, "Clip", "x unused", "y", "clip");
  m.m.mutable_functions(0)->mutable_node()->CopyFrom(body.node());
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  int clips = 0;
  for (const Node& n : g->fn(g->FindEntry("main")->fn).nodes) {
    if (n.op != "Clip") continue;
    ++clips;
    EXPECT_TRUE(n.inputs.size() == 1 || n.inputs[1] == 0);
  }
  EXPECT_EQ(clips, 2);
}

// A call in a call: the inner one is given the outer one's attribute.
TEST(ImportFunction, HandsAttributesDown) {
  TestModel m = CallsLeak();
  auto* f = m.m.add_functions();
  f->CopyFrom(m.m.functions(0));
  f->set_name("Twice");
  wire::Graph body;
  for (const char* words : {"xh", "hy"}) {
    wire::Node* n = AddNode(&body, "Leak", std::string(1, words[0]), std::string(1, words[1]));
    n->set_domain("own");
    AddAttr(n, "slope", 1)->set_ref_attr_name("slope");
  }
  f->mutable_node()->CopyFrom(body.node());
  m.g()->mutable_node(1)->set_op_type("Twice");
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  int quarter = 0;
  for (const Node& n : g->fn(g->FindEntry("main")->fn).nodes) {
    quarter += n.op == "LeakyRelu" && AttrFloat(n, "alpha", -1) == 0.25;
  }
  EXPECT_EQ(quarter, 2);
}

TEST(ImportFunction, RefusesWrongCalls) {
  TestModel m = CallsLeak();
  AddInt(m.g()->mutable_node(0), "slant", 1);
  ExpectImportRefused(m, Code::kInvalidGraph, "the attribute 'slant', which the function 'Leak'");
  m = CallsLeak();
  m.g()->mutable_node(0)->add_output("b");
  ExpectImportRefused(m, Code::kInvalidGraph, "takes 2 outputs, wanted at most 2 and 1");
  m = CallsLeak();
  m.g()->mutable_node(0)->add_input("ghost");
  ExpectImportRefused(m, Code::kInvalidGraph, "input 1 of node 'first', 'ghost'");
}

TEST(ImportFunction, RefusesWrongFunctions) {
  TestModel m = CallsLeak();
  m.m.mutable_functions(0)->mutable_opset_import(0)->set_version(999);
  ExpectImportRefused(m, Code::kUnsupported, "uses opset 999 of ai.onnx");
  m = CallsLeak();
  m.m.add_functions()->CopyFrom(wire::LocalFunction(m.m.functions(0)));
  ExpectImportRefused(m, Code::kInvalidGraph, "'Leak' of domain 'own' twice");
  m = CallsLeak();
  m.m.mutable_functions(0)->set_output(0, "z");
  ExpectImportRefused(m, Code::kInvalidGraph,
                      "the output 'z' of the function 'Leak' is made by no node");
  m = CallsLeak();
  wire::Node* inner = m.m.mutable_functions(0)->mutable_node(0);
  inner->set_domain("own");
  inner->set_op_type("Leak");
  inner->clear_attribute();
  ExpectImportRefused(m, Code::kInvalidGraph, "in a circle: Leak -> Leak");
}

// A function `Own` of domain "own" whose body has one node, which the caller fills; called `calls`
// times in a chain from x to y.
wire::Node* CalledOften(TestModel* m, int calls) {
  auto* own = m->m.add_opset_import();
  own->set_domain("own");
  own->set_version(1);
  auto* f = m->m.add_functions();
  f->set_domain("own");
  f->set_name("Own");
  f->add_input("x");
  f->add_output("y");
  auto* opset = f->add_opset_import();
  opset->set_domain("");
  opset->set_version(17);
  m->Input("x", {2});
  for (int i = 0; i < calls; ++i) {
    const std::string in = i == 0 ? "x" : fmt::format("v{}", i);
    const std::string out = i + 1 == calls ? "y" : fmt::format("v{}", i + 1);
    AddNode(m->g(), "Own", in, out)->set_domain("own");
  }
  m->Output("y");
  return f->add_node();
}

// Squeeze had an attribute `axes` before opset 13, and an input of that name since.
TEST(ImportFunction, HasItsOwnOpset) {
  TestModel m(17);
  wire::Node* inner = CalledOften(&m, 1);
  m.m.mutable_functions(0)->mutable_opset_import(0)->set_version(11);
  inner->set_op_type("Unsqueeze");
  inner->add_input("x");
  inner->add_output("y");
  AddInts(inner, "axes", {0});
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Function& f = g->fn(g->FindEntry("main")->fn);
  EXPECT_EQ(f.nodes[0].op, "Unsqueeze");
  EXPECT_EQ(f.nodes[0].inputs.size(), 2u);
  EXPECT_TRUE(f.nodes[0].attrs.empty());
  m.m.mutable_opset_import(0)->set_version(11);  // now the model is the older one
  m.m.mutable_functions(0)->mutable_opset_import(0)->set_version(17);
  g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(g->fn(g->FindEntry("main")->fn).nodes[0].attrs.size(), 1u);  // refused by the table
}

TEST(ImportFunction, CallsShareConstants) {
  TestModel m(17);
  wire::Node* c = CalledOften(&m, 250);
  c->set_op_type("Constant");
  c->add_output("big");
  auto* t = AddAttr(c, "value", 4)->mutable_t();
  t->set_data_type(1);
  t->add_dims(1000);
  for (int i = 0; i < 1000; ++i) t->add_float_data(1);
  auto* listed = m.m.mutable_functions(0)->add_node();
  listed->set_op_type("Constant");
  listed->add_output("axes");
  AddInts(listed, "value_ints", {0});
  auto* sum = m.m.mutable_functions(0)->add_node();
  sum->set_op_type("ReduceSum");
  sum->add_input("big");
  sum->add_input("axes");
  sum->add_output("s");
  auto* add = m.m.mutable_functions(0)->add_node();
  add->set_op_type("Add");
  add->add_input("x");
  add->add_input("s");
  add->add_output("y");
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(g->consts.size(), 3u);  // [0] is absent
  const Function& f = g->fn(g->FindEntry("main")->fn);
  int constants = 0;
  for (const Value& v : f.values) constants += v.constant != 0;
  EXPECT_EQ(constants, 2);
  EXPECT_EQ(f.nodes.size(), 750u);
}

// Each of twenty functions calls the next one twice.
TEST(ImportFunction, RefusesExponentialNesting) {
  TestModel m(17);
  CalledOften(&m, 1);
  const wire::LocalFunction pattern = m.m.functions(0);
  const auto twice = [](wire::LocalFunction* f, const std::string& callee) {
    f->clear_node();
    for (const char* words : {"xh", "hy"}) {
      wire::Node* n = f->add_node();
      n->set_op_type(callee);
      n->set_domain(callee == "Relu" ? "" : "own");
      n->add_input(std::string(1, words[0]));
      n->add_output(std::string(1, words[1]));
    }
  };
  for (int i = 1; i < 15; ++i) {
    auto* f = m.m.add_functions();
    f->CopyFrom(pattern);
    f->set_name(fmt::format("F{}", i));
    twice(f, i == 14 ? "Relu" : fmt::format("F{}", i + 1));
  }
  twice(m.m.mutable_functions(0), "F1");
  ExpectImportRefused(m, Code::kLimitExceeded,
                      "calls of the model's own functions write out more than");
}

TEST(ImportFunction, RefusesLargeAttributesCalledOften) {
  TestModel m(17);
  wire::Node* n = CalledOften(&m, 100);
  n->set_op_type("Upsampled");
  n->add_input("x");
  n->add_output("y");
  auto* a = AddAttr(n, "list", 7);
  for (int i = 0; i < 100'000; ++i) a->add_ints(i % 100);
  ExpectImportRefused(m, Code::kLimitExceeded, "bytes of names and attributes");
}

}  // namespace
}  // namespace ge

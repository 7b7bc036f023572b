// Functions that a model itself defines: written out where they are called.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/onnx/test_model.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

using testing::AddAttr;
using testing::AddFloat;
using testing::AddInt;
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
  m.m.mutable_functions(0)->mutable_opset_import(0)->set_version(16);
  ExpectImportRefused(m, Code::kUnsupported,
                      "for version 16 of the domain 'ai.onnx', the model for 17");
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

}  // namespace
}  // namespace ge

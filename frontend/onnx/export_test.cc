// Graph -> ONNX -> Graph: the same operators, bodies with their captured names, and what is
// refused.
#include "frontend/onnx/export.h"

#include <gtest/gtest.h>

#include "frontend/onnx/import.h"
#include "frontend/onnx/model_testing.h"
#include "frontend/text/text.h"

namespace ge {
namespace {

Result<std::string> Exported(const std::string& text) {
  auto g = ParseText(text, "test.gt");
  EXPECT_TRUE(g.ok()) << g.status().ToString();
  if (!g.ok()) return g.status();
  return ExportOnnx(*g, "main");
}

wire::Model Parsed(const std::string& bytes) {
  wire::Model m;
  EXPECT_TRUE(m.ParseFromString(bytes));
  return m;
}

void ExpectNotExported(const std::string& text, Code code, const std::string& part) {
  auto bytes = Exported(text);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), code) << bytes.status().ToString();
  EXPECT_NE(bytes.status().ToString().find(part), std::string::npos) << bytes.status().ToString();
}

TEST(Export, RoundTripKeepsOperatorsWeightsAndNames) {
  testing::TestModel small = testing::SmallNet();
  testing::SetInfo(small.g()->mutable_output(0), "y", 1, {"N", 13});
  auto g = small.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  auto bytes = ExportOnnx(*g, "main");
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const wire::Model m = Parsed(*bytes);
  EXPECT_EQ(m.opset_import_size(), 1);
  EXPECT_EQ(m.opset_import(0).version(), 17);  // as it came
  EXPECT_EQ(m.ir_version(), 8);
  ASSERT_EQ(m.graph().initializer_size(), 4);
  EXPECT_EQ(m.graph().initializer(2).raw_data().size(), 59904 * sizeof(float));
  auto again = ImportOnnxBytes({reinterpret_cast<const std::byte*>(bytes->data()), bytes->size()},
                               nullptr, {});
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  const Function &f = g->fn(g->FindEntry("main")->fn), &h = again->fn(again->FindEntry("main")->fn);
  ASSERT_EQ(f.nodes.size(), h.nodes.size());
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    EXPECT_EQ(f.nodes[i].op, h.nodes[i].op);
    EXPECT_EQ(f.nodes[i].name, h.nodes[i].name);
  }
  EXPECT_EQ(TypeToString(h.value(h.params[0]).type, again->dims), "f32[N,1,28,28]");
  EXPECT_EQ(h.value(h.results[0]).name, "y");
}

TEST(Export, WhatAModelSaysOfItselfStays) {
  testing::TestModel small = testing::SmallNet();
  testing::SetInfo(small.g()->mutable_output(0), "y", 1, {"N", 13});
  wire::Model* said = &small.m;
  said->set_producer_name("some tool");
  said->set_producer_version("1.2");
  said->set_domain("org.example");
  said->set_model_version(-7);
  said->set_doc_string("the model");
  said->mutable_graph()->set_doc_string("the graph");
  for (const char* key : {"domain", "doc_string", "producer_version", "ge.model.domain"}) {
    wire::Pair* pair = said->add_metadata_props();
    pair->set_key(key);
    pair->set_value(std::string("own ") + key);
  }
  auto g = small.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(g->producer, "some tool");
  EXPECT_EQ(g->meta.at("domain"), "own domain");
  auto bytes = ExportOnnx(*g, "main");
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const wire::Model m = Parsed(*bytes);
  EXPECT_EQ(m.producer_name(), "some tool");
  EXPECT_EQ(m.producer_version(), "1.2");
  EXPECT_EQ(m.domain(), "org.example");
  EXPECT_EQ(m.model_version(), -7);
  EXPECT_EQ(m.doc_string(), "the model");
  EXPECT_EQ(m.graph().doc_string(), "the graph");
  ASSERT_EQ(m.metadata_props_size(), 3);  // of keys that are not ours
  for (const wire::Pair& pair : m.metadata_props()) EXPECT_EQ(pair.value(), "own " + pair.key());
}

// The format's version is the one that came with the newest opset of the operators.
TEST(Export, TheFormatIsAsOldAsTheOperators) {
  const struct {
    const char* op;
    int64_t opset, format;
  } known[] = {{"Abs", 13, 8},   {"Sign", 13, 8},   {"Gelu", 20, 9},
               {"Acos", 22, 10}, {"Swish", 24, 12}, {"Identity", 25, 13}};
  for (const auto& k : known) {
    const auto bytes =
        Exported(std::string("ge 1\nopset \"\" 28\nfn main(x: f32[3]) -> (y) {\n  y: f32[3] = ") +
                 k.op + "(x)\n}\nentry infer \"main\" = main\n");
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    const wire::Model m = Parsed(*bytes);
    ASSERT_EQ(m.opset_import_size(), 1);
    EXPECT_EQ(m.opset_import(0).version(), k.opset) << k.op;
    EXPECT_EQ(m.ir_version(), k.format) << k.op;
  }
}

// Operators that have always been what they are now do not make the opset newer.
TEST(Export, AModelIsWrittenAtTheOpsetThatItCameWith) {
  const struct {
    const char* op;
    int64_t opset;
  } known[] = {{"Relu", 9}, {"Gelu", 20}, {"Mish", 18}, {"Not", 13}};
  for (const auto& k : known) {
    testing::TestModel old(k.opset);
    const bool truth = k.op == std::string("Not");
    old.Input("x", {2, "n2"}, truth ? 9 : 1);
    testing::AddNode(old.g(), k.op, "x", "y");
    testing::SetInfo(old.g()->add_output(), "y", truth ? 9 : 1, {2, "n2"});
    auto g = old.Import();
    ASSERT_TRUE(g.ok()) << g.status().ToString();
    const Function& f = g->fn(g->FindEntry("main")->fn);
    EXPECT_EQ(TypeToString(f.value(f.params[0]).type, g->dims), truth ? "bool[2,n2]" : "f32[2,n2]");
    auto bytes = ExportOnnx(*g, "main");
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    EXPECT_EQ(Parsed(*bytes).opset_import(0).version(), k.opset) << k.op;
  }
}

TEST(Export, TypesOfMapsInSequences) {
  const auto bytes = Exported(R"(ge 1
opset "" 28
opset "ai.onnx.ml" 5
fn main(x: f32[2,2]) -> (y) {
  y: seq(map(i64, f32[?])) = ai.onnx.ml.ZipMap(x) {classlabels_int64s=[3, 4]}
}
entry infer "main" = main
)");
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const wire::Model m = Parsed(*bytes);
  const auto& map = m.graph().output(0).type().sequence_type().elem_type().map_type();
  EXPECT_EQ(map.key_type(), 7);
  EXPECT_EQ(map.value_type().tensor_type().elem_type(), 1);
}

constexpr const char* kBranch = R"(ge 1
opset "" 28
const two : f32[] = 2
fn main(c: bool[], x: f32[3]) -> (y, x, y) {
  y: f32[3] = If(c, x) calls {then_branch=a, else_branch=b}
}
fn a(x: f32[3]) -> (y) {
  y: f32[3] = Mul(x, two)
}
fn b(x: f32[3]) -> (x) {
}
entry infer "main" = main
)";

// A body sees captured values by their outer names; results that no node makes, or that are listed
// twice, are handed on.
TEST(Export, GivesBodiesTheirCapturedNames) {
  auto bytes = Exported(kBranch);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const wire::Model m = Parsed(*bytes);
  const wire::Node& branch = m.graph().node(0);
  ASSERT_EQ(branch.input_size(), 1);
  ASSERT_EQ(branch.attribute_size(), 2);
  const wire::Graph& a = branch.attribute(0).g();
  EXPECT_EQ(a.input_size(), 0);
  EXPECT_EQ(a.node(0).input(0), "x");
  EXPECT_EQ(a.initializer_size(), 1);
  EXPECT_NE(a.output(0).name(), "y");
  const wire::Graph& b = branch.attribute(1).g();
  EXPECT_EQ(b.node(0).op_type(), "Identity");
  ASSERT_EQ(m.graph().output_size(), 3);
  EXPECT_EQ(m.graph().output(0).name(), "y");
  EXPECT_EQ(m.graph().output(1).name(), "x_3");
  EXPECT_EQ(m.graph().output(2).name(), "y_3");
  EXPECT_EQ(m.graph().node_size(), 3);
}

TEST(Export, WritesCallsOutInPlace) {
  auto bytes = Exported(R"(ge 1
opset "" 28
opset "ge" 1
fn main(x: f32[2]) -> (y) {
  t: f32[2] = ge.Call(x) "first" calls {fn=twice}
  y: f32[2] = ge.Call(t) "second" calls {fn=twice}
}
fn twice(x: f32[2]) -> (y) {
  y: f32[2] = Add(x, x) "add"
}
entry infer "main" = main
)");
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const wire::Model m = Parsed(*bytes);
  ASSERT_EQ(m.graph().node_size(), 3);
  EXPECT_EQ(m.graph().node(0).name(), "first/add");
  EXPECT_EQ(m.graph().node(1).name(), "second/add");
  EXPECT_EQ(m.graph().node(2).op_type(), "Identity");
  EXPECT_EQ(m.graph().node(2).output(0), "y");
  EXPECT_EQ(m.opset_import_size(), 1);
}

TEST(Export, RefusesWhatOnnxCannotSay) {
  ExpectNotExported(R"(ge 1
opset "" 28
opset "ge" 1
fn main(x: f32[2]) -> (y) {
  y: f32[2] = ge.Call(x) "again" calls {fn=first}
}
fn first(x: f32[2]) -> (y) recursive {
  y: f32[2] = ge.Call(x) calls {fn=second}
}
fn second(x: f32[2]) -> (y) recursive {
  y: f32[2] = ge.Call(x) calls {fn=first}
}
entry infer "main" = main
)",
                    Code::kUnsupported, "closes the circle of calls first -> second -> first");
  ExpectNotExported(R"(ge 1
opset "ge" 1
fn main(x: f32[2]) -> (y) {
  y: f32[2] = ge.Copy(x) "there"
}
entry infer "main" = main
)",
                    Code::kUnsupported,
                    "node 'there' (ge.Copy) is an operator of this engine alone");
  ExpectNotExported(R"(ge 1
opset "" 28
const zero : f32[2] = [0, 0]
state s : f32[2] param trainable init zero
fn main(x: f32[2]) -> (y) {
  y: f32[2] = Relu(x)
}
entry infer "main" = main
)",
                    Code::kUnsupported, "the state 's' has no form in ONNX");
  ExpectNotExported(R"(ge 1
opset "" 28
fn main(x: f32[2]) -> (y) {
  y = Relu(x)
}
entry infer "main" = main
)",
                    Code::kUnsupported, "the type of the result 'y' is not known");
}

}  // namespace
}  // namespace ge

#include "frontend/onnx/import.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "frontend/onnx/model_testing.h"
#include "ge/infer/infer.h"

namespace ge {
namespace {

using testing::AddAttr;
using testing::AddInt;
using testing::AddNode;
using testing::ExpectImportRefused;
using testing::SetInfo;
using testing::SetRaw;
using testing::SmallNet;
using testing::TestModel;

TestModel Chain() {
  TestModel m(17);
  m.Input("x", {"N", 4});
  AddNode(m.g(), "Relu", "x", "h", "first");
  AddNode(m.g(), "Neg", "h", "y", "second");
  m.Output("y");
  return m;
}

TEST(Import, AnAttributeWithoutATypeIsWhatItHolds) {
  testing::TestModel m(13);
  m.Input("x", {1, 8, 2, 2});
  wire::Node* n = testing::AddNode(m.g(), "DepthToSpace", "x", "y", "n");
  testing::AddInt(n, "blocksize", 2);
  wire::Attribute* mode = n->add_attribute();
  mode->set_name("mode");
  mode->set_s("CRD");
  m.Output("y");
  const auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Node& read = g->fn(g->FindEntry("main")->fn).nodes[0];
  ASSERT_NE(read.attr("mode"), nullptr);
  EXPECT_EQ(std::get<std::string>(read.attr("mode")->value), "CRD");
  mode->set_i(3);
  testing::ExpectImportRefused(m, Code::kInvalidGraph, "has several payloads, wanted one");
}

TEST(Import, MapsTheWeightsOfAFile) {
  std::string path = ::testing::TempDir() + "ge_import_XXXXXX";
  int fd = mkstemp(path.data());
  ASSERT_GE(fd, 0);
  close(fd);
  TestModel m = SmallNet();
  std::ofstream(path, std::ios::binary) << m.Bytes();
  ImportStats stats;
  auto g = ImportOnnxFile(path, {}, &stats);
  unlink(path.c_str());
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(stats.weight_bytes, (200u + 8 + 59904 + 13) * 4);
  EXPECT_EQ(stats.copied_bytes, 0u);
  for (size_t i = 1; i < g->consts.size(); ++i) {
    const Const& c = g->consts[i];
    EXPECT_TRUE(c.mapped) << c.name;
    const std::string& raw = m.g()->initializer(static_cast<int>(i) - 1).raw_data();
    ASSERT_EQ(c.bytes, raw.size());
    EXPECT_EQ(0, memcmp(c.data, raw.data(), raw.size())) << c.name;
  }
  const Entry* entry = g->FindEntry("main");
  ASSERT_NE(entry, nullptr);
  const Function& f = g->fn(entry->fn);
  EXPECT_EQ(f.nodes.size(), 4u);
  EXPECT_EQ(f.nodes[0].name, "conv");
  EXPECT_EQ(TypeToString(f.value(f.params[0]).type, g->dims), "f32[N,1,28,28]");
  EXPECT_EQ(g->dims.symbol(g->dims.FindSymbol("N")).origin, "x axis 0");
  EXPECT_EQ(g->opsets.at(""), kCanonicalOpset);
}

TEST(Import, BytesWithAnOwnerStayWhereTheyAre) {
  auto bytes = std::make_shared<std::string>(SmallNet().Bytes());
  std::span<const std::byte> span(reinterpret_cast<const std::byte*>(bytes->data()), bytes->size());
  ImportStats stats;
  auto g = ImportOnnxBytes(span, bytes, {}, &stats);
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(stats.copied_bytes, 0u);
  EXPECT_GE(g->consts[1].data, span.data());
  EXPECT_LT(g->consts[1].data, span.data() + span.size());
  auto copied = ImportOnnxBytes(span, nullptr, {}, &stats);
  ASSERT_TRUE(copied.ok());
  EXPECT_EQ(stats.copied_bytes, stats.weight_bytes);
}

TEST(Import, NamesSymbolsOnceAndUnnamedDimsApart) {
  TestModel m(17);
  m.Input("a", {"N", -1, "?"});
  m.Input("b", {"N", -1, 3});
  AddNode(m.g(), "Add", "a b", "y");
  SetInfo(m.g()->add_output(), "y", 1, {"M", 4, 3});  // no input is called M: the shape is dropped
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Function& f = g->fn(1);
  const Type& a = f.value(f.params[0]).type;
  const Type& b = f.value(f.params[1]).type;
  EXPECT_EQ(a.dims[0], b.dims[0]);
  EXPECT_NE(a.dims[1], b.dims[1]);
  EXPECT_NE(a.dims[1], a.dims[2]);
  EXPECT_EQ(b.dims[2], KnownDim(3));
  EXPECT_EQ(f.value(f.results[0]).type, UnrankedTensor(DType::kFloat));
}

// A symbol is an identifier: what is none in the input's name becomes '_', and equal ones differ.
TEST(Import, UnnamedDimsAreNamedAfterTheirInput) {
  TestModel m(17);
  m.Input("in/9", {-1, 3});
  m.Input("in.9", {-1, 3});
  AddNode(m.g(), "Add", "in/9 in.9", "y");
  m.Output("y");
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Function& f = g->fn(1);
  const Dim a = f.value(f.params[0]).type.dims[0], b = f.value(f.params[1]).type.dims[0];
  EXPECT_EQ(g->dims.ToString(a), "in_9_0");
  EXPECT_NE(a, b);
  EXPECT_EQ(g->dims.ToString(b).rfind("in_9_0_", 0), 0u) << g->dims.ToString(b);
}

// A process whose standard input is closed gets its descriptor for the file.
TEST(Import, LeavesNoDescriptorOpen) {
  const std::string path = ::testing::TempDir() + "ge_import_stdin." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << SmallNet().Bytes();
  const int kept = dup(0);
  close(0);
  auto g = ImportOnnxFile(path, {}, nullptr);
  const bool open = fcntl(0, F_GETFD) != -1;
  if (kept >= 0) {
    dup2(kept, 0);
    close(kept);
  }
  unlink(path.c_str());
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_FALSE(open);
}

TEST(Import, InitializersAmongTheInputsAreConstants) {
  TestModel m = SmallNet();
  m.m.set_ir_version(3);
  SetInfo(m.g()->add_input(), "w1", 1, {8, 1, 5, 5});
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(g->fn(1).params.size(), 1u);
  EXPECT_NE(g->fn(1).value(g->fn(1).nodes[0].inputs[1]).constant, 0u);
}

TEST(Import, SortsNodesAndRefusesCycles) {
  TestModel m(17);
  m.Input("x", {4});
  AddNode(m.g(), "Neg", "h", "y", "late");
  AddNode(m.g(), "Relu", "x", "h", "early");
  m.Output("y");
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(g->fn(1).nodes[0].name, "early");
  m.g()->mutable_node(1)->set_input(0, "y");
  ExpectImportRefused(m, Code::kInvalidGraph, "late");
}

TEST(Import, ConstantNodesBecomeConstants) {
  TestModel m(17);
  auto constant = [&](const char* out) { return AddNode(m.g(), "Constant", "", out, out); };
  AddInt(constant("i"), "value_int", 5);
  testing::AddInts(constant("is"), "value_ints", {1, 2, 3});
  testing::AddFloat(constant("f"), "value_float", 1.5f);
  auto* fs = AddAttr(constant("fs"), "value_floats", 6);
  fs->add_floats(1);
  fs->add_floats(2);
  AddAttr(constant("s"), "value_string", 3)->set_s("hello");
  auto* t = AddAttr(constant("t"), "value", 4)->mutable_t();
  SetRaw(t, "", 10, {2}, std::vector<uint16_t>{0x3c00, 0xc000});
  for (const char* out : {"i", "is", "f", "fs", "s", "t"}) m.Output(out);
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Function& f = g->fn(1);
  EXPECT_TRUE(f.nodes.empty());
  std::vector<std::string> types;
  for (ValueId v : f.results) {
    ASSERT_NE(f.value(v).constant, 0u);
    types.push_back(TypeToString(f.value(v).type, g->dims));
  }
  EXPECT_EQ(types,
            (std::vector<std::string>{"i64[]", "i64[3]", "f32[]", "f32[2]", "str[]", "f16[2]"}));
  EXPECT_EQ(g->consts[f.value(f.results[4]).constant].strings[0], "hello");
}

TEST(Import, ClosesBodiesOverWhatTheyCapture) {
  TestModel m(17);
  m.Input("c", {}, 9);
  m.Input("x", {4});
  AddNode(m.g(), "Neg", "x", "h", "neg");
  wire::Node* branch = AddNode(m.g(), "If", "c", "y", "choose");
  wire::Graph* yes = AddAttr(branch, "then_branch", 5)->mutable_g();
  AddNode(yes, "Add", "h x", "t");
  yes->add_output()->set_name("t");
  wire::Graph* no = AddAttr(branch, "else_branch", 5)->mutable_g();
  wire::Node* deep = AddNode(no, "If", "c", "e");
  for (const char* role : {"then_branch", "else_branch"}) {
    wire::Graph* inner = AddAttr(deep, role, 5)->mutable_g();
    AddNode(inner, "Relu", "x", "r");
    inner->add_output()->set_name("r");
  }
  no->add_output()->set_name("e");
  m.Output("y");
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Function& f = g->fn(g->FindEntry("main")->fn);
  const Node& n = f.nodes[1];
  std::vector<std::string> inputs;
  for (ValueId v : n.inputs) inputs.push_back(f.value(v).name);
  EXPECT_EQ(inputs, (std::vector<std::string>{"c", "h", "x", "c"}));
  ASSERT_EQ(n.callees.size(), 2u);
  EXPECT_EQ(n.callees[0].role, "then_branch");
  for (const Callee& c : n.callees) {
    EXPECT_EQ(g->fn(c.fn).params.size(), 3u) << c.role;
  }
  const Function& outer = g->fn(n.callees[1].fn);
  EXPECT_EQ(outer.nodes[0].inputs, (std::vector<ValueId>{outer.params[2], outer.params[1]}));
  EXPECT_EQ(f.value(f.params[1]).type, outer.value(outer.params[1]).type);
}

TEST(Import, CountsTheCapturesOfALoop) {
  TestModel m(17);
  m.Input("n", {}, 7);
  m.Input("x", {4});
  m.Input("k", {4});
  wire::Node* loop = AddNode(m.g(), "Loop", "n - x", "y", "repeat");
  wire::Graph* body = AddAttr(loop, "body", 5)->mutable_g();
  for (const char* name : {"i", "go", "v"}) body->add_input()->set_name(name);
  AddNode(body, "Add", "v k", "w");
  AddNode(body, "Identity", "go", "on");
  body->add_output()->set_name("on");
  body->add_output()->set_name("w");
  m.Output("y");
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Node& n = g->fn(g->FindEntry("main")->fn).nodes[0];
  EXPECT_EQ(n.inputs.size(), 4u);
  EXPECT_EQ(n.inputs[1], 0u);
  ASSERT_NE(n.attr("captures"), nullptr);
  EXPECT_EQ(std::get<int64_t>(n.attr("captures")->value), 1);
  EXPECT_EQ(g->fn(n.callees[0].fn).params.size(), 4u);
}

// As the newest known versions; what those lack is refused by name.
TEST(Import, ReadsNewerVersionsAsTheNewestKnown) {
  TestModel m = Chain();
  m.m.set_ir_version(15);
  m.m.mutable_opset_import(0)->set_version(29);
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(g->opsets.at(""), kCanonicalOpset);
  EXPECT_EQ(g->meta.at("ge.source_opset"), "29");
  EXPECT_TRUE(Infer(&*g).ok());
  const std::string newer =
      "; the model uses opset 29 of ai.onnx, of which operators are known up to opset 28";
  AddInt(m.g()->mutable_node(0), "leak", 1);
  g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  Status status = Infer(&*g);
  EXPECT_NE(status.message().find("unknown attribute 'leak'"), std::string::npos);
  EXPECT_NE(status.message().find(newer), std::string::npos) << status.message();
  m = Chain();
  m.m.mutable_opset_import(0)->set_version(29);
  m.g()->mutable_node(0)->set_op_type("Relu29");
  g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  status = Infer(&*g);
  EXPECT_NE(status.message().find("operator 'Relu29' of domain 'ai.onnx' is not known"),
            std::string::npos);
  EXPECT_NE(status.message().find(newer), std::string::npos) << status.message();
}

TEST(Import, RefusesByName) {
  TestModel m = Chain();
  m.m.clear_graph();
  ExpectImportRefused(m, Code::kInvalidGraph, "no graph");
  m = Chain();
  m.g()->clear_output();
  ExpectImportRefused(m, Code::kInvalidGraph, "no outputs");
  m = Chain();
  m.m.mutable_opset_import(0)->set_version(100);
  ExpectImportRefused(m, Code::kUnsupported,
                      "opset 100 of ai.onnx, wanted 1 to 28 (newer ones are read as 28 is)");
  m = Chain();
  m.m.set_ir_version(100);
  ExpectImportRefused(m, Code::kUnsupported,
                      "ir_version 100, wanted at most 14 (newer ones are read as 14 is)");
  m = Chain();
  m.m.clear_opset_import();
  ExpectImportRefused(m, Code::kInvalidGraph, "imports no opset");
  m = Chain();
  m.g()->mutable_node(0)->set_domain("com.acme");
  ExpectImportRefused(m, Code::kInvalidGraph,
                      "node 'first': node 'first' uses Relu of the domain 'com.acme'");
}

TEST(Import, RefusesBrokenGraphsByName) {
  TestModel m = Chain();
  m.g()->mutable_node(1)->set_input(0, "nowhere");
  ExpectImportRefused(m, Code::kInvalidGraph, "input 0 of node 'second', 'nowhere'");
  m = Chain();
  m.g()->mutable_node(1)->set_output(0, "h");
  ExpectImportRefused(m, Code::kInvalidGraph,
                      "'h' is defined twice, by node 'first' and by node 'second'");
  m = Chain();
  m.g()->mutable_node(0)->clear_op_type();
  ExpectImportRefused(m, Code::kInvalidGraph, "no op_type");
  m = Chain();
  m.Output("ghost");
  ExpectImportRefused(m, Code::kInvalidGraph, "graph output 'ghost'");
}

TEST(Import, RefusesBadAttributesAndTypesByName) {
  TestModel m = Chain();
  AddInt(m.g()->mutable_node(0), "a", 1);
  AddInt(m.g()->mutable_node(0), "a", 2);
  ExpectImportRefused(m, Code::kInvalidGraph, "attribute 'a' of node 'first' is given twice");
  m = Chain();
  AddAttr(m.g()->mutable_node(0), "a", 2)->set_f(1);
  ExpectImportRefused(m, Code::kInvalidGraph, "says that it is int but holds float");
  m = Chain();
  m.Input("z", {-7});
  ExpectImportRefused(m, Code::kInvalidGraph, "dim 0 of input 'z' is -7");
  m = Chain();
  m.Input("z", {1}, 99);
  ExpectImportRefused(m, Code::kInvalidGraph, "element type 99");
  m = Chain();
  m.g()->add_sparse_initializer()->mutable_values()->set_name("sp");
  ExpectImportRefused(m, Code::kUnsupported, "sparse initializer 'sp'");
  m = Chain();
  m.g()->mutable_node(0)->set_name(std::string("a\xff", 2));
  ExpectImportRefused(m, Code::kInvalidGraph, "UTF-8");
}

TEST(Import, RefusesEmptyAndMissingFiles) {
  EXPECT_EQ(ImportOnnxBytes({}, nullptr, {}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ImportOnnxFile("/nonexistent/model.onnx", {}).status().code(), Code::kIoError);
  EXPECT_EQ(ImportOnnxFile(::testing::TempDir(), {}).status().code(), Code::kIoError);
}

// Any damage gives a graph or one clear refusal.
TEST(Import, SurvivesTruncationAndBitFlips) {
  const std::string good = SmallNet().Bytes();
  ASSERT_GT(good.size(), 230'000u);
  ImportOptions options;
  auto import = [&](const std::shared_ptr<std::string>& bytes, size_t size) {
    auto g =
        ImportOnnxBytes({reinterpret_cast<const std::byte*>(bytes->data()), size}, bytes, options);
    if (g.ok()) return;
    EXPECT_FALSE(g.status().message().empty());
    EXPECT_NE(g.status().code(), Code::kInternal) << g.status().ToString();
  };
  auto bytes = std::make_shared<std::string>(good);
  for (size_t size = 1; size < good.size(); size += 97) import(bytes, size);
  uint64_t state = 1;  // a fixed sequence, so that a failure repeats
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Every other flip hits the structure, which is the last few hundred bytes and the headers.
    size_t at = (state >> 33) % (i % 2 ? good.size() : 400);
    if (i % 4 == 2) at = good.size() - 1 - at;
    auto flipped = std::make_shared<std::string>(good);
    (*flipped)[at] = static_cast<char>((*flipped)[at] ^ (1 << ((state >> 29) & 7)));
    import(flipped, flipped->size());
  }
}

// y = x + w, where w is an initializer and an input.
TestModel WithDefault(int64_t ir_version = 8) {
  TestModel m(17, ir_version);
  m.Input("w", {3});
  m.Input("x", {3});
  SetRaw(m.g()->add_initializer(), "w", 1, {3}, std::vector<float>{1, 2, 3});
  AddNode(m.g(), "Add", "x w", "y", "add");
  m.Output("y");
  return m;
}

TEST(Import, AnInitializerThatIsAnInputIsADefault) {
  ImportStats stats;
  auto g = WithDefault().Import(&stats);
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  EXPECT_EQ(g->fn(g->FindEntry("main")->fn).params.size(), 1u);
  ASSERT_EQ(stats.defaults.size(), 1u);
  EXPECT_EQ(stats.defaults[0].name, "w");
  EXPECT_EQ(stats.defaults[0].dims, (std::vector<int64_t>{3}));
  ImportOptions options;
  options.initializer_inputs = {"w"};
  g = WithDefault().Import(&stats, options);
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Function& f = g->fn(g->FindEntry("main")->fn);
  ASSERT_EQ(f.params.size(), 2u);
  EXPECT_EQ(f.value(f.params[1]).name, "w");  // behind the others, wherever it is listed
  EXPECT_EQ(stats.weight_bytes, 0u);
}

TEST(Import, RefusesToOverrideWhatIsNoDefault) {
  ImportStats stats;
  ImportOptions options;
  options.initializer_inputs = {"b"};
  auto g = WithDefault().Import(&stats, options);
  ASSERT_FALSE(g.ok());
  EXPECT_EQ(g.status().code(), Code::kInvalidArgument);
  EXPECT_NE(g.status().message().find("no initializer 'b' that is an input too; it has w"),
            std::string::npos)
      << g.status().ToString();
  options.initializer_inputs = {"w"};
  g = WithDefault(3).Import(&stats, options);  // there all initializers had to be listed
  EXPECT_NE(g.status().message().find("IR version 4"), std::string::npos) << g.status().ToString();
}

TEST(Import, AnOutputMayBeListedTwice) {
  TestModel m(17);
  m.Input("x", {3});
  AddNode(m.g(), "Neg", "x", "y", "neg");
  m.Output("y");
  m.Output("y");
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Function& f = g->fn(g->FindEntry("main")->fn);
  ASSERT_EQ(f.results.size(), 2u);
  EXPECT_NE(f.results[0], f.results[1]);
  EXPECT_EQ(f.value(f.results[0]).name, "y");
  EXPECT_EQ(f.value(f.results[1]).name, "y_2");
}

TEST(Import, NodesMayHaveOneName) {
  TestModel m(17);
  m.Input("x", {3});
  AddNode(m.g(), "Neg", "x", "a", "same");
  AddNode(m.g(), "Abs", "a", "b", "same");
  AddNode(m.g(), "Neg", "b", "y", "same#1");
  m.Output("y");
  auto g = m.Import();
  ASSERT_TRUE(g.ok()) << g.status().ToString();
  const Function& f = g->fn(g->FindEntry("main")->fn);
  EXPECT_EQ(f.nodes[0].name, "same");
  EXPECT_EQ(f.nodes[1].name, "same#1");
  EXPECT_EQ(f.nodes[2].name, "same#1#2");
}

// An elif of a script is a body in a body.
TestModel Branches(int deep) {
  TestModel m(17);
  m.Input("x", {3});
  m.Input("c", {}, 9);
  wire::Graph* at = m.g();
  for (int i = 0; i < deep; ++i) {
    wire::Node* branch = AddNode(at, "If", "c", "y", fmt::format("if{}", i));
    wire::Graph* bodies[2];
    for (const char* name : {"then_branch", "else_branch"}) {
      auto* attr = branch->add_attribute();
      attr->set_name(name);
      attr->set_type(5);
      bodies[name[0] == 'e'] = attr->mutable_g();
      bodies[name[0] == 'e']->add_output()->set_name("y");
    }
    AddNode(bodies[0], "Neg", "x", "y", "neg");
    at = bodies[1];
  }
  AddNode(at, "Abs", "x", "y", "abs");
  m.Output("y");
  return m;
}

TEST(Import, BranchesNest60Deep) {
  EXPECT_TRUE(Branches(60).Import().ok());
  ExpectImportRefused(Branches(61), Code::kLimitExceeded, "'then_branch' of node 'if60' is a");
  ExpectImportRefused(Branches(100), Code::kLimitExceeded, "nested more than 62 deep");
}

TEST(Import, NamesMayHave64KiB) {
  for (const size_t bytes : {65536, 65537}) {
    TestModel m(17);
    m.Input("x", {3});
    const std::string name(bytes, 'n');
    AddNode(m.g(), "Neg", "x", name, "neg");
    m.Output(name);
    if (bytes == 65536) {
      EXPECT_TRUE(m.Import().ok());
    } else {
      ExpectImportRefused(m, Code::kLimitExceeded, "65537 bytes, more than the limit of 65536");
    }
  }
}

}  // namespace
}  // namespace ge

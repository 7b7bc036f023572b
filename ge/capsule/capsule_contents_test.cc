// Contents of capsules: graphs come back with their constants where the file is mapped, tensors and
// manifests as they were written, and what lies is named by member and field.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "frontend/load.h"
#include "frontend/text/text.h"
#include "ge/capsule/graph_members.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/npy.h"
#include "ge/capsule/pieces.h"
#include "ge/capsule/plan_members.h"
#include "ge/capsule/tensor_members.h"

namespace ge {
namespace {

class CapsuleContents : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "contents.XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder_ + "/a.gecap";
    auto writer = CapsuleWriter::Create(path_);
    ASSERT_TRUE(writer.ok());
    writer_ = *std::move(writer);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::shared_ptr<const CapsuleReader> Reopened() {
    EXPECT_TRUE(writer_->Finish().ok());
    auto reader = CapsuleReader::Open(path_);
    EXPECT_TRUE(reader.ok()) << reader.status().message();
    return reader.ok() ? *reader : nullptr;
  }

  std::string folder_, path_;
  std::unique_ptr<CapsuleWriter> writer_;
};

// One constant with a member of its own, one that stays in the graph.
Graph TwoConstants() {
  std::string numbers = "1";
  for (int i = 1; i < 256; ++i) numbers += ", " + std::to_string(i);
  auto graph =
      ParseText("ge 1\nopset \"\" 28\nconst \"w/0\" : f32[256] = [" + numbers +
                    "]\nconst s : f32[] = [2]\nfn main(x: f32[256]) -> (y) {\n"
                    "  t = Add(x, \"w/0\")\n  y = Mul(t, s)\n}\nentry infer \"main\" = main\n",
                "two");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return *std::move(graph);
}

TEST_F(CapsuleContents, GraphsShareTheirConstants) {
  const Graph graph = TwoConstants();
  GraphMembers graphs(writer_.get());
  ASSERT_TRUE(graphs.Write("graph/load.gepb", graph).ok());
  ASSERT_TRUE(graphs.Write("graph/rewrite.gepb", graph).ok());
  const auto capsule = Reopened();
  ASSERT_EQ(capsule->members().size(), 3u);  // the payload once, its name made safe
  EXPECT_EQ(capsule->members()[0].name, "const/0-w_0.npy");
  for (const char* member : {"graph/load.gepb", "graph/rewrite.gepb"}) {
    const auto read = ReadGraphMember(capsule, member);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(PrintText(*read), PrintText(graph));
    for (const Const& c : read->consts) {
      EXPECT_EQ(c.mapped, c.bytes > 0);
    }
  }
}

TEST_F(CapsuleContents, ModelIsItsFirstGraph) {
  const Graph graph = TwoConstants();
  GraphMembers graphs(writer_.get());
  ASSERT_TRUE(graphs.Write("graph/load.gepb", graph).ok());
  CapsuleManifest manifest;
  manifest.graphs.push_back({"load", "graph/load.gepb"});
  ASSERT_TRUE(WriteManifest(manifest, writer_.get()).ok());
  ASSERT_NE(Reopened(), nullptr);
  const auto model = LoadModelFile(path_, Format::kAuto);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(PrintText(model->graph), PrintText(graph));
}

TEST_F(CapsuleContents, ManifestsComeBack) {
  CapsuleManifest m;
  m.model = "a\"b\n\xff";
  m.threads = 3;
  m.seed = UINT64_MAX;
  m.engines.push_back({"ref", "0.1.0", "ab"});
  m.values.push_back({"conv", 7, 0, DType::kBfloat16, {2, 0, 3}, "value/0-conv.npy"});
  ASSERT_TRUE(WriteManifest(m, writer_.get()).ok());
  ASSERT_TRUE(WriteOutcome({false, "why"}, writer_.get()).ok());
  const auto capsule = Reopened();
  const auto read = ReadManifest(*capsule);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->threads, 3u);
  EXPECT_EQ(read->seed, UINT64_MAX);
  EXPECT_EQ(read->engines[0].hash, "ab");
  EXPECT_EQ(read->values[0].plan_value, 7u);
  EXPECT_EQ(read->values[0].dtype, DType::kBfloat16);
  EXPECT_EQ(read->values[0].dims, (std::vector<int64_t>{2, 0, 3}));
  const auto outcome = ReadOutcome(*capsule);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->message, "why");
}

TEST_F(CapsuleContents, PiecesAndExecutionsInTheirOrder) {
  ASSERT_TRUE(WritePiece(0, {"k", "f", "", "piece/0.plan", {3, 1}}, writer_.get()).ok());
  CapsuleExecution e;
  e.outputs.push_back({});
  e.outputs[0].kind = "sequence";
  e.outputs[0].dims = {2};
  ASSERT_TRUE(WriteExecution(0, e, writer_.get()).ok());
  ASSERT_TRUE(WriteExecution(1, {}, writer_.get()).ok());
  const auto read = ReadPieces(*Reopened());
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->executions.size(), 2u);
  EXPECT_EQ(read->pieces[0].key, "k");
  EXPECT_EQ(read->pieces[0].expanded, (std::vector<uint32_t>{3, 1}));
  EXPECT_EQ(read->executions[0].outputs[0].kind, "sequence");
  EXPECT_TRUE(read->executions[1].outputs.empty());
}

TEST_F(CapsuleContents, AnExecutionOfNoPieceIsNamed) {
  CapsuleExecution e;
  e.piece = 1;
  ASSERT_TRUE(WritePiece(0, {}, writer_.get()).ok());
  ASSERT_TRUE(WriteExecution(0, e, writer_.get()).ok());
  const std::string message(ReadPieces(*Reopened()).status().message());
  EXPECT_NE(message.find("member 'execution/0.json': its field 'piece' is 1, wanted one of the 1"),
            std::string::npos)
      << message;
}

TEST_F(CapsuleContents, LyingManifestsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "its field '' is wrong, wanted an object"},
      {"{}", "its field 'format' is '', wanted 'graphengine capsule'"},
      {R"({"format": "graphengine capsule", "version": 9})", "its field 'version' is 9"},
      {R"({"format": "graphengine capsule", "threads": -1})", "'threads' is wrong"},
      {R"({"format": "graphengine capsule", "values": [{"dtype": "f3"}]})", "'values[0].dtype'"},
      {R"({"format": "graphengine capsule", "inputs": [{"dims": [1.5]}]})", "'inputs[0].dims'"},
      {R"({"format": "graphengine capsule", "engines": [{"name": "ref"}, {"name": "./a.so"}]})",
       "'engines[1].name' is './a.so', wanted 1 to 64 characters of [a-z0-9_]"},
      {R"({"format": "graphengine capsule", "engines": [{"name": "ref:a=b"}]})", "is 'ref:a=b'"},
      {R"({"format": "graphengine capsule", "graphs": 1})", "'graphs' is wrong, wanted a list"}};
  for (const auto& [text, fault] : cases) {
    auto writer = CapsuleWriter::Create(path_);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Add(kManifestMember, text).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
    const auto capsule = CapsuleReader::Open(path_);
    ASSERT_TRUE(capsule.ok());
    const auto read = ReadManifest(**capsule);
    EXPECT_NE(read.status().message().find(fault), std::string::npos) << read.status().message();
    EXPECT_NE(read.status().message().find("member 'manifest.json'"), std::string::npos);
  }
}

TEST_F(CapsuleContents, EnginesOfManifestsAreFew) {
  CapsuleManifest m;
  m.engines.assign(65, {"ref", "", ""});
  ASSERT_TRUE(WriteManifest(m, writer_.get()).ok());
  const std::string message(ReadManifest(*Reopened()).status().message());
  EXPECT_NE(message.find("'engines' has 65 items, wanted 64"), std::string::npos) << message;
}

TEST_F(CapsuleContents, LyingPlansAreNamed) {
  const std::string tables = "plan 1\nengine 0 \"host\"\nengine 1 \"ref\"\ndevice 0 \"host\"\n";
  const std::string device = "device 1 \"ref/cpu\" engine=1\n", open = "function 0 \"main\" {\n";
  const auto segment = [&](const std::string& fields, const std::string& offer) {
    return tables + device + open + "  value 1 \"x\" : f32[4] input\n  segment 0 " + fields +
           "\n    offer " + offer + "\n  code:\n}\n";
  };
  const std::pair<std::string, const char*> cases[] = {
      {segment("device=1 inputs=[1]", "nodes=[2]"), ""},
      {tables + device, "the plan has no function"},
      {tables + "device 1 \"ref/cpu\" engine=2\n", "device 1 is of engine 2, wanted one of 2"},
      {"plan 1\nengine 0 \"./a.so\"\n", "engine 0 is named './a.so'"},
      {segment("device=2", "nodes=[2]"), "segment 0: it is on device 2, wanted one of 2"},
      {segment("device=1", "nodes=[]"), "segment 0: an offer has no nodes"},
      {segment("device=1 inputs=[2]", "nodes=[2]"), "its inputs name value 2, wanted one of 2"},
      {segment("device=1 outputs=[9]", "nodes=[2]"), "its outputs name value 9"}};
  for (const auto& [text, fault] : cases) {
    auto writer = CapsuleWriter::Create(path_);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->Add("plan/run.plan", text).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
    const auto capsule = CapsuleReader::Open(path_);
    ASSERT_TRUE(capsule.ok());
    const auto read = ReadPlanMember(**capsule, "plan/run.plan");
    EXPECT_EQ(read.ok(), *fault == '\0') << read.status().message();
    if (read.ok()) continue;
    EXPECT_NE(read.status().message().find(fault), std::string::npos) << read.status().message();
    EXPECT_NE(read.status().message().find("member 'plan/run.plan'"), std::string::npos);
  }
}

TEST_F(CapsuleContents, TensorsThatAreNotAlignedAreCopied) {
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  for (const size_t spaces : {64u, 65u}) {
    std::string head("\x93NUMPY\x01\x00", 8);
    const size_t length = spaces + 54;  // with the 10 bytes before it a multiple of 64, or one more
    head += static_cast<char>(length);
    head += '\0';
    head += dict + std::string(length - 1 - dict.size(), ' ') + "\n";
    const float numbers[] = {1, 2};
    const std::string_view parts[] = {head, {reinterpret_cast<const char*>(numbers), 8}};
    ASSERT_TRUE(writer_->Add(fmt::format("input/{}.npy", spaces), parts).ok());
  }
  const auto capsule = Reopened();
  for (const char* name : {"input/64.npy", "input/65.npy"}) {
    const auto read = ReadTensorMember(*capsule, {"x", 0, 0, DType::kFloat, {2}, name});
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(read->data()) % 4, 0u) << name;
    float found[2];
    std::memcpy(found, read->data(), sizeof found);
    EXPECT_EQ(found[1], 2) << name;
    const auto again = ReadTensorMember(*capsule, {"x", 0, 0, DType::kFloat, {2}, name});
    EXPECT_EQ(again->data(), read->data()) << "one copy";
  }
}

TEST_F(CapsuleContents, TensorsComeBackOrAreNamed) {
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  CapsuleTensor t{"x", 0, 0, DType::kFloat, {2, 3}, "input/x.npy"};
  ASSERT_TRUE(WriteTensorMember(t, std::as_bytes(std::span(numbers)), writer_.get()).ok());
  const CapsuleTensor packed{"q", 0, 0, DType::kInt4, {3}, "input/q.npy"};
  ASSERT_TRUE(
      WriteTensorMember(packed, std::as_bytes(std::span(numbers, 1)).first(2), writer_.get()).ok());
  const auto capsule = Reopened();
  const auto read = ReadTensorMember(*capsule, t);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(std::memcmp(read->data(), numbers, sizeof numbers), 0);
  EXPECT_TRUE(ReadTensorMember(*capsule, packed).ok());
  t.dims = {7};
  EXPECT_NE(ReadTensorMember(*capsule, t).status().message().find("24 bytes behind its header"),
            std::string::npos);
  t.dims = {INT64_MAX, 3};
  EXPECT_FALSE(ReadTensorMember(*capsule, t).ok());
  t.member = "input/y.npy";
  EXPECT_FALSE(ReadTensorMember(*capsule, t).ok());
}

}  // namespace
}  // namespace ge

// Which front end reads a model whose name does not tell.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "frontend/proto/proto.h"
#include "frontend/text/text.h"
#include "ge/engine/engine_list.h"
#include "ge/session/session.h"

namespace ge {
namespace {

constexpr const char* kModel = R"(ge 1
opset "" 28
fn main(x: f32[2]) -> (y) {
  y: f32[2] = Relu(x)
}
entry infer "main" = main
)";

std::unique_ptr<Session> NewSession() {
  SessionOptions options;
  options.engines = *ParseEngineList("ref");
  auto session = Session::Create(std::move(options));
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return std::move(*session);
}

TEST(Load, BytesTellTheirFormat) {
  auto graph = ParseText(kModel, "model");
  ASSERT_TRUE(graph.ok());
  auto proto = WriteProto(*graph);
  ASSERT_TRUE(proto.ok());
  for (const std::string& bytes : {std::string(kModel), *proto}) {
    const Status status = NewSession()->LoadBytes(bytes);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

// What begins with more than 4 KiB of comments is told by its name alone.
TEST(Load, TheFormatIsToldByTheFirst4096Bytes) {
  for (const size_t before : {size_t{4093}, size_t{4094}}) {
    const std::string comment = "#" + std::string(before - 2, '-') + "\n";
    const Status status = NewSession()->LoadBytes(comment + kModel);  // "ge " ends the 4096 bytes
    EXPECT_EQ(status.ok(), before == 4093) << before << ": " << status.ToString();
  }
}

TEST(Load, FilesWithoutATellingNameTellTheirFormat) {
  auto graph = ParseText(kModel, "model");
  ASSERT_TRUE(graph.ok());
  auto proto = WriteProto(*graph);
  ASSERT_TRUE(proto.ok());
  const auto path = std::filesystem::temp_directory_path() /
                    ("ge_load_test." + std::to_string(getpid()) + ".model");
  for (const std::string& bytes : {std::string(kModel), *proto}) {
    std::ofstream(path, std::ios::binary) << bytes;
    const Status status = NewSession()->LoadFile(path.string());
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  std::filesystem::remove(path);
}

// Files of the release before mean the same.
TEST(Load, OurFormatsOfTheOpsetBefore) {
  auto graph = ParseText(kModel, "model");
  ASSERT_TRUE(graph.ok());
  graph->opsets[""] = 27;
  auto proto = WriteProto(*graph);
  ASSERT_TRUE(proto.ok());
  std::string text = kModel;
  text.replace(text.find("28"), 2, "27");
  for (const std::string& bytes : {text, *proto}) {
    const Status status = NewSession()->LoadBytes(bytes);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

// A flipped bit of the number, too: such a model is bad bytes, and no call at the wrong moment.
TEST(Load, OurFormatsAreAtOneOpset) {
  auto graph = ParseText(kModel, "model");
  ASSERT_TRUE(graph.ok());
  for (int64_t opset : {0, 11, 26, 29, 91}) {
    graph->opsets[""] = opset;
    auto proto = WriteProto(*graph);
    ASSERT_TRUE(proto.ok());
    std::string text = kModel;
    text.replace(text.find("28"), 2, std::to_string(opset));
    for (const std::string& bytes : {text, *proto}) {
      const Status status = NewSession()->LoadBytes(bytes);
      EXPECT_EQ(status.code(), Code::kUnsupported) << status.ToString();
      EXPECT_NE(status.message().find("opset " + std::to_string(opset)), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ge

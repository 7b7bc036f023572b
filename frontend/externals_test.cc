// Payloads of constants that lie in files beside a model of ours.
#include "frontend/externals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace ge {
namespace {

class Externals : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "ge_externals." + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
    std::ofstream(folder_ + "/weights.bin", std::ios::binary) << "....abcdefgh";
    Const c;
    c.name = "w";
    c.type = TensorType(DType::kFloat, std::vector<int64_t>{2});
    c.external.file = "weights.bin";
    c.external.offset = 4;
    c.external.length = 8;
    graph_.consts.push_back(std::move(c));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Const& weight() { return graph_.consts.back(); }

  std::string folder_;
  Graph graph_;
};

TEST_F(Externals, AreMappedNotCopied) {
  const Status status = OpenExternals(&graph_, folder_);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(weight().bytes, 8u);
  EXPECT_EQ(std::memcmp(weight().data, "abcdefgh", 8), 0);
  // Pages of a mapping may be let go once they are read, and are never written out again.
  EXPECT_TRUE(weight().mapped);
}

TEST_F(Externals, BeyondTheEndOfTheirFileAreRefused) {
  weight().external.offset = 5;
  const Status status = OpenExternals(&graph_, folder_);
  EXPECT_EQ(status.code(), Code::kDataCorrupt) << status.ToString();
}

}  // namespace
}  // namespace ge

// What a load that failed leaves in its session: nothing that the next one feels.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "frontend/externals.h"
#include "frontend/text/text.h"
#include "ge/base/file_mapping.h"
#include "ge/session/session.h"

namespace ge {
namespace {

constexpr uint64_t kBytes = 1 << 20;

class FailedLoad : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "ge_failed_load";
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "w.bin", std::ios::binary) << std::string(kBytes, '\0');
    SessionOptions options;
    options.engines = {{"ref", ""}};
    auto session = Session::Create(std::move(options));
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    session_ = std::move(*session);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // x and a constant of the file, added; x of a shape that fits it, or not.
  Graph Model(const std::string& x) {
    auto graph = ParseText(
        "ge 1\nopset \"\" 28\nconst w : f32[262144] = external \"w.bin\" @0 +1048576\n"
        "fn main(x: f32[" +
            x + "]) -> (y) {\n  y = Add(x, w)\n}\nentry infer \"main\" = main\n",
        "model.gt");
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
    EXPECT_TRUE(OpenExternals(&*graph, folder_.string()).ok());
    return std::move(*graph);
  }

  std::filesystem::path folder_;
  std::unique_ptr<Session> session_;
};

// Whether a file of this name is mapped.
bool IsMapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) return true;
  }
  return false;
}

// Other memory takes the file's address, as a heap's may: ours, unless some was there before it.
TEST_F(FailedLoad, ItsMappedFileIsForgotten) {
  std::byte* heap = nullptr;
  for (int tries = 0; heap == nullptr && tries < 20; ++tries) {
    Graph bad = Model("3"), other = Model("5");
    const std::byte* const at = bad.consts[1].data;
    ASSERT_NE(at, nullptr);
    EXPECT_EQ(session_->LoadGraph(std::move(bad)).code(), Code::kInvalidGraph);
    EXPECT_EQ(session_->LoadGraph(std::move(other)).code(), Code::kInvalidGraph);
    bad = Graph();
    other = Graph();
    ASSERT_FALSE(IsMapped((folder_ / "w.bin").string()));
    void* const taken = mmap(const_cast<std::byte*>(at), kBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (taken != MAP_FAILED) heap = static_cast<std::byte*>(taken);
  }
  ASSERT_NE(heap, nullptr) << "no address of a file came free in 20 tries";
  std::memset(heap, 1, kBytes);
  DropMappedPages(heap, kBytes);
  EXPECT_EQ(static_cast<int>(heap[0]), 1);
  EXPECT_EQ(static_cast<int>(heap[kBytes - 1]), 1);
  munmap(heap, kBytes);
}

TEST_F(FailedLoad, TheNextLoadIsAsTheFirst) {
  EXPECT_FALSE(session_->LoadGraph(Model("3")).ok());
  EXPECT_FALSE(session_->loaded());
  EXPECT_TRUE(session_->graph().entries.empty());
  ASSERT_TRUE(session_->LoadGraph(Model("1")).ok());
  EXPECT_EQ(session_->weight_bytes(), kBytes);
}

}  // namespace
}  // namespace ge

#include "ge/compile/compiled/memory_limit.h"

#include <gtest/gtest.h>

#include "ge/engine/engine_list.h"
#include "ge/run/tensor_view.h"
#include "ge/session/session.h"

namespace ge {
namespace {

constexpr const char* kSplat = R"(ge 1
opset "" 28
const w : f32[1000,100] = splat 0.5
fn main(x: f32[1000,100]) -> (y) {
  y = Add(x, w)
}
entry infer "main" = main
)";

Status LoadAndCompile(uint64_t limit) {
  SessionOptions options;
  options.engines = *ParseEngineList("ref");
  options.build.memory_limit_bytes = limit;
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadBytes(kSplat));
  const TensorView in[] = {{DType::kFloat, {1000, 100}, nullptr, 0}};
  return session->Compile("", in).status();
}

TEST(MemoryLimit, OfSmallModelsIsSmallAndGrowsWithWhatIsGiven) {
  BuildOptions options;
  EXPECT_EQ(MemoryLimitOf(options), uint64_t{768} << 20);
  options.given_bytes = 1 << 20;
  EXPECT_EQ(MemoryLimitOf(options), (uint64_t{768} << 20) + (64 << 20));
  options.given_bytes = UINT64_MAX;
  EXPECT_GT(MemoryLimitOf(options), uint64_t{768} << 20);  // what the machine has
  options.memory_limit_bytes = 7;
  EXPECT_EQ(MemoryLimitOf(options), 7u);
}

TEST(MemoryLimit, CountsASplatTwiceAndThenTheRun) {
  Status status = LoadAndCompile(700'000);  // the splat takes 400,000
  EXPECT_EQ(status.code(), Code::kLimitExceeded);
  EXPECT_NE(status.message().find("constant 'w' repeats"), std::string::npos) << status.message();
  status = LoadAndCompile(1'000'000);
  EXPECT_EQ(status.code(), Code::kLimitExceeded);
  EXPECT_NE(status.message().find("'y' with 400000 bytes"), std::string::npos) << status.message();
  EXPECT_TRUE(LoadAndCompile(2'000'000).ok());
}

TEST(MemoryLimit, CopiesOfAConstantShareItsExpansion) {
  Graph g;
  Function& f = g.AddFunction("f");
  Const c;
  c.type = TensorType(DType::kFloat, std::vector<int64_t>{100});
  c.splat.assign(4, std::byte{0});
  const ValueId v = AddConstValue(&g, &f, c);
  f.results = {v};
  ASSERT_TRUE(ExpandSplats(&g, 10'000).ok());
  const Graph copy = g;
  EXPECT_EQ(copy.consts[1].expanded, g.consts[1].expanded);
  EXPECT_EQ(ExpandedBytes(g, g.fn(1)), 400u);
  Graph unused;
  unused.AddConst(c);
  ASSERT_TRUE(ExpandSplats(&unused, 10'000).ok());
  EXPECT_EQ(unused.consts[1].expanded, nullptr);
}

}  // namespace
}  // namespace ge

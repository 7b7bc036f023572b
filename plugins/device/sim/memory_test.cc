// What the simulator knows of freed blocks, and for how long.
#include <gtest/gtest.h>

#include <vector>

#include "plugins/device/sim/simulator.h"

namespace ge_engines::device::sim {
namespace {

// Allocates so many blocks, and then frees them: none lies where another did.
std::vector<void*> Freed(Simulator* sim, size_t count, size_t bytes) {
  std::vector<void*> blocks(count);
  for (void*& block : blocks) EXPECT_EQ(sim->Alloc(0, bytes, &block), Code::kOk);
  for (void* const block : blocks) EXPECT_EQ(sim->Free(block), Code::kOk);
  return blocks;
}

TEST(Memory, AFreedBlockIsKnownAsSuch) {
  Simulator sim({});
  void* block = nullptr;
  ASSERT_EQ(sim.Alloc(0, 64, &block), Code::kOk);
  char* const inside = static_cast<char*>(block) + 63;
  EXPECT_FALSE(sim.WasFreed(block));
  ASSERT_EQ(sim.Free(block), Code::kOk);
  EXPECT_TRUE(sim.WasFreed(block));
  EXPECT_TRUE(sim.WasFreed(inside));
  const int of_the_host = 0;
  EXPECT_FALSE(sim.WasFreed(&of_the_host));
}

// Whatever lies there then is not taken for a block that was freed.
TEST(Memory, OfTheOldestBlocksNobodyKnows) {
  Simulator large({}), many({});
  const std::vector<void*> few = Freed(&large, 70, size_t{1} << 20);
  EXPECT_FALSE(large.WasFreed(few.front()));
  EXPECT_TRUE(large.WasFreed(few.back()));
  const std::vector<void*> small = Freed(&many, 5000, 16);
  EXPECT_FALSE(many.WasFreed(small.front()));
  EXPECT_TRUE(many.WasFreed(small.back()));
  EXPECT_TRUE(large.reports().empty() && many.reports().empty());
}

}  // namespace
}  // namespace ge_engines::device::sim

#include <gtest/gtest.h>

#include "plugins/device/sim/simulator.h"

namespace ge_engines::device::sim {
namespace {

Kernel Write(void* to, unsigned char value, const char* name = "write") {
  return {name, {}, {{to, 1}}, [=] { return *static_cast<unsigned char*>(to) = value, true; }};
}

TEST(Streams, WorkOfAStreamRunsInItsOrder) {
  Simulator sim({});
  Stream stream;
  void* block;
  ASSERT_EQ(sim.StreamCreate(0, &stream), Code::kOk);
  ASSERT_EQ(sim.Alloc(0, 1, &block), Code::kOk);
  ASSERT_EQ(sim.Launch(stream, Write(block, 1, "one")), Code::kOk);
  ASSERT_EQ(sim.Launch(stream, Write(block, 2, "two")), Code::kOk);
  unsigned char seen = 0;
  ASSERT_EQ(sim.Copy(stream, &seen, block, 1), Code::kOk);
  ASSERT_EQ(sim.StreamSynchronize(stream), Code::kOk);
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(sim.order(), (std::vector<std::string>{"one", "two", "copy"}));
}

TEST(Streams, ACapturedGraphRunsAtEachLaunch) {
  Simulator sim({});
  Stream stream, other;
  Event fork, join;
  Graph graph;
  void* block;
  ASSERT_EQ(sim.StreamCreate(0, &stream), Code::kOk);
  ASSERT_EQ(sim.StreamCreate(0, &other), Code::kOk);
  ASSERT_EQ(sim.EventCreate(0, &fork), Code::kOk);
  ASSERT_EQ(sim.EventCreate(0, &join), Code::kOk);
  ASSERT_EQ(sim.Alloc(0, 2, &block), Code::kOk);
  ASSERT_EQ(sim.CaptureBegin(stream), Code::kOk);
  ASSERT_EQ(sim.EventRecord(fork, stream), Code::kOk);
  ASSERT_EQ(sim.StreamWait(other, fork), Code::kOk);
  ASSERT_EQ(sim.Launch(other, Write(block, 1, "branch")), Code::kOk);
  ASSERT_EQ(sim.EventRecord(join, other), Code::kOk);
  ASSERT_EQ(sim.StreamWait(stream, join), Code::kOk);
  ASSERT_EQ(sim.Launch(stream, Write(block, 2, "end")), Code::kOk);
  ASSERT_EQ(sim.CaptureEnd(stream, &graph), Code::kOk);
  EXPECT_TRUE(sim.order().empty());
  ASSERT_EQ(sim.GraphLaunch(graph, stream), Code::kOk);
  ASSERT_EQ(sim.GraphLaunch(graph, stream), Code::kOk);
  ASSERT_EQ(sim.StreamSynchronize(stream), Code::kOk);
  EXPECT_EQ(sim.order(), (std::vector<std::string>{"branch", "end", "branch", "end"}));
}

}  // namespace
}  // namespace ge_engines::device::sim

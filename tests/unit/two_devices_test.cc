// Two devices of one engine: values are ref's, and what one makes goes to the other directly where
// the engine has a link between them that is cheaper than the way through the host.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/unit/graph_session.h"
#include "tests/unit/plan_generator.h"
#include "tests/unit/random_graph.h"

namespace ge::test {
namespace {

struct Copies {
  uint64_t peer = 0, host = 0;
};

// Nodes lie on both devices and on ref, by pins.
Result<Copies> CompareWithRef(uint64_t seed, uint64_t peer_gbps, const std::string& more) {
  RandomGraphOptions options;
  options.nodes = 10 + static_cast<uint32_t>(seed % 20);
  const Graph graph = RandomGraph(seed, options);
  SessionOptions with;
  GE_ASSIGN_OR_RETURN(
      with.engines,
      ParseEngineList("ref," + SamplesFolder() +
                      "devsim.so:devices=2;streams=3;link_latency_ns=500;link_gbps=10;price=50;" +
                      "peer_gbps=" + std::to_string(peer_gbps) + more));
  GE_ASSIGN_OR_RETURN(auto ref, OpenGraph("ref", graph));
  GE_ASSIGN_OR_RETURN(const auto placed, ref->Compile("", Io(seed).views));
  Random random(seed);
  for (const Node& n : placed->graph.fn(placed->fn).nodes) {
    const uint32_t where = random.Below(5);
    if (where < 4) {
      with.build.place.pins.push_back(
          {"#" + std::to_string(n.id), where < 2 ? "devsim/sim:0" : "devsim/sim:1"});
    }
  }
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(with)));
  GE_RETURN_IF_ERROR(session->LoadGraph(graph));
  for (uint64_t k = 0; k < 6; ++k) {  // the last of them by captures
    const Io io(seed * 100 + k);
    GE_ASSIGN_OR_RETURN(const Bytes wanted, RunOnce(ref.get(), io));
    GE_ASSIGN_OR_RETURN(const Bytes found, RunOnce(session.get(), io));
    if (found != wanted) {
      return Status(Code::kInternal, "graph " + std::to_string(seed) + ": other bits than ref");
    }
  }
  const Plan& plan = session->Latest("")->plan;
  Copies out;
  for (const Instruction& in : plan.functions[0].code) {
    if (in.op != PlanOp::kCopy) continue;
    const auto& values = plan.functions[0].values;
    const bool peer = values[in.src].domain != 0 && values[in.dst].domain != 0;
    ++(peer ? out.peer : out.host);
  }
  return out;
}

TEST(TwoDevices, CopyToEachOtherWhereThatIsCheaper) {
  Copies fast, slow, none;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const std::string delay = seed % 3 == 0 ? ";delay=" + std::to_string(seed) : "";
    for (const auto& [gbps, sum] :
         {std::pair<uint64_t, Copies*>{100, &fast}, {1, &slow}, {0, &none}}) {
      const auto copies = CompareWithRef(seed, gbps, delay);
      ASSERT_TRUE(copies.ok()) << copies.status().ToString();
      sum->peer += copies->peer;
      sum->host += copies->host;
    }
  }
  std::printf("peer copies: %lu on a fast link, %lu on a slow one; by the host: %lu, %lu, %lu\n",
              fast.peer, slow.peer, fast.host, slow.host, none.host);
  EXPECT_GT(fast.peer, 100u);
  EXPECT_EQ(none.peer, 0u);
  EXPECT_LT(fast.host, none.host);
}

}  // namespace
}  // namespace ge::test

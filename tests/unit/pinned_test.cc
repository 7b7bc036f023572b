// Page-locked memory: where the engine says that copies from there are faster, a caller's tensor
// goes through it if the host's own copy and the faster one take less than the direct one. What
// lies in the host's arena is there already. Values are ref's.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/unit/graph_session.h"
#include "tests/unit/random_graph.h"

namespace ge::test {
namespace {

struct Ways {
  uint64_t direct = 0, staged = 0, other = 0;  // device copies of callers' tensors; of the arena's
};

Result<Ways> WaysWith(uint64_t seed, const std::string& options) {
  RandomGraphOptions random;
  random.nodes = 8 + static_cast<uint32_t>(seed % 16);
  GE_ASSIGN_OR_RETURN(auto ref, OpenGraph("ref", RandomGraph(seed, random)));
  GE_ASSIGN_OR_RETURN(
      auto session,
      OpenGraph("ref," + SamplesFolder() + "devsim.so:take=60;price=10;streams=3;take_seed=" +
                    std::to_string(seed) + ";link_latency_ns=10;" + options,
                RandomGraph(seed, random)));
  for (uint64_t k = 0; k < 6; ++k) {
    const Io io(seed * 100 + k);
    GE_ASSIGN_OR_RETURN(const Bytes wanted, RunOnce(ref.get(), io));
    GE_ASSIGN_OR_RETURN(const Bytes found, RunOnce(session.get(), io));
    if (found != wanted) {
      return Status(Code::kInternal, "graph " + std::to_string(seed) + ": other bits than ref");
    }
  }
  const PlanFunction& f = session->Latest("")->plan.functions[0];
  Ways out;
  for (const Instruction& in : f.code) {
    if (in.op != PlanOp::kCopy) continue;
    const PlanValue &src = f.values[in.src], &dst = f.values[in.dst];
    if (src.domain == 0 && dst.domain == 0) {
      out.staged += src.name.find("#staged") != std::string::npos ||
                    dst.name.find("#staged") != std::string::npos;
      continue;
    }
    const PlanValue& host = src.domain == 0 ? src : dst;
    const bool callers = host.kind == PlanValueKind::kInput || host.kind == PlanValueKind::kOutput;
    // The few bytes of a reduced one are not worth a second copy.
    ++(callers && host.bytes > 200 ? out.direct : out.other);
  }
  return out;
}

TEST(Pinned, CallersTensorsGoThroughItWhereThatIsFaster) {
  Ways faster, equal, none;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    for (const auto& [options, sum] :
         {std::pair<std::string, Ways*>{"pinned=1;link_gbps=1;pinned_gbps=1000", &faster},
          {"pinned=1;link_gbps=1000;pinned_gbps=1000", &equal},
          {"link_gbps=1", &none}}) {
      const auto ways = WaysWith(seed, options);
      ASSERT_TRUE(ways.ok()) << ways.status().ToString();
      sum->direct += ways->direct;
      sum->staged += ways->staged;
      sum->other += ways->other;
    }
  }
  std::printf(
      "callers' tensors: %lu direct and %lu staged where staging pays, %lu and %lu where it "
      "does not, %lu and %lu without page-locked memory\n",
      faster.direct, faster.staged, equal.direct, equal.staged, none.direct, none.staged);
  EXPECT_EQ(faster.direct, 0u);
  EXPECT_GT(faster.staged, 40u);
  EXPECT_GT(equal.direct, 40u);
  EXPECT_EQ(equal.staged + none.staged, 0u);
}

}  // namespace
}  // namespace ge::test

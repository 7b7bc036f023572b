// Effects and `after` edges reach the device in their order: 200 random graphs whose nodes act on a
// few objects, on two streams of devsim with random delays. What ran is read from devsim's trace,
// and plans in which an edge or a wait is missing are refused just when the order is lost.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "ge/ir/walk.h"
#include "ge/plan/check/check.h"
#include "streams/streams.h"
#include "tests/unit/graph_session.h"
#include "tests/unit/plan_generator.h"
#include "tests/unit/plan_oracle.h"
#include "tests/unit/random_graph.h"

namespace ge::test {
namespace {

using Pairs = std::vector<std::pair<NodeId, NodeId>>;

// Nodes in another order that their values allow.
void Shuffle(Random* random, Function* f) {
  const DefUse d = BuildDefUse(*f);
  std::vector<Node> left = std::move(f->nodes), out;
  std::vector<bool> done(left.size());
  while (out.size() < left.size()) {
    std::vector<uint32_t> ready;
    for (uint32_t i = 0; i < left.size(); ++i) {
      const bool made =
          !done[i] && std::all_of(left[i].inputs.begin(), left[i].inputs.end(), [&](ValueId v) {
            return d.producer[v] < 0 || done[d.producer[v]];
          });
      if (made) ready.push_back(i);
    }
    const uint32_t i = ready[random->Below(static_cast<uint32_t>(ready.size()))];
    done[i] = true;
    out.push_back(left[i]);
  }
  f->nodes = std::move(out);
}

// Half the nodes act on one or two of three objects; some come after an earlier one by an edge.
// `wanted`: all pairs that are to keep their order.
Graph WithEffects(uint64_t seed, Pairs* wanted) {
  RandomGraphOptions options;
  options.nodes = 6 + static_cast<uint32_t>(seed % 18);
  Graph graph = RandomGraph(seed, options);
  Random random(seed * 977);
  Function& f = graph.fn(1);
  Shuffle(&random, &f);
  std::map<uint32_t, std::vector<NodeId>> actors;
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    Node& n = f.nodes[i];
    for (uint32_t object = 1; object <= 3; ++object) {
      if (!random.Chance(25)) continue;
      n.effects.push_back({EffectKind::kIo, object, 0});
      for (NodeId first : actors[object]) wanted->emplace_back(first, n.id);
      actors[object].push_back(n.id);
    }
    if (i > 0 && random.Chance(15)) {
      n.after.push_back(f.nodes[random.Below(static_cast<uint32_t>(i))].id);
      wanted->emplace_back(n.after[0], n.id);
    }
  }
  return graph;
}

// By node: the lines at which it began and ended in the last run.
std::map<NodeId, std::pair<int, int>> ReadTrace(const std::string& path) {
  std::map<NodeId, std::pair<int, int>> out;
  std::ifstream file(path);
  std::string what;
  NodeId id = 0;
  for (int line = 0; file >> what >> id; ++line) {
    (what == "begin" ? out[id].first : out[id].second) = line;
  }
  return out;
}

struct OrderTally {
  uint64_t pairs = 0, edges = 0, edited = 0, refused = 0, for_order_alone = 0;
};

std::map<NodeId, SegmentId> SegmentsOf(const PlanFunction& f) {
  std::map<NodeId, SegmentId> out;
  for (SegmentId s = 0; s < f.segments.size(); ++s) {
    for (const PlanOffer& o : f.segments[s].offers) {
      for (NodeId n : o.nodes) out[n] = s;
    }
  }
  return out;
}

// Nodes of one segment run by its values: it is what the trace cannot show.
void ExpectInOrder(const Pairs& wanted, const PlanFunction& f, const std::string& path,
                   uint64_t seed, OrderTally* tally) {
  const auto ran = ReadTrace(path);
  const auto segment = SegmentsOf(f);
  for (const auto& [first, then] : wanted) {
    const auto a = ran.find(first), b = ran.find(then);
    if (a == ran.end() || b == ran.end()) continue;  // one of them is on the host
    if (segment.at(first) == segment.at(then)) continue;
    ++tally->pairs;
    EXPECT_LT(a->second.second, b->second.first)
        << "graph " << seed << ": node " << then << " began before node " << first << " ended";
  }
}

void ExpectJudgedAlike(const Plan& plan, uint64_t seed, OrderTally* tally) {
  const auto report = Check(plan);
  const OracleVerdict verdict = Judge(plan);
  ++tally->edited;
  tally->refused += !report.ok();
  EXPECT_EQ(report.ok(), verdict.safe())
      << "graph " << seed << "\nprover: " << report.status().ToString()
      << "\noracle: " << verdict.ToString();
  if (report.ok() || report.status().message().find("must run after") == std::string::npos) return;
  ++tally->for_order_alone;
}

// Each order edge taken away before STREAMS and put back behind it; then each wait taken away. What
// is no longer ordered has to be refused, and an oracle that shares no code says what that is.
void ExpectEachEdgeIsProved(const Plan& plan, uint64_t seed, OrderTally* tally) {
  Plan bare = plan;
  PlanFunction& f = bare.functions[0];
  std::erase_if(f.code, [](const Instruction& in) {
    return in.op == PlanOp::kSignal || in.op == PlanOp::kWait;
  });
  for (Instruction& in : f.code) in.stream = 0;
  f.streams.clear();
  f.events.clear();
  for (SegmentId s = 0; s < f.segments.size(); ++s) {
    for (size_t k = 0; k < f.segments[s].after.size(); ++k) {
      ++tally->edges;
      Plan edited = bare;
      auto& after = edited.functions[0].segments[s].after;
      after.erase(after.begin() + static_cast<std::ptrdiff_t>(k));
      ASSERT_TRUE(AssignStreams(&edited).ok());
      after = f.segments[s].after;
      ExpectJudgedAlike(edited, seed, tally);
    }
  }
  const auto& code = plan.functions[0].code;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].op != PlanOp::kWait) continue;
    Plan edited = plan;
    edited.functions[0].code.erase(edited.functions[0].code.begin() +
                                   static_cast<std::ptrdiff_t>(i));
    ExpectJudgedAlike(edited, seed, tally);
  }
}

TEST(Order, EffectsOnADeviceHappenInTheOrderOfTheNodes) {
  const std::string path = ::testing::TempDir() + "ge_order_trace_" + std::to_string(getpid());
  OrderTally tally;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Pairs wanted;
    Graph graph = WithEffects(seed, &wanted);
    auto ref = OpenGraph("ref", graph);
    auto session =
        OpenGraph("ref," + SamplesFolder() +
                      "devsim.so:link_latency_ns=20;link_gbps=1000;price=20;"
                      "delay=" +
                      std::to_string(seed) + ";trace=" + path +
                      (seed % 2 == 0 ? ";take=70;take_seed=" + std::to_string(seed) : ""),
                  graph);
    ASSERT_TRUE(ref.ok() && session.ok()) << session.status().ToString();
    auto expected = RunOnce(ref->get(), Io(seed)), found = RunOnce(session->get(), Io(seed));
    ASSERT_TRUE(expected.ok() && found.ok()) << found.status().ToString();
    EXPECT_EQ(*found, *expected) << "graph " << seed;
    const Plan& plan = (*session)->Latest("")->plan;
    ExpectInOrder(wanted, plan.functions[0], path, seed, &tally);
    ExpectEachEdgeIsProved(plan, seed, &tally);
  }
  std::remove(path.c_str());
  std::printf(
      "200 graphs: %lu pairs ran in order on devsim; %lu order edges; of %lu plans without one of "
      "them or without a wait %lu were refused, %lu for the order alone\n",
      tally.pairs, tally.edges, tally.edited, tally.refused, tally.for_order_alone);
  EXPECT_GT(tally.pairs, 2000u);
  EXPECT_GT(tally.edges, 1000u);
  EXPECT_GT(tally.for_order_alone, 200u);
}

}  // namespace
}  // namespace ge::test

#include "ge/memory/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "ge/memory/pack.h"
#include "ge/plan/check/check.h"
#include "streams/streams.h"
#include "tests/unit/plan_generator.h"
#include "tests/unit/small_plan.h"

namespace ge {
namespace {

using test::kRef;
using test::kSim;
using test::SmallPlan;

CheckReport Proved(const Plan& plan) {
  Result<CheckReport> report = Check(plan);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  return report.ok() ? *std::move(report) : CheckReport{};
}

// x -> a -> b -> c -> y on the host; each launch may work in place when `alias`.
SmallPlan ChainPlan(bool alias) {
  SmallPlan p(0);
  const std::vector<std::pair<uint32_t, uint32_t>> pairs =
      alias ? std::vector<std::pair<uint32_t, uint32_t>>{{0, 0}}
            : std::vector<std::pair<uint32_t, uint32_t>>{};
  PlanValueId at = p.Input("x", 1024);
  for (const char* name : {"a", "b", "c"}) {
    const PlanValueId next = p.Value(name, 1024);
    p.Launch(kRef, {at}, {next}, 1000, pairs);
    at = next;
  }
  p.Launch(kRef, {at}, {p.Output("y", 1024)}, 1000, pairs);
  return p;
}

TEST(Memory, AChainNeedsTwoPlaces) {
  SmallPlan p = ChainPlan(false);
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  const CheckReport report = Proved(p.plan);
  EXPECT_EQ(report.arena_bytes[0], 2048);
  EXPECT_EQ(report.max_live_bytes[0], 2048);
  EXPECT_GT(report.proved_pairs, 0);
}

TEST(Memory, AChainInPlaceNeedsOne) {
  SmallPlan p = ChainPlan(true);
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  EXPECT_EQ(Proved(p.plan).arena_bytes[0], 1024);
  EXPECT_EQ(p.value(3).alias_of, 2u);
  EXPECT_EQ(p.value(2).alias_of, 0u);  // never over the caller's input
}

TEST(Memory, AnOwnPlaceIsSharedWithNobody) {
  for (const bool alias : {false, true}) {
    SmallPlan p = ChainPlan(alias);
    MemoryOptions options;
    options.own_places = {3, 4'000'000'000};
    ASSERT_TRUE(AssignMemory(&p.plan, options).ok());
    EXPECT_EQ(Proved(p.plan).arena_bytes[0], 2048);
    EXPECT_EQ(p.value(3).alias_of, 0u);
    EXPECT_EQ(p.value(4).alias_of, 0u);
    EXPECT_NE(p.value(3).offset, p.value(2).offset);
    EXPECT_NE(p.value(3).offset, p.value(4).offset);
    EXPECT_EQ(p.value(2).offset, p.value(4).offset);  // the others share as before
  }
}

TEST(Memory, NotInPlaceWhileAnotherReadsTheInput) {
  SmallPlan p(0);
  const auto x = p.Input("x", 64), a = p.Value("a", 640), b = p.Value("b", 640),
             y = p.Output("y", 64);
  p.Launch(kRef, {x}, {a});
  p.Launch(kRef, {a}, {b}, 1000, {{0, 0}});
  p.Launch(kRef, {a, b}, {y});
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  EXPECT_EQ(p.value(b).alias_of, 0u);
  EXPECT_EQ(Proved(p.plan).arena_bytes[0], 1280);
}

TEST(Memory, NotInPlaceWhenTheInputComesTwiceAndOnePositionForbids) {
  SmallPlan p(0);
  const auto x = p.Input("x", 64), a = p.Value("a", 640), b = p.Value("b", 640),
             y = p.Output("y", 64);
  p.Launch(kRef, {x}, {a});
  const SegmentId twice = p.Launch(kRef, {a, a}, {b}, 1000, {{0, 0}});
  p.Launch(kRef, {b}, {y});
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  EXPECT_EQ(p.value(b).alias_of, 0u);
  Proved(p.plan);
  p.f().segments[twice].may_alias.push_back({0, 1});
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  EXPECT_EQ(p.value(b).alias_of, a);
  Proved(p.plan);
}

TEST(Memory, NotInPlaceWhileAnotherStreamMayStillRead) {
  SmallPlan p;
  const auto x = p.Input("x", 640), dx = p.Value("dx", 640, 1), a = p.Value("a", 640, 1),
             b = p.Value("b", 640, 1), ya = p.Output("ya", 640), yb = p.Output("yb", 640);
  p.Copy(x, dx, 100);
  p.Launch(kSim, {dx}, {a}, 1000);
  p.Copy(a, ya, 50000);  // rides on the other stream
  p.Launch(kSim, {a}, {b}, 1000, {{0, 0}});
  p.Copy(b, yb, 100);
  ASSERT_TRUE(AssignStreams(&p.plan).ok());
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  EXPECT_EQ(p.value(b).alias_of, 0u);
  Proved(p.plan);
}

TEST(Memory, InternalsShareByStepsAndByPermission) {
  SmallPlan p(0);
  const auto x = p.Input("x", 64), y = p.Output("y", 64);
  const SegmentId s = p.Launch(kRef, {x}, {y});
  p.f().segments[s].n_step = 4;
  p.Internal(s, "i0", 1024, 0, 1);
  p.Internal(s, "i1", 1024, 2, 3);  // another step: the same place
  const PlanValueId i2 = p.Internal(s, "i2", 1024, 3, 3);
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  EXPECT_EQ(Proved(p.plan).arena_bytes[0], 2048);
  p.value(i2).internal_alias = i2 - 1;  // now in i1's place
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  EXPECT_EQ(Proved(p.plan).arena_bytes[0], 1024);
  EXPECT_EQ(p.value(i2).alias_of, i2 - 1);
}

TEST(Memory, WorkspaceHasAPlaceOfItsOwnDuringItsLaunch) {
  SmallPlan p(0);
  const auto x = p.Input("x", 64), a = p.Value("a", 512), y = p.Output("y", 64);
  const SegmentId s = p.Launch(kRef, {x}, {a});
  p.Launch(kRef, {a}, {y});
  const PlanValueId w = p.Value("work", 4096, 0, PlanValueKind::kWorkspace);
  p.f().segments[s].workspace = w;
  p.value(w).align = 4096;
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  EXPECT_EQ(Proved(p.plan).arena_bytes[0], 4608);
  EXPECT_EQ(p.value(w).offset % 4096, 0);
  EXPECT_EQ(p.plan.domains[0].align, 4096);  // blocks of the domain must begin there too
}

TEST(Memory, GapsLieBetweenBlocksAndReuseCanBeOff) {
  SmallPlan p = ChainPlan(false);
  ASSERT_TRUE(AssignMemory(&p.plan, {192, true}).ok());
  EXPECT_EQ(Proved(p.plan).arena_bytes[0], 2 * (1024 + 192));
  ASSERT_TRUE(AssignMemory(&p.plan, {64, false}).ok());
  EXPECT_EQ(Proved(p.plan).arena_bytes[0], 64 + 3 * (1024 + 64));  // and one before the first
  EXPECT_EQ(Proved(p.plan).proved_pairs, 0);
  EXPECT_EQ(AssignMemory(&p.plan, {-1, true}).code(), Code::kInvalidArgument);
}

TEST(Memory, EmptyValuesHaveAPlaceWithoutBytes) {
  SmallPlan p(0);
  const auto x = p.Input("x", 0), a = p.Value("a", 0), y = p.Output("y", 0);
  p.Launch(kRef, {x}, {a});
  p.Launch(kRef, {a}, {y});
  ASSERT_TRUE(AssignMemory(&p.plan, {64, true}).ok());
  EXPECT_EQ(Proved(p.plan).arena_bytes[0], 0);
  EXPECT_GE(p.value(a).arena, 0);
}

TEST(Memory, RefusesSizesBeyond63Bits) {
  SmallPlan p = ChainPlan(false);
  p.value(2).bytes = INT64_MAX - 100;
  const Status status = AssignMemory(&p.plan);
  EXPECT_EQ(status.code(), Code::kLimitExceeded);
  EXPECT_NE(status.message().find("memory domain 'host'"), std::string::npos);
}

TEST(Memory, RefusesAlignmentsThatAreNoPowersOfTwo) {
  for (const int64_t align : {0, -8, 3, 48}) {
    SmallPlan p = ChainPlan(false);
    p.value(2).align = align;
    const Status status = AssignMemory(&p.plan);
    EXPECT_EQ(status.code(), Code::kInternal) << align;
    EXPECT_NE(status.message().find("a power of two"), std::string::npos) << status.message();
  }
}

TEST(Memory, KeepsArenasOfOtherUses) {
  SmallPlan p = ChainPlan(false);
  const PlanValueId c = p.Value("weights", 256, 0, PlanValueKind::kConstant);
  p.f().arenas = {{0, PlanArena::Use::kTransient, 5}, {0, PlanArena::Use::kPersistent, 256}};
  p.value(c).arena = 1;
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  ASSERT_EQ(p.f().arenas.size(), 2u);
  EXPECT_EQ(p.value(c).arena, 0);
  EXPECT_EQ(p.f().arenas[0].use, PlanArena::Use::kPersistent);
  Proved(p.plan);
}

TEST(Memory, TheFirstArenaMayBeOneThatStays) {
  SmallPlan p = ChainPlan(false);
  const PlanValueId c = p.Value("weights", 256, 0, PlanValueKind::kConstant);
  p.f().arenas = {{0, PlanArena::Use::kPersistent, 256}, {0, PlanArena::Use::kTransient, 5}};
  p.value(c).arena = 0;
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  ASSERT_EQ(p.f().arenas.size(), 2u);
  EXPECT_EQ(p.value(c).arena, 0);
  Proved(p.plan);
}

// Best order by trying them all, first fit: an optimum of first fit over orders is an optimum.
int64_t BestPack(const std::vector<memory::PackBlock>& blocks) {
  std::vector<uint32_t> order(blocks.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> offset(blocks.size(), -1);
    int64_t bytes = 0;
    for (uint32_t i : order) {
      int64_t at = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t j : blocks[i].conflicts) {
          if (offset[j] < 0 || offset[j] >= at + blocks[i].bytes ||
              at >= offset[j] + blocks[j].bytes) {
            continue;
          }
          at = offset[j] + blocks[j].bytes;
          moved = true;
        }
      }
      offset[i] = at;
      bytes = std::max(bytes, at + blocks[i].bytes);
    }
    best = std::min(best, bytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Memory, PackIsNearTheBestOfAllOrders) {
  test::Random random(5);
  int optimal = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<memory::PackBlock> blocks(7);
    for (auto& b : blocks) {
      b.bytes = 1 + random.Below(100);
      b.first = random.Below(8);
      b.last = b.first + random.Below(4);
    }
    for (uint32_t i = 0; i < blocks.size(); ++i) {
      for (uint32_t j = 0; j < blocks.size(); ++j) {
        if (i != j && blocks[i].first <= blocks[j].last && blocks[j].first <= blocks[i].last) {
          blocks[i].conflicts.push_back(j);
        }
      }
    }
    const memory::PackResult r = memory::Pack(blocks);
    const int64_t best = BestPack(blocks);
    ASSERT_GE(r.bytes, best);
    EXPECT_LE(r.bytes, best * 105 / 100) << "round " << round;
    optimal += r.bytes == best;
  }
  std::printf("Pack: %d of 100 problems of 7 blocks at the optimum (seed 5)\n", optimal);
  EXPECT_GE(optimal, 95);
}

// Twice as many values live together as pairs of them are listed; then, as often, others.
TEST(Memory, ManyValuesThatLiveTogetherTakeNoPairs) {
  constexpr int kTogether = 4000;
  SmallPlan p(0);
  PlanValueId at = p.Input("x", 64);
  int64_t most = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<PlanValueId> all;
    int64_t bytes = 64;
    for (int i = 0; i < kTogether; ++i) {
      all.push_back(p.Value("v", 64 * (1 + (i + round) % 3)));
      bytes += 64 * (1 + (i + round) % 3);
      p.Launch(kRef, {at}, {all.back()});
    }
    at = round == 2 ? p.Output("y", 64) : p.Value("sum", 64);
    p.Launch(kRef, all, {at});
    most = std::max(most, bytes);
  }
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  const CheckReport report = Proved(p.plan);
  EXPECT_GE(report.max_live_bytes[0], most - 64);
  EXPECT_LE(report.arena_bytes[0], report.max_live_bytes[0] * 105 / 100);
}

// Nothing here may look at all members of a block for each of them: 60,000 in one place, in a chain
// of launches and inside one launch.
// Steps of the last launch tell them apart without comparing each with all others.
TEST(Memory, ManyInternalsOneStepEach) {
  constexpr uint32_t kSteps = 10'000;
  SmallPlan p(0);
  const SegmentId s = p.Launch(kRef, {p.Input("x", 64)}, {p.Output("y", 64)});
  p.f().segments[s].n_step = kSteps;
  for (uint32_t k = 0; k < kSteps; ++k) p.Internal(s, "i", 1024, k, k);
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  EXPECT_EQ(Proved(p.plan).arena_bytes[0], 1024);
}

TEST(Memory, LongChainsInPlace) {
  constexpr uint32_t kLength = 60000;
  SmallPlan p(0);
  PlanValueId at = p.Value("v0", 1024);
  p.Launch(kRef, {p.Input("x", 1024)}, {at});
  for (uint32_t i = 1; i < kLength; ++i) {
    const PlanValueId next = p.Value("v", 1024);
    p.Launch(kRef, {at}, {next}, 1000, {{0, 0}});
    at = next;
  }
  const SegmentId last = p.Launch(kRef, {at}, {p.Output("y", 1024)});
  p.f().segments[last].n_step = kLength + 1;
  for (uint32_t i = 0; i < kLength; ++i) {
    const PlanValueId v = p.Internal(last, "i", 512, i, i + 1);
    if (i > 0) p.value(v).internal_alias = v - 1;
  }
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  const CheckReport report = Proved(p.plan);
  EXPECT_EQ(report.arena_bytes[0], 1024 + 512);
  EXPECT_EQ(report.max_live_bytes[0], 1024 + 512);
  EXPECT_EQ(report.proved_pairs, 2 * (int64_t{kLength} * (kLength - 1) / 2));
}

TEST(Memory, AWalkThroughTimePacksLegallyAndNearTheFloor) {
  test::Random random(11);
  double sum = 0, worst = 0;
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<memory::PackBlock> blocks(200);
    std::vector<int64_t> live(100);
    for (auto& b : blocks) {
      b.bytes = 1 + random.Below(1000);
      b.align = int64_t{1} << random.Below(7);
      b.first = random.Below(80);
      b.last = b.until = b.first + random.Below(20);
      for (uint32_t t = b.first; t <= b.until; ++t) live[t] += b.bytes;
    }
    const memory::PackResult r = memory::PackInOrder(blocks);
    for (size_t i = 0; i < blocks.size(); ++i) {
      ASSERT_EQ(r.offset[i] % blocks[i].align, 0);
      ASSERT_LE(r.offset[i] + blocks[i].bytes, r.bytes);
      for (size_t j = 0; j < i; ++j) {
        const bool apart = blocks[i].first > blocks[j].until || blocks[j].first > blocks[i].until ||
                           r.offset[i] >= r.offset[j] + blocks[j].bytes ||
                           r.offset[j] >= r.offset[i] + blocks[i].bytes;
        ASSERT_TRUE(apart) << "round " << round << ": blocks " << i << " and " << j;
      }
    }
    const double ratio = static_cast<double>(r.bytes) /
                         static_cast<double>(*std::max_element(live.begin(), live.end()));
    sum += ratio;
    worst = std::max(worst, ratio);
  }
  std::printf("PackInOrder: arena / max-live of 100 problems: mean %.3f, worst %.3f (seed 11)\n",
              sum / kRounds, worst);
  EXPECT_LE(sum / kRounds, 1.25);
}

TEST(Memory, FiveThousandValuesInASecond) {
  test::GeneratorOptions options;
  options.segments = 1600;
  options.chain_percent = 60;
  Plan plan = test::RandomPlan(3, options);
  ASSERT_TRUE(AssignStreams(&plan).ok());
  ASSERT_GT(plan.functions[0].values.size(), 5000u);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(AssignMemory(&plan).ok());
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::printf("MEMORY: %zu values, %zu instructions in %.0f ms\n", plan.functions[0].values.size(),
              plan.functions[0].code.size(), ms);
  EXPECT_LT(ms, 20000);  // generous: sanitizers and busy machines
  Plan again = plan;
  ASSERT_TRUE(AssignMemory(&again).ok());
  for (size_t v = 1; v < plan.functions[0].values.size(); ++v) {
    ASSERT_EQ(plan.functions[0].values[v].offset, again.functions[0].values[v].offset);
  }
  Proved(plan);
}

}  // namespace
}  // namespace ge

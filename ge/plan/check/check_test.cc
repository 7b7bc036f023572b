#include "ge/plan/check/check.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ge/memory/memory.h"
#include "streams/streams.h"
#include "tests/unit/small_plan.h"

namespace ge {
namespace {

using test::kRef;
using test::kSim;
using test::SmallPlan;

// x -> copy -> L0 -> copy -> L1 (host) -> y, with a workspace and internals in L0.
// Streams: launches of sim0 on 1, its copies on 2. Instructions:
// 0 copy@2  1 signal@2  2 wait@1  3 L0@1  4 signal@1  5 wait@2  6 copy@2  7 signal@2  8 wait@0  9
// L1@0
SmallPlan Base() {
  SmallPlan p;
  const auto x = p.Input("x", 256), dx = p.Value("dx", 256, 1), a = p.Value("a", 256, 1),
             h = p.Value("h", 256), y = p.Output("y", 256);
  p.Copy(x, dx);
  const SegmentId s = p.Launch(kSim, {dx}, {a}, 1000, {{0, 0}});
  p.Copy(a, h);
  p.Launch(kRef, {h}, {y});
  p.f().segments[s].n_step = 3;
  p.Internal(s, "i0", 128, 0, 1);
  p.Internal(s, "i1", 128, 2, 2);
  const PlanValueId w = p.Value("work", 512, 1, PlanValueKind::kWorkspace);
  p.f().segments[s].workspace = w;
  p.value(w).segment = s;
  EXPECT_TRUE(AssignStreams(&p.plan).ok());
  EXPECT_TRUE(AssignMemory(&p.plan).ok());
  return p;
}
constexpr PlanValueId kX = 1, kDx = 2, kA = 3, kH = 4, kY = 5, kI0 = 6, kI1 = 7, kWork = 8;

TEST(Check, AcceptsTheBase) {
  SmallPlan p = Base();
  ASSERT_EQ(p.f().code.size(), 10u);
  const Result<CheckReport> report = Check(p.plan);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  // dx and a in one place, one internal at a time, the workspace.
  EXPECT_EQ(report->max_live_bytes[1], 256 + 128 + 512);
  EXPECT_EQ(report->arena_bytes[1], 256 + 128 + 512);
  EXPECT_EQ(report->max_live_bytes[0], 256);
  EXPECT_EQ(p.value(kA).alias_of, kDx);
  const Result<std::vector<LiveMoment>> live = LiveBytes(p.plan, 1);
  ASSERT_TRUE(live.ok()) << live.status().ToString();
  int64_t most = 0;
  for (const LiveMoment& m : *live) most = std::max(most, m.bytes);
  EXPECT_EQ(most, report->max_live_bytes[1]);
  EXPECT_GT(live->size(), 2u);
}

struct PlanCase {
  const char* name;
  std::function<void(SmallPlan&)> edit;
  std::vector<std::string> says;  // parts of the message
};

void Erase(SmallPlan& p, size_t i) { p.f().code.erase(p.f().code.begin() + i); }

const std::vector<PlanCase>& TimeCases() {
  static const std::vector<PlanCase> cases = {
      {"stream wait dropped",
       [](SmallPlan& p) { Erase(p, 2); },
       {"value 'dx' is written by instruction 0 (copy on stream 2) and read by instruction 2 "
        "(launch of segment 0 on stream 1), and nothing orders them"}},
      {"host wait dropped",
       [](SmallPlan& p) { Erase(p, 8); },
       {"value 'h' is written by instruction 6 (copy on stream 2) and read by instruction 8 "
        "(launch of segment 1 on stream 0)"}},
      {"signal dropped",
       [](SmallPlan& p) { Erase(p, 4); },
       {"instruction 4 (wait of stream 2 for event 1 at 1) waits for nothing: no instruction "
        "signals "
        "event 1 to 1 or more"}},
      {"host waits before the signal",
       [](SmallPlan& p) { std::swap(p.f().code[7], p.f().code[8]); },
       {"instruction 7 (wait of the host for event 0 at 2)",
        "is issued before instruction 8 (signal", "wanted the signal first"}},
      {"a stream waits before the signal",
       [](SmallPlan& p) { std::swap(p.f().code[1], p.f().code[2]); },
       {"instruction 1 (wait of stream 1 for event", "is issued before instruction 2 (signal",
        "wanted the signal first"}},
      {"wait for zero orders nothing",
       [](SmallPlan& p) { p.f().code[2].event_value = 0; },
       {"value 'dx'", "nothing orders them"}},
      {"host order reversed",
       [](SmallPlan& p) { std::swap(p.f().code[3], p.f().code[6]); },
       {"wanted"}},
      {"work runs on at the end",
       [](SmallPlan& p) {
         // A last copy that nobody waits for.
         const PlanValueId y2 = p.Output("y2", 256);
         p.Copy(kA, y2);
         p.f().code.back().stream = 2;
       },
       {"instruction 10 (copy on stream 2) may still run when the function ends"}},
  };
  return cases;
}

const std::vector<PlanCase>& PlaceCases() {
  static const std::vector<PlanCase> cases = {
      {"overlap inside a launch",
       [](SmallPlan& p) { p.value(kDx).offset = p.value(kA).offset = p.value(kWork).offset; },
       {"value 'dx'", "value 'work'", "share bytes while both may be live",
        "; wanted instruction 3 (launch of segment 0 on stream 1) ordered before instruction 0 "
        "(copy "
        "on stream 2), or another place"}},
      {"internals of one step",
       [](SmallPlan& p) {
         p.value(kI1).first_step = 1;
         p.value(kI1).offset = p.value(kI0).offset;
       },
       {"value 'i0'", "value 'i1'", "share bytes"}},
      {"undeclared in place",
       [](SmallPlan& p) { p.value(kA).alias_of = 0; },
       {"value 'dx'", "value 'a'", "share bytes",
        "; wanted instruction 6 (copy on stream 2) ordered before instruction 0 (copy on stream "
        "2), "
        "or another place"}},
      {"alias without permission",
       [](SmallPlan& p) { p.f().segments[0].may_alias.clear(); },
       {"value 'a' claims the place of value 'dx', which no segment permits"}},
      {"alias at another place",
       [](SmallPlan& p) { p.value(kA).offset = 1 << 20; },
       {"value 'a'", "leaves arena"}},
      {"arena too small", [](SmallPlan& p) { p.f().arenas[1].bytes -= 64; }, {"leaves arena 1"}},
      {"misaligned",
       [](SmallPlan& p) {
         p.value(kH).offset = 32;
         p.f().arenas[0].bytes += 64;
       },
       {"value 'h' is at offset 32, wanted a multiple of 64"}},
      {"negative offset", [](SmallPlan& p) { p.value(kH).offset = -64; }, {"value 'h'", "leaves"}},
      {"overflow",
       [](SmallPlan& p) { p.value(kH).offset = INT64_MAX - 63; },
       {"value 'h'", "leaves"}},
      {"no place",
       [](SmallPlan& p) { p.value(kH).arena = -1; },
       {"uses value 'h', which has no place in an arena"}},
      {"arena of another domain",
       [](SmallPlan& p) { p.value(kH).arena = 1; },
       {"value 'h' is in domain 'host' but its arena 1 is in 'sim0'"}},
      {"input in an arena",
       [](SmallPlan& p) { p.value(kX).arena = 0; },
       {"value 'x' is an input, which may not lie in arena 0"}},
      {"blocks too little aligned",
       [](SmallPlan& p) { p.value(kH).align = 128; },
       {"value 'h' wants alignment 128, but blocks of domain 'host' have 64"}},
      {"bad alignment", [](SmallPlan& p) { p.value(kH).align = 48; }, {"wanted a power of two"}},
      {"steps out of range",
       [](SmallPlan& p) { p.value(kI1).last_step = 3; },
       {"value 'i1' lives from step 2 to 3 of segment 0, which has 3 steps"}},
  };
  return cases;
}

const std::vector<PlanCase>& RoleCases() {
  static const std::vector<PlanCase> cases = {
      {"input written",
       [](SmallPlan& p) { p.f().segments[1].outputs.push_back(kX); },
       {"writes value 'x', which is the caller's input"}},
      {"written twice",
       [](SmallPlan& p) { p.f().segments[1].outputs.push_back(kH); },
       {"value 'h' is written by instruction 6", "and by instruction 9"}},
      {"output never written",
       [](SmallPlan& p) { p.f().segments[1].outputs.clear(); },
       {"output value 'y' is never written"}},
      {"copy dropped",
       [](SmallPlan& p) { Erase(p, 6); },
       {"value 'h' is read by instruction 8", "nothing writes it"}},
      {"launch dropped", [](SmallPlan& p) { Erase(p, 9); }, {"segment 1 is never launched"}},
      {"launched twice",
       [](SmallPlan& p) { p.f().code.push_back(p.f().code[9]); },
       {"segment 1 is launched by instructions 9 and 10"}},
  };
  return cases;
}

const std::vector<PlanCase>& TableCases() {
  static const std::vector<PlanCase> cases = {
      {"foreign domain",
       [](SmallPlan& p) { p.f().segments[1].inputs[0] = kDx; },
       {"segment 1 of device 'ref/cpu' uses value 'dx' in domain 'sim0', wanted a copy"}},
      {"synchronous on a stream",
       [](SmallPlan& p) { p.f().code[9].stream = 1; },
       {"which is synchronous: wanted stream 0"}},
      {"asynchronous on the host",
       [](SmallPlan& p) { p.f().code[3].stream = 0; },
       {"wanted one of that device's streams"}},
      {"unlike copy",
       [](SmallPlan& p) { p.value(kH).bytes = 192; },
       {"takes value 'a' of 256 bytes", "to value 'h' of 192 bytes"}},
      {"no link",
       [](SmallPlan& p) {
         p.f().code[0].stream = 0;
         p.f().code[0].engine = 0;
         p.f().code.erase(p.f().code.begin() + 1, p.f().code.begin() + 3);
       },
       {"which engine 'host' does not link"}},
      {"event counts down",
       [](SmallPlan& p) { p.f().code[7].event_value = 1; },
       {"the event is at 1 before"}},
      {"event of another stream",
       [](SmallPlan& p) { p.f().code[4].event = 0; },
       {"stream 2 signals that event already"}},
      {"the host signals",
       [](SmallPlan& p) { p.f().code[7].stream = 0; },
       {"the host cannot signal"}},
      {"value out of range", [](SmallPlan& p) { p.f().code[0].dst = 99; }, {"names value 99"}},
      {"segment out of range",
       [](SmallPlan& p) { p.f().code[9].segment = 7; },
       {"names segment 7, wanted below 2"}},
      {"stream out of range",
       [](SmallPlan& p) { p.f().code[9].stream = 7; },
       {"names stream 7, wanted below 3"}},
      {"too many streams",
       [](SmallPlan& p) { p.plan.devices[kSim].max_streams = 1; },
       {"device 'sim0/0' has more than its 1 streams"}},
      {"output of another kind",
       [](SmallPlan& p) { p.value(kY).kind = PlanValueKind::kTransient; },
       {"is value 'y', wanted an output"}},
      {"internal read outside",
       [](SmallPlan& p) { p.f().segments[0].inputs[0] = kI0; },
       {"segment 0 reads value 'i0', which is an internal value"}},
      {"sizes beyond 63 bits",
       [](SmallPlan& p) {
         p.value(kX).bytes = INT64_MAX;
         p.value(kY).bytes = INT64_MAX;
       },
       {"exceed 2^63 bytes"}},
  };
  return cases;
}

void ExpectRefusals(const std::vector<PlanCase>& cases) {
  for (const PlanCase& c : cases) {
    SmallPlan p = Base();
    c.edit(p);
    const Result<CheckReport> report = Check(p.plan);
    ASSERT_FALSE(report.ok()) << c.name;
    EXPECT_EQ(report.status().code(), Code::kInternal) << c.name;
    for (const std::string& part : c.says) {
      EXPECT_NE(report.status().message().find(part), std::string::npos)
          << c.name << ": '" << report.status().message() << "' lacks '" << part << "'";
    }
  }
}

TEST(Check, RefusesWrongTimes) { ExpectRefusals(TimeCases()); }
TEST(Check, RefusesWrongPlaces) { ExpectRefusals(PlaceCases()); }
TEST(Check, RefusesWrongRoles) { ExpectRefusals(RoleCases()); }
TEST(Check, RefusesWrongTables) { ExpectRefusals(TableCases()); }

TEST(Check, RefusesAnInstructionOfNoKnownKind) {
  SmallPlan p = Base();
  p.f().code[9].op = static_cast<PlanOp>(9);
  const Result<CheckReport> report = Check(p.plan);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), Code::kInternal);
  EXPECT_NE(report.status().message().find("instruction 9 (unknown kind 9) is no launch"),
            std::string::npos)
      << report.status().message();
}

// Streams could pass it, but devices count an event that nobody has signalled yet as reached.
TEST(Check, AStreamDoesNotWaitForASignalThatIsIssuedLater) {
  SmallPlan p = Base();
  std::swap(p.f().code[0], p.f().code[2]);
  std::swap(p.f().code[1], p.f().code[2]);
  const std::string text = Check(p.plan).status().message();
  EXPECT_NE(text.find("instruction 0 (wait of stream 1 for event"), std::string::npos) << text;
  EXPECT_NE(text.find("is issued before instruction 2 (signal"), std::string::npos) << text;
}

// The first instruction of a stream of which the host knows nothing at all.
TEST(Check, AFunctionDoesNotEndBeforeAStreamThatNobodyWaitsFor) {
  SmallPlan p;
  const auto x = p.Input("x", 256), dx = p.Value("dx", 256, 1), y = p.Output("y", 256);
  p.Copy(x, dx);
  p.Launch(kRef, {x}, {y});
  ASSERT_TRUE(AssignStreams(&p.plan).ok());
  ASSERT_TRUE(AssignMemory(&p.plan).ok());
  ASSERT_TRUE(Check(p.plan).ok()) << Check(p.plan).status().ToString();
  std::erase_if(p.f().code, [](const Instruction& i) {
    return i.op == PlanOp::kSignal || i.op == PlanOp::kWait;
  });
  const std::string text = Check(p.plan).status().message();
  EXPECT_NE(text.find("instruction 0 (copy on stream 1) may still run when the function ends"),
            std::string::npos)
      << text;
}

TEST(Check, AStateMayBeWrittenOnceAndIsKept) {
  SmallPlan p(0);
  const auto x = p.Input("x", 64), old = p.Value("s.old", 64, 0, PlanValueKind::kState),
             next = p.Value("s.next", 64, 0, PlanValueKind::kState), y = p.Output("y", 64);
  p.f().arenas = {{0, PlanArena::Use::kState, 128}};
  p.value(old).arena = p.value(next).arena = 0;
  p.value(next).offset = 64;
  p.Launch(kRef, {x, old}, {next});
  p.Launch(kRef, {next}, {y});
  EXPECT_TRUE(Check(p.plan).ok());
  p.value(next).offset = 0;  // over the content that the run started with
  const Result<CheckReport> report = Check(p.plan);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("value 's.old'"), std::string::npos);
}

TEST(Check, AWrittenStateKeepsItsPlaceAfterItsLastReader) {
  SmallPlan p(0);
  const auto x = p.Input("x", 64), a = p.Value("a.next", 64, 0, PlanValueKind::kState),
             y = p.Output("y", 64), b = p.Value("b.next", 64, 0, PlanValueKind::kState);
  p.f().arenas = {{0, PlanArena::Use::kState, 128}};
  p.value(a).arena = p.value(b).arena = 0;
  p.value(b).offset = 64;
  p.Launch(kRef, {x}, {a});
  p.Launch(kRef, {a}, {y});
  p.Launch(kRef, {x}, {b});
  EXPECT_TRUE(Check(p.plan).ok());
  p.value(b).offset = 0;
  EXPECT_NE(Check(p.plan).status().message().find("value 'a.next'"), std::string::npos);
}

TEST(Check, AStateThatNothingReadsKeepsItsPlace) {
  SmallPlan p(0);
  const auto x = p.Input("x", 64), old = p.Value("s.old", 64, 0, PlanValueKind::kState),
             next = p.Value("s.next", 64, 0, PlanValueKind::kState), y = p.Output("y", 64);
  p.f().arenas = {{0, PlanArena::Use::kState, 128}};
  p.value(old).arena = p.value(next).arena = 0;
  p.value(next).offset = 64;
  p.Launch(kRef, {x}, {next, y});
  EXPECT_TRUE(Check(p.plan).ok()) << Check(p.plan).status().ToString();
  p.value(next).offset = 0;
  EXPECT_NE(Check(p.plan).status().message().find("value 's.old'"), std::string::npos);
}

TEST(Check, SegmentsRunInTheOrderOfTheirEffects) {
  SmallPlan p = Base();
  p.f().segments[1].after = {0};  // launched by the last instruction
  EXPECT_TRUE(Check(p.plan).ok()) << Check(p.plan).status().ToString();
  const auto says = [&](std::vector<SegmentId> after, SegmentId of) {
    SmallPlan q = Base();
    q.f().segments[of].after = std::move(after);
    return Check(q.plan).status().message();
  };
  EXPECT_NE(says({1}, 0).find("must run after instruction 9"), std::string::npos) << says({1}, 0);
  for (SegmentId first : {1u, 2u}) {
    const std::string text = says({first}, 1);
    EXPECT_NE(text.find("segment 1 is to run after segment " + std::to_string(first) +
                        ", wanted another one below 2"),
              std::string::npos)
        << text;
  }
}

// x -> converted on the host into layout 1 -> y.
SmallPlan Conversion() {
  SmallPlan p(0);
  p.plan.layouts.resize(2);
  p.plan.layouts[1].kind = PlanLayout::Kind::kOpaque;
  p.plan.conversions = {{kRef, 0, 1, 0, 0, 0}};
  const auto x = p.Input("x", 64), t = p.Value("t", 64), y = p.Output("y", 64);
  const SegmentId s = p.Launch(kRef, {x}, {t});
  p.Launch(kRef, {t}, {y});
  p.f().segments[s].conversion = 0;
  p.value(t).layout = 1;
  EXPECT_TRUE(AssignMemory(&p.plan).ok());
  return p;
}

TEST(Check, ConversionsChangeTheLayoutsThatTheySay) {
  SmallPlan p = Conversion();
  EXPECT_TRUE(Check(p.plan).ok()) << Check(p.plan).status().ToString();
  p.value(2).layout = 0;
  EXPECT_NE(Check(p.plan).status().message().find("segment 0 is conversion 0"), std::string::npos);
  p = Conversion();
  p.f().segments[0].conversion = 1;
  EXPECT_NE(Check(p.plan).status().message().find("names conversion 1"), std::string::npos);
}

TEST(Check, RefusesAnEmptyPlan) { EXPECT_FALSE(Check(Plan{}).ok()); }

}  // namespace
}  // namespace ge

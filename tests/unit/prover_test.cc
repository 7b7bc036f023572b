// The prover against an oracle that judges by other means, on random plans and random edits.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "ge/memory/memory.h"
#include "ge/plan/check/check.h"
#include "streams/streams.h"
#include "tests/unit/plan_generator.h"
#include "tests/unit/plan_oracle.h"

namespace ge::test {
namespace {

GeneratorOptions OptionsFor(uint64_t seed) {
  GeneratorOptions o;
  o.async_devices = seed % 4 == 0 ? 0 : 1 + seed % 2;
  o.segments = 4 + static_cast<uint32_t>(seed * 7 % 30);
  o.streams_per_device = seed % 5 == 0 ? 1 : 2;
  o.chain_percent = seed % 3 * 30;
  return o;
}

Plan Planned(uint64_t seed, const MemoryOptions& memory = {}, uint32_t after_percent = 15) {
  GeneratorOptions options = OptionsFor(seed);
  options.after_percent = after_percent;
  Plan plan = RandomPlan(seed, options);
  EXPECT_TRUE(AssignStreams(&plan).ok());
  EXPECT_TRUE(AssignMemory(&plan, memory).ok());
  return plan;
}

bool UsesTwoStreams(const Plan& plan) {
  const PlanFunction& f = plan.functions[0];
  for (uint32_t s = 2; s < f.streams.size(); ++s) {
    if (f.streams[s].device == f.streams[s - 1].device) return true;
  }
  return false;
}

TEST(Prover, AcceptsWhatStreamsAndMemoryMake) {
  int two_streams = 0, aliased = 0, shared = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    for (int mode = 0; mode < 3; ++mode) {
      MemoryOptions memory;
      if (mode == 1) memory.gap_bytes = 128;
      if (mode == 2) memory.reuse = false;
      const Plan plan = Planned(seed, memory);
      const Result<CheckReport> report = Check(plan);
      ASSERT_TRUE(report.ok()) << "seed " << seed << ": " << report.status().ToString();
      const OracleVerdict verdict = Judge(plan);
      ASSERT_TRUE(verdict.safe()) << "seed " << seed << ": " << verdict.ToString();
      for (size_t d = 0; d < plan.domains.size(); ++d) {
        ASSERT_LE(report->max_live_bytes[d], report->arena_bytes[d]) << "seed " << seed;
      }
      if (mode != 0) continue;
      two_streams += UsesTwoStreams(plan);
      shared += report->proved_pairs > 0;
      for (const PlanValue& v : plan.functions[0].values) aliased += v.alias_of != 0;
    }
  }
  std::printf(
      "400 plans x 3 memory modes: %d with two streams on a device, %d that share places, "
      "%d values in place\n",
      two_streams, shared, aliased);
  EXPECT_GT(two_streams, 100);
  EXPECT_GT(shared, 300);
  EXPECT_GT(aliased, 100);
}

TEST(Prover, ArenasStayNearMaxLive) {
  double worst = 1, sum = 0;
  int n = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const Result<CheckReport> report = Check(Planned(seed, {}, 0));
    ASSERT_TRUE(report.ok());
    for (size_t d = 0; d < report->max_live_bytes.size(); ++d) {
      // Small arenas pay for alignment more than for packing.
      if (report->max_live_bytes[d] < 20000) continue;
      const double ratio = static_cast<double>(report->arena_bytes[d]) /
                           static_cast<double>(report->max_live_bytes[d]);
      worst = std::max(worst, ratio);
      sum += ratio;
      ++n;
    }
  }
  std::printf("arena / max-live over %d arenas: mean %.4f, worst %.4f\n", n, sum / n, worst);
  ASSERT_GT(n, 100);
  EXPECT_LE(sum / n, 1.02);
  EXPECT_LE(worst, 1.10);
}

TEST(Prover, MaxLiveIsTheHeaviestSet) {
  int several = 0;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    GeneratorOptions options = OptionsFor(seed);
    options.segments = 3 + static_cast<uint32_t>(seed % 8);
    Plan plan = RandomPlan(seed, options);
    ASSERT_TRUE(AssignStreams(&plan).ok());
    ASSERT_TRUE(AssignMemory(&plan).ok());
    const Result<CheckReport> report = Check(plan);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    several += plan.functions[0].streams.size() > 1;
    for (DomainId d = 0; d < plan.domains.size(); ++d) {
      ASSERT_EQ(report->max_live_bytes[d], HeaviestSet(plan, d)) << "seed " << seed;
    }
  }
  EXPECT_GT(several, 60);
}

// ---- random single edits ------------------------------------------------------------------

class Editor {
 public:
  explicit Editor(Random* random) : random_(*random) {}

  // Changes one thing of the plan; answers what, or nothing when the plan has no such thing.
  std::string Edit(Plan* plan) {
    f_ = &plan->functions[0];
    switch (random_.Below(20)) {
      case 0:
      case 1:
      case 2:
        return DropOne(PlanOp::kWait, "drop a wait");
      case 3:
        return DropOne(PlanOp::kSignal, "drop a signal");
      case 4:
        return DropOne(PlanOp::kCopy, "drop a copy");
      case 5:
        return DropOne(PlanOp::kLaunch, "drop a launch");
      case 6:
      case 7:
        return RandomOffset();
      case 8:
        return OffsetOfAnother();
      case 9:
        return ChangeStream();
      case 10:
      case 11:
        return Swap();
      case 12:
        return Move();
      case 13:
        return ShrinkArena();
      case 14:
        return AddAlias();
      case 15:
        return DropAlias();
      case 16:
        return EventValue();
      case 17:
        return Waiter();
      case 18:
        return Steps();
      default:
        return CopySource();
    }
  }

 private:
  uint32_t Below(size_t n) { return random_.Below(static_cast<uint32_t>(n)); }

  // A random instruction of a kind, or code.size().
  size_t Find(PlanOp op) {
    std::vector<size_t> found;
    for (size_t i = 0; i < f_->code.size(); ++i) {
      if (f_->code[i].op == op) found.push_back(i);
    }
    return found.empty() ? f_->code.size() : found[Below(found.size())];
  }

  PlanValueId PlacedValue() {
    std::vector<PlanValueId> found;
    for (PlanValueId v = 1; v < f_->values.size(); ++v) {
      if (f_->values[v].arena >= 0 && f_->values[v].bytes > 0) found.push_back(v);
    }
    return found.empty() ? 0 : found[Below(found.size())];
  }

  std::string DropOne(PlanOp op, const char* what) {
    const size_t i = Find(op);
    if (i == f_->code.size()) return "";
    f_->code.erase(f_->code.begin() + i);
    return what;
  }

  std::string RandomOffset() {
    const PlanValueId v = PlacedValue();
    if (!v) return "";
    PlanValue& value = f_->values[v];
    const int64_t bytes = f_->arenas[value.arena].bytes;
    // Now and then one that is misaligned or leaves the arena.
    if (random_.Chance(5)) {
      value.offset += 4;
    } else if (random_.Chance(5)) {
      value.offset = bytes;
    } else {
      const int64_t room = std::max<int64_t>(0, bytes - value.bytes) / value.align + 1;
      value.offset = Below(room) * value.align;
    }
    return "change an offset";
  }

  std::string OffsetOfAnother() {
    const PlanValueId v = PlacedValue(), w = PlacedValue();
    if (!v || f_->values[v].arena != f_->values[w].arena) return "";
    f_->values[v].offset = f_->values[w].offset;
    return "take another's offset";
  }

  std::string ChangeStream() {
    const size_t i = Below(f_->code.size());
    const uint32_t stream = Below(f_->streams.size());
    if (f_->code[i].stream == stream) return "";
    f_->code[i].stream = stream;
    return "change a stream";
  }

  std::string Swap() {
    if (f_->code.size() < 2) return "";
    const size_t i = Below(f_->code.size() - 1);
    const size_t j = random_.Chance(70) ? i + 1 : Below(f_->code.size());
    if (i == j) return "";
    std::swap(f_->code[i], f_->code[j]);
    return "swap instructions";
  }

  std::string Move() {
    const size_t i = Below(f_->code.size());
    Instruction in = f_->code[i];
    f_->code.erase(f_->code.begin() + i);
    const size_t to = Below(f_->code.size() + 1);
    f_->code.insert(f_->code.begin() + to, in);
    return i == to ? "" : "move an instruction";
  }

  std::string ShrinkArena() {
    if (f_->arenas.empty()) return "";
    PlanArena& a = f_->arenas[Below(f_->arenas.size())];
    if (a.bytes == 0) return "";
    a.bytes -= std::min<int64_t>(a.bytes, 1 + Below(200));
    return "shrink an arena";
  }

  std::string AddAlias() {
    const PlanValueId v = PlacedValue();
    if (!v || f_->values[v].alias_of) return "";
    const PlanSegment& s = f_->segments[Below(f_->segments.size())];
    PlanValueId on = PlacedValue(), over = v;
    if (random_.Chance(60) && !s.may_alias.empty()) {
      // One that is permitted: its order decides.
      const auto& [o, i] = s.may_alias[Below(s.may_alias.size())];
      over = s.outputs[o];
      on = s.inputs[i];
    }
    if (f_->values[over].alias_of == on) return "";
    f_->values[over].alias_of = on;
    f_->values[over].arena = f_->values[on].arena;
    f_->values[over].offset = f_->values[on].offset;
    return "add an alias";
  }

  std::string DropAlias() {
    const PlanValueId v = PlacedValue();
    if (!v || !f_->values[v].alias_of) return "";
    f_->values[v].alias_of = 0;
    return "drop an alias";
  }

  std::string EventValue() {
    const size_t i = Find(random_.Chance(70) ? PlanOp::kWait : PlanOp::kSignal);
    if (i == f_->code.size()) return "";
    uint64_t& value = f_->code[i].event_value;
    value = random_.Chance(50) ? value + 1 : value - 1;
    return "change an event value";
  }

  std::string Waiter() {
    const size_t i = Find(PlanOp::kWait);
    if (i == f_->code.size()) return "";
    Instruction& in = f_->code[i];
    if (random_.Chance(50)) {
      in.stream = Below(f_->streams.size());
    } else {
      in.event = Below(f_->events.size());
    }
    return "change a waiter or its event";
  }

  std::string Steps() {
    const PlanValueId v = PlacedValue();
    if (!v || f_->values[v].kind != PlanValueKind::kInternal) return "";
    PlanValue& value = f_->values[v];
    value.first_step = Below(f_->segments[value.segment].n_step);
    value.last_step = Below(f_->segments[value.segment].n_step + 1);
    return "change steps";
  }

  std::string CopySource() {
    const size_t i = Find(PlanOp::kCopy);
    const PlanValueId v = PlacedValue();
    if (i == f_->code.size() || !v || f_->code[i].src == v) return "";
    const PlanValue& was = f_->values[f_->code[i].src];
    if (f_->values[v].domain != was.domain || f_->values[v].bytes != was.bytes) return "";
    f_->code[i].src = v;
    return "change what is copied";
  }

  Random& random_;
  PlanFunction* f_ = nullptr;
};

// The message names both values of a race or overlap that the oracle found; for two uses of one
// value, both instructions.
bool NamesAPair(const std::string& message, const OracleVerdict& verdict) {
  const auto has = [&](const std::string& part) { return message.find(part) != std::string::npos; };
  for (const OracleFault& f : verdict.faults) {
    if (f.kind == OracleFault::Kind::kOrder &&
        has("instruction " + std::to_string(f.first) + " ") &&
        has("instruction " + std::to_string(f.second) + " ")) {
      return true;
    }
    if (f.kind != OracleFault::Kind::kRace && f.kind != OracleFault::Kind::kOverlap) continue;
    if (f.a != f.b && has("'" + f.a + "'") && has("'" + f.b + "'")) return true;
    if (f.a == f.b && has("'" + f.a + "'") && has("instruction " + std::to_string(f.first) + " ") &&
        has("instruction " + std::to_string(f.second) + " ")) {
      return true;
    }
  }
  return false;
}

TEST(Prover, RefusesExactlyTheEditsThatTheOracleRefuses) {
  constexpr int kEdits = 3000;
  Random random(20240611);
  Editor editor(&random);
  std::map<std::string, std::pair<int, int>> counts;  // by edit: accepted, refused
  int edits = 0, races = 0;
  for (uint64_t seed = 1; edits < kEdits; ++seed) {
    const Plan base = Planned(1 + seed % 200);
    for (int tries = 0; tries < 8; ++tries) {
      Plan plan = base;
      const std::string what = editor.Edit(&plan);
      if (what.empty()) continue;
      ++edits;
      const Result<CheckReport> report = Check(plan);
      const OracleVerdict verdict = Judge(plan);
      ++(report.ok() ? counts[what].first : counts[what].second);
      ASSERT_EQ(report.ok(), verdict.safe())
          << "plan " << 1 + seed % 200 << ", edit '" << what
          << "'\nprover: " << (report.ok() ? "accepts" : report.status().ToString())
          << "\noracle: " << verdict.ToString();
      const bool race_only = !verdict.safe() && !verdict.has(OracleFault::Kind::kStructure) &&
                             !verdict.has(OracleFault::Kind::kEarlyWait) &&
                             !verdict.has(OracleFault::Kind::kUnfinished);
      if (!race_only) continue;
      ++races;
      ASSERT_TRUE(NamesAPair(report.status().ToString(), verdict))
          << "plan " << 1 + seed % 200 << ", edit '" << what
          << "'\nprover: " << report.status().ToString() << "\noracle: " << verdict.ToString();
    }
  }
  int accepted = 0;
  for (const auto& [what, n] : counts) {
    std::printf("%-30s accepted %4d, refused %4d\n", what.c_str(), n.first, n.second);
    accepted += n.first;
  }
  std::printf("%d edits (seed 20240611): %d accepted, %d refused, of which %d races or overlaps\n",
              edits, accepted, edits - accepted, races);
  EXPECT_GT(accepted, kEdits / 10);
  EXPECT_GT(races, kEdits / 5);
}

}  // namespace
}  // namespace ge::test

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "plugins/device/sim/program_testing.h"

namespace ge_engines::device::sim {
namespace {

constexpr Schedule kAll[] = {Schedule::kEager, Schedule::kLazy, Schedule::kSeeded,
                             Schedule::kAdversarial, Schedule::kTimed};

// Runs a program and keeps what its places hold at the end.
class Runner {
 public:
  Runner(const Program& program, Schedule schedule, uint64_t seed)
      : program_(program), sim_(Options(program, schedule, seed)) {
    for (const int place : program.places) Make(place);
    for (const int device : program.stream_device) {
      streams_.emplace_back();
      EXPECT_EQ(sim_.StreamCreate(device, &streams_.back()), Code::kOk);
    }
    for (const int device : program.event_device) {
      events_.emplace_back();
      EXPECT_EQ(sim_.EventCreate(device, &events_.back()), Code::kOk);
    }
    for (const int place : program.places) {  // all bytes are written
      if (place >= Program::kPinned) continue;
      Stream& stream = streams_[place / 10];
      EXPECT_EQ(sim_.Fill(stream, at_[place], static_cast<uint8_t>(place), Program::kBytes),
                Code::kOk);
      EXPECT_EQ(sim_.StreamSynchronize(stream), Code::kOk);
    }
  }

  void Run(bool captured) {
    if (!captured) {
      for (const Op& op : program_.ops) Do(op);
      return;
    }
    Graph graph = Graph::kNone;
    EXPECT_EQ(sim_.CaptureBegin(streams_[0]), Code::kOk);
    for (const Op& op : program_.ops) Do(op);
    EXPECT_EQ(sim_.CaptureEnd(streams_[0], &graph), Code::kOk);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(sim_.GraphLaunch(graph, streams_[0]), Code::kOk);
    EXPECT_EQ(sim_.StreamSynchronize(streams_[0]), Code::kOk);
    EXPECT_EQ(sim_.GraphDestroy(graph), Code::kOk);
  }

  // The bytes of all places, once everything ran; and what Finish says of what is left.
  std::vector<unsigned char> End() {
    for (const Stream stream : streams_) EXPECT_EQ(sim_.StreamSynchronize(stream), Code::kOk);
    std::vector<unsigned char> bytes;
    for (const int place : program_.places)
      bytes.insert(bytes.end(), at_[place], at_[place] + Program::kBytes);
    for (const Stream stream : streams_) EXPECT_EQ(sim_.StreamDestroy(stream), Code::kOk);
    for (const Event event : events_) EXPECT_EQ(sim_.EventDestroy(event), Code::kOk);
    for (const auto& [place, at] : at_) {
      if (place < Program::kPinned) {
        EXPECT_EQ(sim_.Free(at), Code::kOk);
      }
      if (place >= Program::kPinned && place < Program::kPageable) {
        EXPECT_EQ(sim_.PinnedFree(at), Code::kOk);
      }
    }
    sim_.Finish();
    return bytes;
  }
  void DropTold(uint64_t k) {
    told_ = 0;
    told_ = told();
    sim_.DropTold(k);
  }
  // How often the host has waited since.
  uint64_t told() const {
    return sim_.calls(Call::kStreamSynchronize) + sim_.calls(Call::kEventSynchronize) - told_;
  }
  std::vector<Report> reports() const { return sim_.reports(); }
  std::vector<std::string> order() const { return sim_.order(); }

 private:
  static SimulatorOptions Options(const Program& program, Schedule schedule, uint64_t seed) {
    SimulatorOptions options;
    options.schedule = schedule;
    options.seed = seed;
    options.devices.resize(program.event_device.back() + 1);
    // For journal_oracle.py: few of them are many lines, but fewer hold too few of some accesses.
    const char* const journal = std::getenv("GE_SIM_JOURNAL");
    if (journal != nullptr && seed < 200) options.journal = journal;
    return options;
  }

  void Make(int place) {
    void* block = nullptr;
    if (place >= Program::kPageable) {
      pageable_.push_back(std::make_unique<unsigned char[]>(Program::kBytes));
      block = pageable_.back().get();
    } else if (place >= Program::kPinned) {
      EXPECT_EQ(sim_.PinnedAlloc(Program::kBytes, &block), Code::kOk);
    } else {
      EXPECT_EQ(sim_.Alloc(place / 10, Program::kBytes, &block), Code::kOk);
    }
    at_[place] = static_cast<unsigned char*>(block);
    if (place >= Program::kPinned) std::memset(block, place, Program::kBytes);
  }

  // What an op writes depends on itself and on every byte it reads.
  void Compute(const Op& op) {
    uint64_t hash = std::hash<std::string>()(op.name);
    for (const Span& span : op.reads)
      for (size_t i = span.begin; i < span.end; ++i)
        hash = hash * 1099511628211u + at_[span.place][i];
    for (const Span& span : op.writes)
      for (size_t i = span.begin; i < span.end; ++i)
        at_[span.place][i] = static_cast<unsigned char>((hash >> 24) + 31 * i);
  }

  Range Of(const Span& span) { return {at_[span.place] + span.begin, span.end - span.begin}; }

  void DoKernel(const Op& op) {
    Kernel kernel;
    kernel.name = op.name;
    for (const Span& span : op.reads) kernel.reads.push_back(Of(span));
    for (const Span& span : op.writes) kernel.writes.push_back(Of(span));
    kernel.cost_ns = 3000;
    kernel.body = [this, &op] {
      Compute(op);
      return true;
    };
    EXPECT_EQ(sim_.Launch(streams_[op.stream], kernel), Code::kOk);
  }

  void DoCopy(const Op& op) {
    const Range from = Of(op.reads[0]), to = Of(op.writes[0]);
    EXPECT_EQ(
        sim_.Copy(streams_[op.stream], const_cast<void*>(to.data), from.data, to.bytes, op.name),
        Code::kOk);
  }

  void Do(const Op& op) {
    switch (op.kind) {
      case Op::kKernel:
        return DoKernel(op);
      case Op::kCopy:
        return DoCopy(op);
      case Op::kRecord:
        EXPECT_EQ(sim_.EventRecord(events_[op.event], streams_[op.stream]), Code::kOk);
        return;
      case Op::kWait:
        EXPECT_EQ(sim_.StreamWait(streams_[op.stream], events_[op.event]), Code::kOk);
        return;
      case Op::kHostWait:
        EXPECT_EQ(sim_.EventSynchronize(events_[op.event]), Code::kOk);
        return;
      case Op::kStreamSync:
        EXPECT_EQ(sim_.StreamSynchronize(streams_[op.stream]), Code::kOk);
        return;
      case Op::kHostRead:
        sim_.HostRead(Of(op.reads[0]).data, Of(op.reads[0]).bytes, op.name);
        return;
      case Op::kHostWrite:
        sim_.HostWrite(Of(op.writes[0]).data, Of(op.writes[0]).bytes, op.name);
        Compute(op);
        return;
    }
  }

  const Program& program_;
  Simulator sim_;
  std::map<int, unsigned char*> at_;
  std::vector<std::unique_ptr<unsigned char[]>> pageable_;
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  uint64_t told_ = 0;
};

std::string Name(const std::string& actor) {
  const size_t begin = actor.find('\'') + 1;
  return actor.substr(begin, actor.find('\'', begin) - begin);
}

std::set<std::pair<std::string, std::string>> RacesOf(const Runner& runner, uint64_t seed) {
  std::set<std::pair<std::string, std::string>> races;
  for (const Report& report : runner.reports()) {
    EXPECT_EQ(report.fault, Fault::kRace) << seed << ": " << report.text();
    races.insert({Name(report.first), Name(report.second)});
  }
  return races;
}

Shape ShapeOf(uint64_t seed) {
  Shape shape;
  shape.devices = seed % 3 == 0 ? 2 : 1;
  shape.host = seed % 4 != 1;
  if (!shape.host) shape.devices = 1;
  shape.works = 6 + static_cast<int>(seed % 14);
  return shape;
}

// 2,000 programs: nothing is reported, and all schedules give the bytes of the order of the calls.
TEST(Programs, SoundOnesGiveTheSameBytesInAllSchedules) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Program program = Generator(seed, ShapeOf(seed)).Make();
    ASSERT_TRUE(Truth(program).Races().empty()) << seed;
    const bool captured = !ShapeOf(seed).host;
    std::optional<std::vector<unsigned char>> bytes;
    for (const Schedule schedule : kAll) {
      Runner runner(program, schedule, seed);
      runner.Run(captured);
      const auto end = runner.End();
      if (!bytes) bytes = end;
      ASSERT_EQ(end, *bytes) << seed << " " << static_cast<int>(schedule);
      const auto reports = runner.reports();
      ASSERT_TRUE(reports.empty()) << seed << ": " << reports[0].text();
    }
  }
}

// Each wait of them dropped: reported if, and only if, something that meets is in no order now;
// what is reported is such a pair, and each schedule reports the same.
TEST(Programs, ADroppedWaitIsFoundUnlessOtherEdgesOrderTheSame) {
  size_t dropped = 0, unsafe = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Program whole = Generator(seed, ShapeOf(seed)).Make();
    const bool captured = !ShapeOf(seed).host;
    for (size_t i = 0; i < whole.ops.size(); ++i) {
      if (!whole.ops[i].waits()) continue;
      if (captured && (i < whole.stream_device.size() ||
                       i + 2 * whole.stream_device.size() >= whole.ops.size()))
        continue;  // the fork, or the join
      Program program = whole;
      program.ops.erase(program.ops.begin() + static_cast<ptrdiff_t>(i));
      const auto truth = Truth(program).Races();
      ++dropped;
      unsafe += truth.empty() ? 0 : 1;
      std::optional<std::set<std::pair<std::string, std::string>>> first;
      for (const Schedule schedule : {kAll[i % 5], kAll[(i + 1) % 5]}) {
        Runner runner(program, schedule, seed + i);
        runner.Run(captured);
        runner.End();
        const auto races = RacesOf(runner, seed);
        ASSERT_EQ(races.empty(), truth.empty()) << seed << " without op " << i;
        for (const auto& race : races)
          ASSERT_TRUE(truth.count(race)) << seed << ": " << race.first << " " << race.second;
        if (!first) first = races;
        ASSERT_EQ(races, *first) << seed << " without op " << i;
      }
    }
  }
  std::printf("%zu waits dropped, %zu of them unsafe\n", dropped, unsafe);
  EXPECT_GT(unsafe, 5000u);
  EXPECT_GT(dropped, unsafe);
}

// A wait of the host that is none: what ends too early, or is written too early, is found.
TEST(Programs, AWaitOfTheHostThatIsNoneIsFound) {
  size_t freed = 0, raced = 0, silent = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Program program = Generator(seed, ShapeOf(seed)).Make();
    for (uint64_t k = 1;; ++k) {
      Runner runner(program, kAll[k % 5], seed);
      runner.DropTold(k);
      runner.Run(!ShapeOf(seed).host);
      runner.End();
      if (runner.told() < k) break;
      bool in_flight = false, race = false;
      for (const Report& report : runner.reports()) {
        in_flight = in_flight || report.fault == Fault::kFreeInFlight;
        race = race || report.fault == Fault::kRace;
        ASSERT_TRUE(report.fault == Fault::kFreeInFlight || report.fault == Fault::kRace ||
                    report.fault == Fault::kDestroyInFlight)
            << seed << ": " << report.text();
      }
      freed += in_flight ? 1 : 0;
      raced += race ? 1 : 0;
      silent += !in_flight && !race ? 1 : 0;
    }
  }
  EXPECT_GT(freed, 100u);
  std::printf("%zu freed in flight, %zu raced, %zu silent\n", freed, raced, silent);
}

TEST(Programs, TheSameSeedGivesTheSameOrder) {
  size_t different = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Program program = Generator(seed, ShapeOf(seed)).Make();
    const bool captured = !ShapeOf(seed).host;
    Runner one(program, Schedule::kSeeded, 7), same(program, Schedule::kSeeded, 7),
        other(program, Schedule::kSeeded, 8);
    for (Runner* const runner : {&one, &same, &other}) {
      runner->Run(captured);
      runner->End();
    }
    EXPECT_EQ(one.order(), same.order());
    different += one.order() != other.order() ? 1 : 0;
  }
  EXPECT_GT(different, 50u);
}

}  // namespace
}  // namespace ge_engines::device::sim

// Level 6: what an engine costs beside its work. Times are reported; verdicts are about what can be
// counted: allocations, threads, log lines, how work grows with the graph.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "sdk/conform/case.h"
#include "sdk/conform/counted_memory.h"
#include "sdk/conform/counted_threads.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"
#include "sdk/conform/timing.h"

namespace ge::conform {
namespace {

using Clock = std::chrono::steady_clock;

size_t Threads() {
  std::error_code ec;
  size_t n = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ec)) {
    (void)task;
    ++n;
  }
  return n;
}

// Every offer of a sample compiled; `each` gets exec by exec. Empty, or what went wrong.
template <class Each>
std::string ForOffers(Rig& rig, const Sample& sample, const Each& each) {
  const mock::Answer answer = rig.engine().Query(sample.graph);
  Values values;
  std::string why;
  if (!RunRef(rig.ref(), sample.graph, sample.inputs, &values, &why)) return why;
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    if (answer.offers[i].converts()) continue;
    const auto exec = mock::Compiler(rig.engine(), sample.graph, answer)
                          .Compile(mock::MakeSegment(sample.graph, answer, {{i, 0}}));
    if (exec->rc != GE_OK) return "compile: " + exec->error;
    why = each(answer, *exec, values);
    if (!why.empty()) return why;
  }
  return "";
}

std::string OpsOf(const Sample& sample, const mock::Answer& answer, const mock::Exec& exec) {
  std::string out;
  for (const mock::Taken& t : exec.segment.taken) {
    for (uint32_t n : answer.offers[t.offer].nodes) {
      out += (out.empty() ? "" : "+") + sample.graph.nodes[n].op;
    }
  }
  return out;
}

Outcome Allocations(Subject& s, int shape) {
  if (!IsCounting()) return Unsupported("a sanitizer counts allocations in this build");
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = SampleOf(static_cast<Shape>(shape));
  int done = 0;
  uint64_t library = 0;
  const std::string why = ForOffers(
      rig, sample, [&](const mock::Answer& answer, const mock::Exec& exec, const Values& values) {
        Timed timed;
        std::string fault;
        if (!Time(rig, sample, answer, exec, values, &timed, &fault)) return fault;
        ++done;
        library = std::max(library, timed.library);
        if (timed.own == 0) return std::string();
        return fmt::format("enqueue of {} allocates {} times a launch", OpsOf(sample, answer, exec),
                           timed.own);
      });
  if (!why.empty()) return rig.Judged(Fail(why));
  return done == 0 ? rig.Judged(Unsupported("it offers none of these nodes"))
                   : rig.Judged(Pass(fmt::format("{} execs; libraries that they call allocate up "
                                                 "to {} times a launch",
                                                 done, library)));
}

Outcome EnqueueNs(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = OneAdd({4});
  double ns = -1;
  const std::string why = ForOffers(
      rig, sample, [&](const mock::Answer& answer, const mock::Exec& exec, const Values& values) {
        Timed timed;
        std::string fault;
        if (Time(rig, sample, answer, exec, values, &timed, &fault)) {
          ns = ns < 0 ? timed.ns : std::min(ns, timed.ns);
        }
        return fault;
      });
  if (!why.empty()) return rig.Judged(Fail(why));
  if (ns < 0) return rig.Judged(Unsupported("it declines Add"));
  return rig.Judged(Pass(fmt::format("a launch of Add of 4 elements takes {:.0f} ns", ns)));
}

Outcome CompileMs(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  std::string text;
  for (const Shape shape : {Shape::kChain, Shape::kConvNet, Shape::kAttention}) {
    const Sample sample = SampleOf(shape);
    const auto begin = Clock::now();
    int n = 0;
    const std::string why =
        ForOffers(rig, sample, [&](const mock::Answer&, const mock::Exec&, const Values&) {
          ++n;
          return std::string();
        });
    if (!why.empty()) return rig.Judged(Fail(why));
    text += fmt::format("{}{} offers of {} in {:.1f} ms", text.empty() ? "" : ", ", n, sample.name,
                        MsSince(begin));
  }
  return rig.Judged(Pass(text));
}

Outcome LoadMs(Subject& s, int) {
  const auto begin = Clock::now();
  std::string why;
  if (s.Ask(&why) == nullptr) return Fail(why);
  const double load = MsSince(begin);
  const auto create = Clock::now();
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  return rig.Judged(
      Pass(fmt::format("loaded in {:.1f} ms, an engine in {:.1f} ms", load, MsSince(create))));
}

Outcome QueryUs(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  std::string text;
  for (const Shape shape : {Shape::kChain, Shape::kConvNet, Shape::kAttention}) {
    const Sample sample = SampleOf(shape);
    double best = 1e300;
    for (int i = 0; i < 20; ++i) {
      const auto begin = Clock::now();
      (void)rig.engine().Query(sample.graph);
      best = std::min(best, MsSince(begin) * 1000);
    }
    text += fmt::format("{}{} nodes in {:.0f} us", text.empty() ? "" : ", ",
                        sample.graph.nodes.size(), best);
  }
  return rig.Judged(Pass(text + ", the mock host's own part included"));
}

// Work that grows with the square of the graph's size is found by what it allocates.
constexpr int kShort = 40, kTimes = 8;
constexpr uint64_t kMostGrowth = 3 * kTimes;

Outcome QueryGrows(Subject& s, int) {
  if (!IsCounting()) return Unsupported("a sanitizer counts allocations in this build");
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  uint64_t count[2] = {};
  for (int k = 0; k < 2; ++k) {
    const Sample sample = Chain(k == 0 ? kShort : kShort * kTimes);
    (void)rig.engine().Query(sample.graph);
    mock::Answer answer;
    const mock::View view(sample.graph, mock::Style(), nullptr, "the graph view of query");
    mock::Sink sink(sample.graph, 1, &answer);
    ge_sink table = sink.table();
    table.h = GE_HDR(ge_sink, GE_TAG_SINK);
    mock::CallScope scope(rig.host(), "query");
    const uint64_t before = AllocationsHere();
    (void)rig.engine().api().query(rig.engine().handle(), view.get(), &table, nullptr);
    count[k] = AllocationsHere() - before;
    scope.Returned();
  }
  const std::string text = fmt::format("query of {} nodes allocates {} times, of {} nodes {} times",
                                       kShort, count[0], kShort * kTimes, count[1]);
  return count[1] <= kMostGrowth * std::max<uint64_t>(count[0], kShort) ? rig.Judged(Pass(text))
                                                                        : Fail(text);
}

Outcome CompileGrows(Subject& s, int) {
  if (!IsCounting()) return Unsupported("a sanitizer counts allocations in this build");
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  uint64_t count[2] = {};
  for (int k = 0; k < 2; ++k) {
    const int nodes = k == 0 ? kShort / 4 : kShort / 4 * kTimes;
    const Sample sample = Chain(nodes);
    const mock::Answer answer = rig.engine().Query(sample.graph);
    std::vector<mock::Segment> segments;
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      if (answer.offers[i].converts() || answer.offers[i].nodes.size() != 1) continue;
      segments.push_back(mock::MakeSegment(sample.graph, answer, {{i, 0}}));
    }
    if (segments.empty()) return rig.Judged(Unsupported("it offers neither Add nor Mul"));
    const uint64_t before = AllocationsHere();
    const auto execs = mock::Compiler(rig.engine(), sample.graph, answer).Compile(segments);
    count[k] = AllocationsHere() - before;
  }
  const std::string text = fmt::format(
      "compile of {} segments allocates {} times, of {} segments {} times, the mock "
      "host's part included",
      kShort / 4, count[0], kShort / 4 * kTimes, count[1]);
  // The mock host's own view of the graph grows linearly, too.
  return count[1] <= kMostGrowth * count[0] ? rig.Judged(Pass(text)) : Fail(text);
}

// With one compute thread a synchronous engine needs no other, not for the length of a call either.
Outcome OwnThreads(Subject& s, int) {
  const size_t before = Threads();
  const uint64_t made_before = ThreadsMade();  // the mock host makes none for one thread
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  for (const Shape shape : {Shape::kConvNet, Shape::kAttention, Shape::kChain}) {
    const Sample sample = SampleOf(shape);
    const std::string why = ForOffers(
        rig, sample, [&](const mock::Answer& answer, const mock::Exec& exec, const Values& values) {
          Values copy = values;
          std::string fault;
          RunSegment(rig.engine(), sample.graph, answer, exec, &copy, &fault);
          return fault;
        });
    if (!why.empty()) return rig.Judged(Fail(why));
  }
  const size_t after = Threads();
  const uint64_t made = ThreadsMade() - made_before;
  const std::string text =
      fmt::format("{} threads before, {} after, {} made between", before, after, made);
  if ((after > before || made != 0) && !rig.is_async()) {
    return Fail("it makes threads of its own for compute; use the host's parallel_for: " + text);
  }
  return rig.Judged(Pass(text));
}

Outcome LogsInEnqueue(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = SampleOf(Shape::kBranches);
  uint64_t lines = 0, launches = 0;
  const std::string why = ForOffers(
      rig, sample, [&](const mock::Answer& answer, const mock::Exec& exec, const Values& values) {
        std::string fault;
        for (int i = 0; i < 4; ++i) {
          Values copy = values;
          const uint64_t before = rig.host().logged();
          if (!RunSegment(rig.engine(), sample.graph, answer, exec, &copy, &fault)) return fault;
          if (i > 0) {
            lines += rig.host().logged() - before;
            ++launches;
          }
        }
        return fault;
      });
  if (!why.empty()) return rig.Judged(Fail(why));
  if (launches == 0) return rig.Judged(Unsupported("it offers none of these nodes"));
  return lines == 0 ? rig.Judged(Pass())
                    : Fail(fmt::format("enqueue logs {} lines in {} launches that go well", lines,
                                       launches));
}

// What the process holds after everything was given back, beyond what it held before.
Outcome HeldAfterwards(Subject& s, int) {
  if (!IsCounting()) return Unsupported("a sanitizer counts allocations in this build");
  int64_t held[2] = {};
  std::string why;
  for (int round = 0; round < 12; ++round) {
    if (round == 4) held[0] = LiveBytes();
    Rig rig(s);
    if (!rig.ready()) return rig.outcome();
    const Sample sample = SampleOf(Shape::kPerceptron);
    why = ForOffers(rig, sample,
                    [](const mock::Answer&, const mock::Exec&, const Values&) { return ""; });
    if (!why.empty()) return rig.Judged(Fail(why));
  }
  held[1] = LiveBytes();
  // The mock host's tables stay, by contract: some hundred bytes each.
  const int64_t grown = (held[1] - held[0]) / 8;
  const std::string text = fmt::format("{} bytes stay after each engine and its execs", grown);
  return grown < 16 << 10 ? Pass(text) : Fail("engine_destroy: " + text);
}

}  // namespace

std::vector<Case> OverheadCases() {
  std::vector<Case> cases;
  for (const Shape shape : {Shape::kChain, Shape::kPerceptron, Shape::kConvNet, Shape::kAttention,
                            Shape::kReductions, Shape::kMoves}) {
    cases.push_back({6, std::string("allocations-") + NameOf(shape), Allocations,
                     static_cast<int>(shape), true});
  }
  const std::vector<Case> more = {
      {6, "enqueue-ns", EnqueueNs, 0, true},  {6, "compile-ms", CompileMs, 0, true},
      {6, "load-ms", LoadMs, 0, true},        {6, "query-us", QueryUs, 0, true},
      {6, "query-grows", QueryGrows},         {6, "compile-grows", CompileGrows},
      {6, "own-threads", OwnThreads},         {6, "logs-in-enqueue", LogsInEnqueue},
      {6, "held-afterwards", HeldAfterwards},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace ge::conform

// Level 4, its memory half: what launches may touch, what they may depend on, threads, leaks.
#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "sdk/conform/case.h"
#include "sdk/conform/counted_memory.h"
#include "sdk/conform/execute.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

using mock::Answer;

constexpr Shape kAll[] = {Shape::kChain,     Shape::kPerceptron, Shape::kConvNet,
                          Shape::kAttention, Shape::kReductions, Shape::kMoves,
                          Shape::kIntegers,  Shape::kQuantized,  Shape::kEmpty,
                          Shape::kScalars,   Shape::kBranches};

// What cases of this level do with one compiled offer of a sample. Empty, or what is wrong.
struct Item {
  Rig& rig;
  const Sample& sample;
  const Answer& answer;
  const mock::Exec& exec;
  const Values& values;  // of the whole graph, by ref
};
using Check = std::string (*)(const Item& item, int* done);

// All offers of all samples, one exec each; `done` counts what was really tried.
Outcome ForEachExec(Subject& s, Check check, const RigOptions& options = RigOptions()) {
  Rig rig(s, options);
  if (!rig.ready()) return rig.outcome();
  int done = 0;
  for (const Shape shape : kAll) {
    const Sample sample = SampleOf(shape);
    const Answer answer = rig.engine().Query(sample.graph);
    Values values;
    std::string why;
    if (!RunRef(rig.ref(), sample.graph, sample.inputs, &values, &why)) return Fail(why);
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      if (answer.offers[i].converts()) continue;
      const auto exec = mock::Compiler(rig.engine(), sample.graph, answer)
                            .Compile(mock::MakeSegment(sample.graph, answer, {{i, 0}}));
      if (exec->rc != GE_OK) return Fail("compile: " + exec->error);
      why = check({rig, sample, answer, *exec, values}, &done);
      if (!why.empty()) return rig.Judged(Fail(fmt::format("{}: {}", sample.name, why)));
    }
    const Outcome judged = rig.Judged(Pass());
    if (IsBad(judged.verdict)) return {judged.verdict, sample.name + ": " + judged.reason};
  }
  if (done == 0) return rig.Judged(Unsupported("none of its execs is of that kind"));
  return rig.Closed(Pass(fmt::format("{} execs", done)));
}

// The outputs' bytes of one launch; false with *why. With `reversed` each input of floats holds its
// elements backwards: other numbers, as legal as the first ones.
bool Outputs(const Item& item, const mock::LaunchOptions& options,
             std::vector<std::vector<unsigned char>>* out, std::string* why,
             bool reversed = false) {
  mock::Launch launch(item.exec, options);
  for (uint32_t i = 0; i < item.exec.segment.in.size(); ++i) {
    const mock::Border& b = item.exec.segment.in[i];
    std::vector<unsigned char> bytes;
    Tensor given = item.values.at(b.value);
    if (reversed && given.dtype == GE_F32) {
      std::reverse(given.as<float>(), given.as<float>() + given.count());
    }
    if (!ToLayout(item.rig.engine(), item.sample.graph, item.answer, b.value, b.layout, given,
                  &bytes, why)) {
      return false;
    }
    launch.SetInput(i, std::move(bytes));
  }
  const ge_rc rc = launch.Run();
  if (rc != GE_OK) return *why = "enqueue: " + launch.error(), false;
  out->clear();
  for (uint32_t i = 0; i < item.exec.segment.out.size(); ++i) {
    const mock::Border& b = item.exec.segment.out[i];
    Tensor plain;  // without the layout's padding, which holds no promise
    if (!FromLayout(item.rig.engine(), item.sample.graph, item.answer, b.value, b.layout,
                    launch.Output(i), &plain, why)) {
      return false;
    }
    out->push_back(std::move(plain.bytes));
  }
  return true;
}

// Empty, or that two kinds of launches of one exec give other bits.
std::string Compare(const Item& item, const mock::LaunchOptions& a, const mock::LaunchOptions& b,
                    const char* what) {
  std::vector<std::vector<unsigned char>> first, second;
  std::string why;
  if (!Outputs(item, a, &first, &why) || !Outputs(item, b, &second, &why)) return why;
  return first == second ? "" : fmt::format("enqueue: {}", what);
}

std::string RedZones(const Item& item, int* done) {
  std::vector<std::vector<unsigned char>> out;
  std::string why;
  ++*done;
  return Outputs(item, {}, &out, &why) ? "" : why;  // the host complains of what was written
}

std::string Garbage(const Item& item, int* done) {
  ++*done;
  for (const unsigned char garbage : {0x00, 0x7F, 0xC2}) {
    mock::LaunchOptions other;
    other.garbage = garbage;
    const std::string why =
        Compare(item, {}, other,
                "results depend on what outputs, internal values or the workspace held before");
    if (!why.empty()) return why;
  }
  return "";
}

std::string Overlaid(const Item& item, int* done) {
  if (item.exec.internals.size() < 2) return "";
  ++*done;
  mock::LaunchOptions overlay;
  overlay.overlay = true;
  return Compare(item, {}, overlay,
                 "results change when internal values share places as their steps and aliases "
                 "allow");
}

std::string Aliased(const Item& item, int* done) {
  for (size_t k = 0; k < item.exec.aliases.size(); ++k) {
    const auto [out, in] = item.exec.aliases[k];
    const mock::Border& from = item.exec.segment.in[in];
    const mock::Type& type = item.sample.graph.values[from.value].type;
    if (mock::BytesIn(item.exec.layouts, from.layout, type) != item.exec.out_bytes[out]) {
      return fmt::format("compile: output {} may lie on input {}, but they differ in size", out,
                         in);
    }
    ++*done;
    mock::LaunchOptions on;
    on.alias = static_cast<int>(k);
    const std::string why =
        Compare(item, {}, on, "results change when an output lies on an input as it allowed");
    if (!why.empty()) return why;
  }
  return "";
}

std::string Repeated(const Item& item, int* done) {
  ++*done;
  std::vector<std::vector<unsigned char>> first, again;
  std::string why;
  if (!Outputs(item, {}, &first, &why)) return why;
  for (int round = 0; round < 5; ++round) {
    mock::LaunchOptions options;
    options.launch_id = static_cast<uint64_t>(round);
    if (!Outputs(item, options, &again, &why)) return why;
    if (again != first) return fmt::format("enqueue: launch {} gives other bits", round + 2);
  }
  return "";
}

// Eight launches at once, each with buffers of its own, of one exec unless that is serial. Every
// second one is of other numbers: what two launches share by mistake shows.
std::string AtOnce(const Item& item, int* done) {
  constexpr int kThreads = 8, kRounds = 4;
  if ((item.exec.flags & GE_COMPILED_SERIAL) != 0) return "";
  ++*done;
  std::vector<std::vector<unsigned char>> wanted[2];
  std::string why;
  for (const int k : {0, 1}) {
    if (!Outputs(item, {}, &wanted[k], &why, k != 0)) return why;
  }
  std::vector<std::string> faults(kThreads);
  std::vector<std::jthread> threads;
  std::atomic<int> waiting{kThreads};
  const auto launch = [&](int t) {
    --waiting;
    while (waiting > 0) std::this_thread::yield();
    std::vector<std::vector<unsigned char>> out;
    for (int round = 0; round < kRounds && faults[t].empty(); ++round) {
      if (!Outputs(item, {}, &out, &faults[t], t % 2 != 0)) return;
      if (out != wanted[t % 2]) {
        faults[t] = "enqueue: eight threads at once: a launch gives other bits than alone";
      }
    }
  };
  try {
    for (int t = 0; t < kThreads; ++t) threads.emplace_back(launch, t);
  } catch (const std::system_error&) {
    waiting = 0;  // those that there are go on alone
    why = fmt::format("no thread for launch {} of eight at once", threads.size() + 1);
  }
  for (std::jthread& t : threads) t.join();
  for (const std::string& fault : faults) {
    if (!fault.empty()) return fault;
  }
  return why;
}

template <Check check>
Outcome Each(Subject& s, int) {
  return ForEachExec(s, check);
}
template <Check check>
Outcome EachWithTwoThreads(Subject& s, int) {
  RigOptions options;
  options.facts.threads = 2;
  options.facts.fork_ns = 5000;
  return ForEachExec(s, check, options);
}

// What fill leaves alone may hold anything.
Outcome PackPadding(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  int done = 0;
  for (const Shape shape : {Shape::kPerceptron, Shape::kConvNet, Shape::kAttention}) {
    const Sample sample = SampleOf(shape);
    const Answer answer = rig.engine().Query(sample.graph);
    Values values;
    std::string why;
    if (!RunRef(rig.ref(), sample.graph, sample.inputs, &values, &why)) return Fail(why);
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      if (answer.offers[i].converts()) continue;
      std::vector<std::vector<unsigned char>> out[2];
      for (int k = 0; k < 2; ++k) {
        mock::Compiler compiler(rig.engine(), sample.graph, answer);
        compiler.pack_garbage = k == 0 ? 0x00 : 0xFF;
        const auto exec = compiler.Compile(mock::MakeSegment(sample.graph, answer, {{i, 0}}));
        if (exec->rc != GE_OK) return Fail("compile: " + exec->error);
        if (exec->packs.empty()) break;
        if (!Outputs({rig, sample, answer, *exec, values}, {}, &out[k], &why)) return Fail(why);
        done += k;
      }
      if (out[0] != out[1]) {
        return Fail(sample.name + ": results depend on bytes of a pack that fill does not write");
      }
    }
  }
  return done == 0 ? rig.Judged(Unsupported("it asks for no packs"))
                   : rig.Closed(Pass(fmt::format("{} execs with packs", done)));
}

// Padding of blocked layouts may hold anything.
Outcome LayoutPadding(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  int done = 0;
  const Sample sample = SampleOf(Shape::kConvNet);
  const Answer answer = rig.engine().Query(sample.graph);
  Values values;
  std::string why;
  if (!RunRef(rig.ref(), sample.graph, sample.inputs, &values, &why)) return Fail(why);
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    const mock::Offer& o = answer.offers[i];
    for (uint32_t c = 0; c < o.choices.size(); ++c) {
      const auto exec = mock::Compiler(rig.engine(), sample.graph, answer)
                            .Compile(mock::MakeSegment(sample.graph, answer, {{i, c}}));
      if (exec->rc != GE_OK) return Fail("compile: " + exec->error);
      const auto& in = exec->segment.in;
      if (std::all_of(in.begin(), in.end(), [](const auto& b) { return b.layout == 0; })) continue;
      std::vector<std::vector<unsigned char>> out[2];
      for (int k = 0; k < 2; ++k) {
        SetPadding(k == 0 ? 0x00 : 0x3C);
        if (!Outputs({rig, sample, answer, *exec, values}, {}, &out[k], &why)) return Fail(why);
      }
      if (out[0] != out[1]) return Fail("results depend on the padding of a blocked input");
      ++done;
    }
  }
  return done == 0 ? rig.Judged(Unsupported("it reads plain tensors alone"))
                   : rig.Closed(Pass(fmt::format("{} choices", done)));
}

// Views of earlier calls are gone while later ones go on; execs outlive what they were made from.
Outcome KeepsNoPointers(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  std::string why;
  int done = 0;
  for (const Shape shape : kAll) {
    const Sample sample = SampleOf(shape);
    const Answer answer = rig.engine().Query(sample.graph);
    (void)rig.engine().Query(SampleOf(Shape::kMoves).graph);
    Values values;
    if (!RunRef(rig.ref(), sample.graph, sample.inputs, &values, &why)) return Fail(why);
    std::vector<std::unique_ptr<mock::Exec>> execs;
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      if (answer.offers[i].converts()) continue;
      execs.push_back(mock::Compiler(rig.engine(), sample.graph, answer)
                          .Compile(mock::MakeSegment(sample.graph, answer, {{i, 0}})));
      if (execs.back()->rc != GE_OK) return Fail("compile: " + execs.back()->error);
    }
    (void)rig.engine().Query(OneAdd({7}).graph);
    for (int round = 0; round < 2; ++round) {
      for (const auto& exec : execs) {
        std::vector<std::vector<unsigned char>> out;
        if (!Outputs({rig, sample, answer, *exec, values}, {}, &out, &why)) return Fail(why);
        ++done;
      }
    }
  }
  return done == 0 ? rig.Judged(Unsupported("it offers none of these nodes"))
                   : rig.Closed(Pass(fmt::format("{} launches", done)));
}

// ---- leaks --------------------------------------------------------------------------------------

enum Leaking { kQueryLeaks, kCompileLeaks, kLaunchLeaks, kFrameLeaks };

std::string OneRound(Rig& rig, const Sample& sample, const Answer& answer, mock::Exec* kept,
                     int what) {
  std::string why;
  if (what == kQueryLeaks) {
    const Answer again = rig.engine().Query(sample.graph);
    return again.rc == GE_OK ? "" : "query: " + again.error;
  }
  if (what == kCompileLeaks) {
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      if (answer.offers[i].converts()) continue;
      const auto exec = mock::Compiler(rig.engine(), sample.graph, answer)
                            .Compile(mock::MakeSegment(sample.graph, answer, {{i, 0}}));
      if (exec->rc != GE_OK) return "compile: " + exec->error;
    }
    return "";
  }
  Values values = Given(sample.graph, sample.inputs);
  if (what == kFrameLeaks) {
    const mock::Launch frame(*kept);  // makes a frame, or streams and events, and gives them back
    return "";
  }
  return RunSegment(rig.engine(), sample.graph, answer, *kept, &values, &why) ? "" : why;
}

Outcome Leaks(Subject& s, int what) {
  constexpr int kWarm = 30, kRounds = 200;
  if (!IsCounting()) return Unsupported("a sanitizer counts allocations in this build");
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  static constexpr const char* kNames[] = {"query", "compile and exec_destroy", "enqueue",
                                           "frame_create and frame_destroy"};
  int done = 0;
  for (const Shape shape : {Shape::kChain, Shape::kPerceptron, Shape::kBranches}) {
    const Sample sample = SampleOf(shape);
    const Answer answer = rig.engine().Query(sample.graph);
    uint32_t first = 0;
    while (first < answer.offers.size() && answer.offers[first].nodes != std::vector<uint32_t>{0}) {
      ++first;
    }
    if (first == answer.offers.size()) continue;
    const auto kept = mock::Compiler(rig.engine(), sample.graph, answer)
                          .Compile(mock::MakeSegment(sample.graph, answer, {{first, 0}}));
    if (kept->rc != GE_OK) return Fail("compile: " + kept->error);
    int64_t before = 0;
    for (int round = 0; round < kWarm + kRounds; ++round) {
      if (round == kWarm) before = LiveBytes();
      const std::string why = OneRound(rig, sample, answer, kept.get(), what);
      if (!why.empty()) return rig.Judged(Fail(why));
    }
    const int64_t grown = LiveBytes() - before;
    if (grown >= kRounds * 8) {
      return Fail(fmt::format("{}: {} leaks {} bytes a round ({} in {} rounds)", sample.name,
                              kNames[what], grown / kRounds, grown, kRounds));
    }
    ++done;
  }
  return done == 0 ? rig.Judged(Unsupported("it offers none of these nodes")) : rig.Closed(Pass());
}

}  // namespace

std::vector<Case> MemoryCases() {
  return {
      {4, "red-zones", Each<RedZones>},
      {4, "red-zones-two-threads", EachWithTwoThreads<RedZones>},
      {4, "garbage", Each<Garbage>},
      {4, "internal-overlays", Each<Overlaid>},
      {4, "output-on-input", Each<Aliased>},
      {4, "repeated-launches", Each<Repeated>},
      {4, "eight-threads", Each<AtOnce>},
      {4, "eight-threads-of-two", EachWithTwoThreads<AtOnce>},
      {4, "pack-padding", PackPadding},
      {4, "layout-padding", LayoutPadding},
      {4, "keeps-no-pointers", KeepsNoPointers},
      {4, "leaks-query", Leaks, kQueryLeaks},
      {4, "leaks-compile", Leaks, kCompileLeaks},
      {4, "leaks-enqueue", Leaks, kLaunchLeaks},
      {4, "leaks-frame", Leaks, kFrameLeaks},
  };
}

}  // namespace ge::conform

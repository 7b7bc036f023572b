// Level 7: when things go wrong. The word that stops a launch, what must be refused, memory that is
// not there, texts of errors; and whether the engine is of use afterwards.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "sdk/conform/case.h"
#include "sdk/conform/counted_memory.h"
#include "sdk/conform/execute.h"
#include "sdk/conform/oracle.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

using mock::Answer;

// An Add that has to come out right: the engine is still of use. Empty, or what is wrong with it.
std::string StillWorks(Rig& rig) {
  const Sample sample = OneAdd({33});
  const Answer answer = rig.engine().Query(sample.graph);
  if (answer.rc != GE_OK) return "query fails afterwards: " + answer.error;
  const auto offers = OffersOf(answer, {0});
  if (offers.empty()) return "";
  Values values = Given(sample.graph, sample.inputs);
  std::string why;
  if (!RunGroup(rig.engine(), sample.graph, answer, {{offers[0], 0}}, &values, &why)) {
    return "afterwards: " + why;
  }
  Oracle oracle(rig.ref(), sample, kLoose);
  if (!oracle.Prepare(&why)) return why;
  why = oracle.Differs(sample.graph.out[0], values.at(sample.graph.out[0]));
  return why.empty() ? "" : "Add afterwards: " + why;
}

Outcome Ended(Rig& rig, Outcome outcome) {
  const std::string why = IsBad(outcome.verdict) ? "" : StillWorks(rig);
  return why.empty() ? rig.Closed(std::move(outcome)) : rig.Judged(Fail(why));
}

// ---- stop
// -------------------------------------------------------------------------------------------

// Empty where a launch that was told to stop said so, or was complete. *cancelled counts the first.
std::string StoppedLaunch(Rig& rig, const Sample& sample, const Answer& answer, uint32_t offer,
                          Oracle* oracle, const uint32_t* stop, int* cancelled) {
  const auto exec = mock::Compiler(rig.engine(), sample.graph, answer)
                        .Compile(mock::MakeSegment(sample.graph, answer, {{offer, 0}}));
  if (exec->rc != GE_OK) return "compile: " + exec->error;
  mock::LaunchOptions options;
  options.stop = stop;
  mock::Launch launch(*exec, options);
  const auto& in = exec->segment.in;
  std::string why;
  for (uint32_t i = 0; i < in.size(); ++i) {
    std::vector<unsigned char> bytes;
    const Tensor& t = oracle->values().at(in[i].value);
    if (!ToLayout(rig.engine(), sample.graph, answer, in[i].value, in[i].layout, t, &bytes, &why)) {
      return why;
    }
    launch.SetInput(i, std::move(bytes));
  }
  const ge_rc rc = launch.Run();
  if (rc == GE_CANCELLED) return ++*cancelled, "";
  if (rc != GE_OK) {
    return fmt::format(
        "enqueue answers code {} when it is told to stop, wanted GE_CANCELLED or a "
        "whole result: {}",
        rc, launch.error());
  }
  for (uint32_t i = 0; i < exec->segment.out.size(); ++i) {
    const mock::Border& b = exec->segment.out[i];
    Tensor out;
    if (!FromLayout(rig.engine(), sample.graph, answer, b.value, b.layout, launch.Output(i), &out,
                    &why)) {
      return why;
    }
    why = oracle->Differs(b.value, out);
    if (!why.empty()) {
      return "enqueue: told to stop, it answers GE_OK, but the result is not whole: " + why;
    }
  }
  return "";
}

Outcome StopBefore(Subject& s, int shape) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = SampleOf(static_cast<Shape>(shape));
  const Answer answer = rig.engine().Query(sample.graph);
  Oracle oracle(rig.ref(), sample, kLoose);
  std::string why;
  if (!oracle.Prepare(&why)) return Fail(why);
  const uint32_t stop = 1;
  int done = 0, cancelled = 0;
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    if (answer.offers[i].converts()) continue;
    why = StoppedLaunch(rig, sample, answer, i, &oracle, &stop, &cancelled);
    if (!why.empty()) return rig.Judged(Fail(why));
    ++done;
  }
  if (done == 0) return rig.Judged(Unsupported("it offers none of these nodes"));
  return Ended(rig, Pass(fmt::format("{} of {} launches were cancelled", cancelled, done)));
}

// The word is set from another thread while a launch of some milliseconds goes on.
Outcome StopDuring(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  Net n(71);
  n.Out(n.MatMul(n.In({192, 256}), n.Const(GE_F32, {256, 192}, -0.1, 0.1)));
  const Sample product = n.Take("product");
  const Sample add = OneAdd({1 << 18});
  int done = 0, cancelled = 0;
  for (const Sample* sample : {&product, &add}) {
    const Answer answer = rig.engine().Query(sample->graph);
    Oracle oracle(rig.ref(), *sample, kLoose);
    std::string why;
    if (!oracle.Prepare(&why)) return Fail(why);
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      if (answer.offers[i].converts()) continue;
      std::atomic<uint32_t> stop{0};
      std::jthread other([&stop] {
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        stop = 1;
      });
      why = StoppedLaunch(rig, *sample, answer, i, &oracle,
                          reinterpret_cast<const uint32_t*>(&stop), &cancelled);
      other.join();
      if (!why.empty()) return rig.Judged(Fail(why));
      ++done;
    }
  }
  if (done == 0) return rig.Judged(Unsupported("it declines Add and MatMul"));
  return Ended(rig, Pass(fmt::format("{} of {} launches were cancelled", cancelled, done)));
}

Outcome StopInCompile(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = SampleOf(Shape::kPerceptron);
  const Sample chain = Chain(4);
  const uint32_t stop = 1;
  int done = 0, cancelled = 0;
  for (const Sample* one : {&sample, &chain}) {
    const Answer answer = rig.engine().Query(one->graph);
    std::vector<mock::Segment> segments;
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      if (answer.offers[i].converts()) continue;
      segments.push_back(mock::MakeSegment(one->graph, answer, {{i, 0}}));
    }
    if (segments.empty()) continue;
    const auto execs = mock::Compiler(rig.engine(), one->graph, answer).Compile(segments, &stop);
    for (const auto& x : execs) {
      if (x->rc != GE_OK && x->rc != GE_CANCELLED) {
        return Fail(
            fmt::format("compile answers code {} when it is told to stop, wanted "
                        "GE_CANCELLED or an exec: {}",
                        x->rc, x->error));
      }
      ++done;
      cancelled += x->rc == GE_CANCELLED;
    }
  }
  if (done == 0) return rig.Judged(Unsupported("it offers none of these nodes"));
  return Ended(rig, Pass(fmt::format("{} of {} segments were cancelled", cancelled, done)));
}

// ---- what must be refused
// ---------------------------------------------------------------------------

// Nodes that query declined, put into a segment all the same.
Outcome DeclinedNode(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  Net n(72);
  const uint32_t x = n.In({4, 4});
  const uint32_t y = n.graph.Op1("Frobnicate", {x}, {GE_F32, {4, 4}});
  n.Out(n.Binary("Add", y, x));
  const Sample sample = n.Take("odd");
  Answer answer = rig.engine().Query(sample.graph);
  if (!OffersOf(answer, {0}).empty()) return Fail("query: an unknown operator is offered");
  mock::Offer bad;
  bad.nodes = {0};
  answer.offers.push_back(bad);
  const auto last = static_cast<uint32_t>(answer.offers.size() - 1);
  auto exec = mock::Compiler(rig.engine(), sample.graph, answer)
                  .Compile(mock::MakeSegment(sample.graph, answer, {{last, 0}}));
  if (exec->rc == GE_OK) return Fail("compile: a node that query declined is compiled");
  const std::string text = exec->error.substr(0, 150);
  exec.reset();
  if (text.empty()) return Fail("compile: a declined node is refused without a word");
  return Ended(rig, Pass(text));
}

// One bad segment among good ones: the others have succeeded.
Outcome OneBadSegment(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  Net n(73);
  const uint32_t x = n.In({4, 4});
  const uint32_t y = n.graph.Op1("Frobnicate", {x}, {GE_F32, {4, 4}});
  n.Out(n.Binary("Add", y, x));
  n.Out(n.Binary("Mul", x, x));
  const Sample sample = n.Take("odd");
  Answer answer = rig.engine().Query(sample.graph);
  const auto add = OffersOf(answer, {1}), mul = OffersOf(answer, {2});
  if (add.empty() || mul.empty()) return rig.Judged(Unsupported("it declines Add or Mul"));
  mock::Offer bad;
  bad.nodes = {0};
  answer.offers.push_back(bad);
  std::vector<mock::Segment> segments;
  for (uint32_t i : {add[0], static_cast<uint32_t>(answer.offers.size() - 1), mul[0]}) {
    segments.push_back(mock::MakeSegment(sample.graph, answer, {{i, 0}}));
  }
  auto execs = mock::Compiler(rig.engine(), sample.graph, answer).Compile(segments);
  if (execs[1]->rc == GE_OK) return Fail("compile: a node that query declined is compiled");
  if (execs[0]->rc != GE_OK || execs[2]->rc != GE_OK) {
    return Fail("compile: good segments fail beside a bad one; each has a code of its own");
  }
  const std::string text = execs[1]->error.substr(0, 150);
  execs.clear();
  return Ended(rig, Pass(text));
}

// Refusals say why, within bounds; the host complains of the rest.
Outcome ErrorTexts(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  mock::Style must;
  must.extended = mock::kAllTags;
  must.must_understand = true;
  rig.host().style = must;
  const Answer answer = rig.engine().Query(OneAdd({3}).graph);
  rig.host().style = mock::Style();
  if (answer.rc == GE_OK) return Fail("query goes on although an extension must be understood");
  if (answer.error.empty())
    return Fail(fmt::format("query fails with code {} and says nothing", answer.rc));
  for (char c : answer.error) {
    if (static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t') {
      return Fail("query: the text of its error has control characters");
    }
  }
  return Ended(rig, Pass(answer.error.substr(0, 150)));
}

// ---- no memory
// ----------------------------------------------------------------------------------------

enum Starved { kCreate, kQuery, kCompile, kEnqueue };

// The n-th allocation of the plugin's own code in one call fails, for each n until the call needs
// no more; once undisturbed first. Counts what failed.
template <class CallOnce>
void Starve(const CallOnce& call, int* failed) {
  constexpr uint64_t kMost = 400;
  (void)call();
  for (uint64_t n = 1; n <= kMost; ++n) {
    FailAllocation(n);
    const ge_rc rc = call();
    if (FailAllocation(0) < n) return;
    if (rc != GE_OK) ++*failed;
  }
}

ge_rc CreateOnce(Rig& rig, const ge_plugin_desc& desc) {
  ge_create_args args = {};
  args.h = GE_HDR(ge_create_args, GE_TAG_CREATE_ARGS);
  args.host = rig.host().api();
  args.options = plugin::Str(rig.subject().setup().options);
  ge_engine* e = nullptr;
  mock::CallScope scope(rig.host(), "engine_create");
  const ge_rc rc = desc.engine_create(&args, &e, nullptr);
  if (rc == GE_OK && desc.engine_destroy != nullptr) desc.engine_destroy(e);
  scope.Returned();
  return rc;
}

ge_rc QueryOnce(Rig& rig, const mock::View& view) {
  ge_sink sink = {};
  sink.h = GE_HDR(ge_sink, GE_TAG_SINK);
  sink.offer = [](void*, const ge_offer*) -> ge_rc { return GE_OK; };
  sink.decline = [](void*, const ge_decline*) -> ge_rc { return GE_OK; };
  sink.layout = [](void*, const ge_layout*, uint32_t* id) -> ge_rc { return *id = 0, GE_OK; };
  mock::CallScope scope(rig.host(), "query");
  const ge_rc rc = rig.engine().api().query(rig.engine().handle(), view.get(), &sink, nullptr);
  scope.Returned();
  return rc;
}

void StarveEnqueue(Rig& rig, const mock::Exec& exec, int* failed) {
  mock::Launch launch(exec);
  launch.Begin();
  std::unique_ptr<mock::Stream> stream;
  if (rig.engine().devices()[exec.segment.device].async()) {
    stream = std::make_unique<mock::Stream>(rig.engine(), exec.segment.device);
  }
  mock::Arena arena("the launch record");
  const ge_launch* record = launch.Record(stream.get(), &arena);
  const auto once = [&] {
    mock::CallScope scope(rig.host(), "enqueue");
    const ge_rc rc = rig.engine().api().enqueue(exec.handle, record, nullptr);
    scope.Returned();
    return rc;
  };
  Starve(once, failed);
}

// Each offer of a sample, compiled or launched under want. Empty, or why it cannot be tried.
std::string StarveOffers(Rig& rig, const Sample& sample, int what, int* failed) {
  const Answer answer = rig.engine().Query(sample.graph);
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    if (answer.offers[i].converts()) continue;
    const mock::Segment segment = mock::MakeSegment(sample.graph, answer, {{i, 0}});
    const auto once = [&] {
      return mock::Compiler(rig.engine(), sample.graph, answer).Compile(segment)->rc;
    };
    if (what == kCompile) {
      Starve(once, failed);
      continue;
    }
    const auto exec = mock::Compiler(rig.engine(), sample.graph, answer).Compile(segment);
    if (exec->rc != GE_OK) return "compile: " + exec->error;
    StarveEnqueue(rig, *exec, failed);
  }
  return "";
}

Outcome OutOfMemory(Subject& s, int what) {
  if (!IsCounting()) return Unsupported("a sanitizer counts allocations in this build");
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  int failed = 0;
  std::string why;
  const ge_plugin_desc* desc = s.Descriptor(rig.host(), &why);
  for (const Sample& sample : {SampleOf(Shape::kBranches), Chain(3)}) {
    const auto payloads =
        std::make_shared<const mock::Constants>(sample.graph, std::vector<uint32_t>());
    const mock::View view(sample.graph, mock::Style(), payloads, "the graph view of query");
    if (what == kCreate) {
      Starve([&] { return CreateOnce(rig, *desc); }, &failed);
    } else if (what == kQuery) {
      Starve([&] { return QueryOnce(rig, view); }, &failed);
    } else {
      why = StarveOffers(rig, sample, what, &failed);
    }
    if (!why.empty()) return rig.Judged(Fail(why));
    const Outcome judged = rig.Judged(Pass());
    if (IsBad(judged.verdict)) return judged;
  }
  return Ended(rig, Pass(fmt::format("{} calls failed in order", failed)));
}

// A block that no machine has.
Outcome HugeBlock(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  if (rig.engine().api().mem_alloc == nullptr) return rig.Judged(Unsupported("mem_alloc is NULL"));
  for (const uint64_t bytes : {uint64_t{1} << 60, ~uint64_t{0}, ~uint64_t{0} - 4095}) {
    ge_mem* mem = nullptr;
    void* address = nullptr;
    mock::Error err(rig.host());
    ge_rc rc = GE_OK;
    {
      mock::CallScope scope(rig.host(), "mem_alloc");
      rc = rig.engine().api().mem_alloc(rig.engine().handle(), 0, 0, bytes, 64, &mem, &address,
                                        err.get());
      scope.Returned();
    }
    if (rc == GE_OK) return Fail(fmt::format("mem_alloc gives a block of {} bytes", bytes));
    if (err.Text("mem_alloc", rc).empty()) return Fail("mem_alloc fails and says nothing");
  }
  return Ended(rig, Pass());
}

// ---- lifetimes
// ------------------------------------------------------------------------------------------

// Execs are destroyed in any order, used or not; the others go on.
Outcome DestroyOrder(Subject& s, int order) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  int done = 0;
  for (const Shape shape : {Shape::kBranches, Shape::kChain, Shape::kPerceptron}) {
    const Sample sample = SampleOf(shape);
    const Answer answer = rig.engine().Query(sample.graph);
    Oracle oracle(rig.ref(), sample, kLoose);
    std::string why;
    if (!oracle.Prepare(&why)) return Fail(why);
    std::vector<std::unique_ptr<mock::Exec>> execs;
    for (uint32_t i = 0; i < answer.offers.size(); ++i) {
      if (answer.offers[i].converts()) continue;
      execs.push_back(mock::Compiler(rig.engine(), sample.graph, answer)
                          .Compile(mock::MakeSegment(sample.graph, answer, {{i, 0}})));
      if (execs.back()->rc != GE_OK) return Fail("compile: " + execs.back()->error);
    }
    while (!execs.empty()) {
      const size_t at = order == 0 ? 0 : order == 1 ? execs.size() - 1 : execs.size() / 2;
      execs.erase(execs.begin() + static_cast<std::ptrdiff_t>(at));
      for (const auto& x : execs) {
        Values values = oracle.values();
        if (!RunSegment(rig.engine(), sample.graph, answer, *x, &values, &why)) return Fail(why);
        for (const mock::Border& b : x->segment.out) {
          why = oracle.Differs(b.value, values.at(b.value));
          if (!why.empty()) return Fail("after exec_destroy of another exec: " + why);
        }
        ++done;
      }
    }
  }
  if (done == 0) return rig.Judged(Unsupported("it offers too few of these nodes"));
  return Ended(rig, Pass(fmt::format("{} launches", done)));
}

// The same failing call again and again, then a good one.
Outcome UsableAfterwards(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  mock::Style must;
  must.extended = mock::TagBit(GE_TAG_GRAPH);
  must.must_understand = true;
  for (int i = 0; i < 50; ++i) {
    rig.host().style = must;
    (void)rig.engine().Query(Chain(2).graph);
    rig.host().style = mock::Style();
    if (i % 10 != 9) continue;
    const std::string why = StillWorks(rig);
    if (!why.empty()) return Fail(fmt::format("after {} refused queries: {}", i + 1, why));
  }
  return Ended(rig, Pass());
}

}  // namespace

std::vector<Case> FaultCases() {
  return {
      {7, "stop-before-chain", StopBefore, static_cast<int>(Shape::kChain)},
      {7, "stop-before-perceptron", StopBefore, static_cast<int>(Shape::kPerceptron)},
      {7, "stop-before-convnet", StopBefore, static_cast<int>(Shape::kConvNet)},
      {7, "stop-before-moves", StopBefore, static_cast<int>(Shape::kMoves)},
      {7, "stop-during", StopDuring},
      {7, "stop-in-compile", StopInCompile},
      {7, "declined-node", DeclinedNode},
      {7, "one-bad-segment", OneBadSegment},
      {7, "error-texts", ErrorTexts},
      {7, "no-memory-create", OutOfMemory, kCreate},
      {7, "no-memory-query", OutOfMemory, kQuery},
      {7, "no-memory-compile", OutOfMemory, kCompile},
      {7, "no-memory-enqueue", OutOfMemory, kEnqueue},
      {7, "huge-block", HugeBlock},
      {7, "destroy-first-first", DestroyOrder, 0},
      {7, "destroy-last-first", DestroyOrder, 1},
      {7, "destroy-middle-first", DestroyOrder, 2},
      {7, "usable-afterwards", UsableAfterwards},
  };
}

}  // namespace ge::conform

// Level 4, its other half: memory of the device's own, streams and events. For engines whose
// devices are asynchronous; others have nothing to be judged by here.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "sdk/conform/case.h"
#include "sdk/conform/execute.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

using mock::Event;
using mock::Stream;

// So long a producer works where a consumer that does not wait would be noticed; no bound of time
// is judged by it. The host calls the signal of a value before any wait for it, so that work alone
// makes producers late.
constexpr auto kLate = std::chrono::milliseconds(20);

// An engine with an asynchronous device, and its device's index.
struct Async {
  explicit Async(Subject& s) : rig(s) {
    if (!rig.ready()) {
      outcome = rig.outcome();
      return;
    }
    for (uint32_t d = 0; d < rig.engine().devices().size(); ++d) {
      if (!rig.engine().devices()[d].async()) continue;
      device = d;
      ready = true;
      return;
    }
    outcome = rig.Judged(Unsupported("no device of it is asynchronous"));
  }
  mock::Engine& e() { return rig.engine(); }
  Rig rig;
  bool ready = false;
  uint32_t device = 0;
  Outcome outcome;
};

// One Add on the device: x + b.
constexpr int64_t kElements = 1025;
class Adder {
 public:
  Adder(Async& a, std::string* why, int64_t elements = kElements) : sample_(OneAdd({elements})) {
    answer_ = a.e().Query(sample_.graph);
    const auto offers = OffersOf(answer_, {0});
    if (offers.empty()) {
      *why = "it declines Add";
      return;
    }
    exec_ = mock::Compiler(a.e(), sample_.graph, answer_)
                .Compile(mock::MakeSegment(sample_.graph, answer_, {{offers[0], 0}}));
    if (exec_->rc != GE_OK) *why = "compile: " + exec_->error;
    if (exec_->rc == GE_OK && (exec_->segment.in.size() != 2)) *why = "it adds something else";
  }
  const mock::Exec& exec() const { return *exec_; }
  const Sample& sample() const { return sample_; }
  // Empty, or where `out` is not the sum of these.
  static std::string SumFault(const std::vector<unsigned char>& x,
                              const std::vector<unsigned char>& y,
                              const std::vector<unsigned char>& out) {
    const auto* a = reinterpret_cast<const float*>(x.data());
    const auto* b = reinterpret_cast<const float*>(y.data());
    const auto* c = reinterpret_cast<const float*>(out.data());
    for (size_t i = 0; i < out.size() / sizeof(float); ++i) {
      if (a[i] + b[i] == c[i]) continue;
      return fmt::format("element {} is {}, wanted {}", i, c[i], a[i] + b[i]);
    }
    return "";
  }

 private:
  Sample sample_;
  mock::Answer answer_;
  std::unique_ptr<mock::Exec> exec_;
};

bool HasCopy(Async& a) { return a.e().api().copy != nullptr; }

// A launch whose buffers the case places itself.
struct Work {
  Work(Async& a, const mock::Exec& x, int64_t elements = kElements)
      : x_(x),
        a_(a),
        elements_(elements),
        in{{a.e(), a.device, bytes(), 64, "an input"}, {a.e(), a.device, bytes(), 64, "an input"}},
        out(a.e(), a.device, bytes(), 64, "an output") {}
  uint64_t bytes() const { return static_cast<uint64_t>(elements_) * sizeof(float); }
  // `first`: reads its first operand there instead of in in[0].
  ge_rc Enqueue(Stream& stream, std::string* why, const mock::Place* first = nullptr) {
    mock::Arena arena("the launch record");
    const int64_t dims[1] = {elements_};
    ge_buf bufs[3] = {(first != nullptr ? *first : in[0]).Buf(), in[1].Buf(), out.Buf()};
    for (ge_buf& b : bufs) {
      b.dims = arena.Copy(dims, 1);
      b.rank = 1;
      b.dtype = GE_F32;
    }
    ge_launch l = {};
    l.stream = stream.get();
    l.in = arena.Copy(bufs, 2);
    l.n_in = 2;
    l.out = arena.Copy(bufs + 2, 1);
    l.n_out = 1;
    const ge_launch* given = arena.Struct(mock::Style(), l, GE_TAG_LAUNCH);
    mock::Error err(a_.rig.host());
    ge_rc rc = GE_OK;
    {
      mock::CallScope scope(a_.rig.host(), "enqueue");
      rc = a_.e().api().enqueue(x_.handle, given, err.get());
      scope.Returned();
    }
    *why = "enqueue: " + err.Text("enqueue", rc);
    return rc;
  }
  // Copies on a stream from host memory, which must stay. The engine has a copy.
  ge_rc CopyIn(Stream& stream, int which, std::vector<unsigned char>& from, std::string* why) {
    return Copy(stream, from.data(), in[which].Buf(), true, why);
  }
  ge_rc CopyOut(Stream& stream, std::vector<unsigned char>& to, std::string* why) {
    return Copy(stream, to.data(), out.Buf(), false, why);
  }

 private:
  ge_rc Copy(Stream& stream, void* host, ge_buf there, bool to_device, std::string* why) {
    ge_buf here = {};
    here.ptr = host;
    here.bytes = there.bytes;
    ge_copy copy = {};
    copy.stream = stream.get();
    copy.src = to_device ? here : there;
    copy.dst = to_device ? there : here;
    mock::Arena arena("the record of a copy");
    const ge_copy* given = arena.Struct(mock::Style(), copy, GE_TAG_COPY);
    mock::Error err(a_.rig.host());
    ge_rc rc = GE_OK;
    {
      mock::CallScope scope(a_.rig.host(), "copy");
      rc = a_.e().api().copy(a_.e().handle(), given, err.get());
      scope.Returned();
    }
    *why = "copy: " + err.Text("copy", rc);
    return rc;
  }
  const mock::Exec& x_;
  Async& a_;
  const int64_t elements_;

 public:
  mock::Place in[2], out;
};

std::vector<unsigned char> Floats(uint64_t seed) {
  return Random(seed).Numbers(GE_F32, {kElements}, -1, 1).bytes;
}

// So many additions of large tensors that a stream is busy with them for kLate or longer: as many
// as that took when they were timed, and at most 4,096.
class Late {
 public:
  Late(Async& a, std::string* why) : adder_(a, why, kLarge) {
    if (!why->empty()) return;
    work_ = std::make_unique<Work>(a, adder_.exec(), kLarge);
    work_->in[0].Fill(0);
    work_->in[1].Fill(0);
    Stream stream(a.e(), a.device);
    Event done(a.e(), a.device);
    for (uint64_t round = 1; why->empty(); ++round) {
      const auto begin = std::chrono::steady_clock::now();
      if (!Queue(stream, why)) return;
      if (stream.Signal(done, round) != GE_OK) *why = "stream_signal: " + stream.error();
      if (why->empty() && done.Wait(round, UINT64_MAX, why) != GE_OK) *why = "event_wait: " + *why;
      if (launches_ >= 4096 || std::chrono::steady_clock::now() - begin >= kLate) return;
      launches_ *= 2;
    }
  }
  bool Queue(Stream& stream, std::string* why) {
    for (int i = 0; i < launches_; ++i) {
      if (work_->Enqueue(stream, why) != GE_OK) return false;
    }
    why->clear();
    return true;
  }

 private:
  static constexpr int64_t kLarge = 1 << 20;
  Adder adder_;
  std::unique_ptr<Work> work_;
  int launches_ = 1;
};

// What most cases need: an Add, and the work that makes others late.
struct Scene {
  explicit Scene(Async& a) : adder(a, &why), late(a, &why) {}
  bool ready() const { return why.empty(); }
  std::string why;
  Adder adder;
  Late late;
};

// ---- events -----------------------------------------------------------------------------------

Outcome EventBegins(Subject& s, int) {
  Async a(s);
  if (!a.ready) return a.outcome;
  Event event(a.e(), a.device);
  if (!event.ok()) return Fail("event_create failed");
  if (event.Wait(0, 0) != GE_OK) return Fail("event_wait: a new event is not at 0");
  Stream stream(a.e(), a.device);
  if (stream.Wait(event, 0) != GE_OK) return Fail("stream_wait: " + stream.error());
  if (stream.Signal(event, 1) != GE_OK) return Fail("stream_signal: " + stream.error());
  if (event.Wait(1, UINT64_MAX) != GE_OK) return Fail("event_wait fails for what was signalled");
  return a.rig.Judged(Pass());
}

// A host that asks while work goes on is told so, at once or after its timeout.
Outcome EventPends(Subject& s, int timeout_ns) {
  Async a(s);
  if (!a.ready) return a.outcome;
  Scene scene(a);
  std::string why = scene.why;
  if (!why.empty()) return a.rig.Judged(Unsupported(why));
  Stream stream(a.e(), a.device);
  Event event(a.e(), a.device);
  constexpr uint64_t kRounds = 8;  // of a busy machine in which one of them is over too soon
  bool pending = false;
  for (uint64_t round = 1; round <= kRounds && !pending; ++round) {
    if (!scene.late.Queue(stream, &why)) return Fail(why);
    if (stream.Signal(event, round) != GE_OK) return Fail("stream_signal: " + stream.error());
    const ge_rc rc = event.Wait(round, static_cast<uint64_t>(timeout_ns), &why);
    pending = rc == GE_PENDING;
    if (rc != GE_OK && !pending) return Fail("event_wait: " + why);
    if (event.Wait(round, UINT64_MAX, &why) != GE_OK) return Fail("event_wait: " + why);
  }
  if (pending) return a.rig.Judged(Pass());
  return Fail(
      fmt::format("event_wait with a timeout of {} ns never answers GE_PENDING behind work of 20 "
                  "ms, {} times: it waits longer, or a signal does not wait for the work before it",
                  timeout_ns, kRounds));
}

Outcome EventCounts(Subject& s, int) {
  Async a(s);
  if (!a.ready) return a.outcome;
  Event event(a.e(), a.device);
  Stream stream(a.e(), a.device);
  if (!stream.ok()) return Fail("stream_create: " + stream.error());
  for (const uint64_t value : {1, 2, 5, 900}) {
    if (stream.Signal(event, value) != GE_OK) return Fail("stream_signal: " + stream.error());
    if (event.Wait(value, UINT64_MAX) != GE_OK)
      return Fail("event_wait fails for what was signalled");
    if (value > 1 && event.Wait(value - 1, 0) != GE_OK) {
      return Fail("event_wait: a value below the present one does not pass");
    }
  }
  return a.rig.Judged(Pass());
}

Outcome WaitForThePast(Subject& s, int) {
  Async a(s);
  if (!a.ready) return a.outcome;
  Event past(a.e(), a.device), done(a.e(), a.device);
  Stream stream(a.e(), a.device);
  if (stream.Signal(past, 7) != GE_OK || past.Wait(7, UINT64_MAX) != GE_OK) {
    return Fail("stream_signal or event_wait fails");
  }
  for (const uint64_t value : {0, 3, 7}) {
    if (stream.Wait(past, value) != GE_OK) return Fail("stream_wait: " + stream.error());
  }
  if (stream.Signal(done, 1) != GE_OK) return Fail("stream_signal: " + stream.error());
  if (done.Wait(1, UINT64_MAX) != GE_OK)
    return Fail("a stream that waits for the past stays there");
  return a.rig.Judged(Pass());
}

// Signals of a stream come in order, behind what was queued before them.
Outcome SignalsInOrder(Subject& s, int) {
  Async a(s);
  if (!a.ready) return a.outcome;
  Scene scene(a);
  std::string why = scene.why;
  if (!why.empty()) return a.rig.Judged(Unsupported(why));
  Work work(a, scene.adder.exec());
  Event first(a.e(), a.device), second(a.e(), a.device);
  Stream stream(a.e(), a.device);
  const std::vector<unsigned char> x = Floats(7), y = Floats(8);
  work.in[0].Write(x.data());
  work.in[1].Write(y.data());
  work.out.Fill(0xFF);
  if (!scene.late.Queue(stream, &why) || work.Enqueue(stream, &why) != GE_OK) return Fail(why);
  if (stream.Signal(first, 1) != GE_OK || stream.Signal(second, 1) != GE_OK) {
    return Fail("stream_signal: " + stream.error());
  }
  if (second.Wait(1, UINT64_MAX, &why) != GE_OK) return Fail("event_wait: " + why);
  if (first.Wait(1, 0) != GE_OK) return Fail("the second signal came before the first");
  const std::string fault = Adder::SumFault(x, y, work.out.Read());
  if (!fault.empty()) {
    return Fail("stream_signal: a signal was given before the work queued before it: " + fault);
  }
  return a.rig.Judged(Pass());
}

// ---- producers and consumers -------------------------------------------------------------------

// The producer is late, by work before it on its stream; the consumer on another stream waits. Its
// input is written by a launch (0) or by copies (1).
Outcome DelayedProducer(Subject& s, int by_copies) {
  Async a(s);
  if (!a.ready) return a.outcome;
  if (by_copies != 0 && !HasCopy(a)) return a.rig.Judged(Unsupported("its copy is NULL"));
  Scene scene(a);
  std::string why = scene.why;
  if (!why.empty()) return a.rig.Judged(Unsupported(why));
  Work before(a, scene.adder.exec()), work(a, scene.adder.exec());
  const std::vector<unsigned char> zero(Floats(1).size());
  Stream consumer(a.e(), a.device), producer(a.e(), a.device);
  Event ready(a.e(), a.device), done(a.e(), a.device);
  for (uint64_t round = 1; round <= 3; ++round) {
    std::vector<unsigned char> x = Floats(2 * round), y = Floats(2 * round + 1);
    std::vector<unsigned char> sum(x.size(), 0xFF);
    before.in[0].Write(x.data());
    before.in[1].Write(zero.data());
    for (mock::Place* p : {&before.out, &work.in[0], &work.out}) p->Fill(0xFF);
    work.in[1].Write(y.data());
    if (!scene.late.Queue(producer, &why)) return Fail(why);
    const ge_rc rc =
        by_copies != 0 ? work.CopyIn(producer, 0, x, &why) : before.Enqueue(producer, &why);
    if (rc != GE_OK) return Fail(why);
    if (producer.Signal(ready, round) != GE_OK) return Fail("stream_signal: " + producer.error());
    if (consumer.Wait(ready, round) != GE_OK) return Fail("stream_wait: " + consumer.error());
    const mock::Place* given = by_copies != 0 ? nullptr : &before.out;
    if (work.Enqueue(consumer, &why, given) != GE_OK) return Fail(why);
    if (by_copies != 0 && work.CopyOut(consumer, sum, &why) != GE_OK) return Fail(why);
    if (consumer.Signal(done, round) != GE_OK) return Fail("stream_signal: " + consumer.error());
    if (done.Wait(round, UINT64_MAX, &why) != GE_OK) return Fail("event_wait: " + why);
    if (by_copies == 0) sum = work.out.Read();
    const std::string fault = Adder::SumFault(x, y, sum);
    if (!fault.empty()) {
      return Fail("a consumer did not wait for its producer on another stream: " + fault);
    }
  }
  return a.rig.Judged(Pass());
}

// One event, two values: a wait stands for the value that it names. That for the first does not
// need the second, that for the second waits for it.
Outcome ValuesApart(Subject& s, int) {
  Async a(s);
  if (!a.ready) return a.outcome;
  Scene scene(a);
  std::string why = scene.why;
  if (!why.empty()) return a.rig.Judged(Unsupported(why));
  Work first(a, scene.adder.exec()), second(a, scene.adder.exec()), reader(a, scene.adder.exec());
  Stream producer(a.e(), a.device), consumer(a.e(), a.device);
  Event made(a.e(), a.device), early(a.e(), a.device), done(a.e(), a.device);
  const std::vector<unsigned char> x = Floats(11), y = Floats(12), zero(x.size());
  for (Work* w : {&first, &second}) {
    w->in[0].Write((w == &first ? x : y).data());
    w->in[1].Write(zero.data());
    w->out.Fill(0xFF);
  }
  reader.in[1].Write(zero.data());
  if (first.Enqueue(producer, &why) != GE_OK) return Fail(why);
  if (producer.Signal(made, 1) != GE_OK) return Fail("stream_signal: " + producer.error());
  if (!scene.late.Queue(producer, &why) || second.Enqueue(producer, &why) != GE_OK) {
    return Fail(why);
  }
  if (producer.Signal(made, 2) != GE_OK) return Fail("stream_signal: " + producer.error());
  for (const uint64_t value : {1, 2}) {
    Event& over = value == 1 ? early : done;
    const Work& from = value == 1 ? first : second;
    if (consumer.Wait(made, value) != GE_OK) return Fail("stream_wait: " + consumer.error());
    if (reader.Enqueue(consumer, &why, &from.out) != GE_OK) return Fail(why);
    if (consumer.Signal(over, 1) != GE_OK) return Fail("stream_signal: " + consumer.error());
    if (over.Wait(1, UINT64_MAX, &why) != GE_OK) return Fail("event_wait: " + why);
    const std::string fault = Adder::SumFault(value == 1 ? x : y, zero, reader.out.Read());
    if (!fault.empty()) return Fail(fmt::format("a wait for value {}: {}", value, fault));
  }
  return a.rig.Judged(Pass());
}

// Works over streams by turns, each waiting for the one before: x + b, n times. What one writes the
// next one reads: a copy of it, made on the same stream by way of host memory, or, where the engine
// has no copy, the place itself.
class AddChain {
 public:
  static constexpr size_t kSteps = 24;
  AddChain(Async& a, const mock::Exec& exec, size_t streams)
      : copies_(HasCopy(a)), between_(kSteps, std::vector<unsigned char>(first_.size())) {
    for (size_t i = 0; i < streams; ++i) {
      on_.push_back(std::make_unique<Stream>(a.e(), a.device));
      event_.push_back(std::make_unique<Event>(a.e(), a.device));
    }
    for (size_t k = 0; k < kSteps; ++k) {
      work_.push_back(std::make_unique<Work>(a, exec));
      work_[k]->in[0].Fill(0xFF);
      work_[k]->out.Fill(0xFF);
      work_[k]->in[1].Write(step_.data());
    }
    work_[0]->in[0].Write(first_.data());
  }
  // Queues all of it and waits. False with *why.
  bool Run(std::string* why) {
    for (size_t k = 0; k < kSteps; ++k) {
      if (!Queue(k, why)) return false;
    }
    const size_t last = (kSteps - 1) % on_.size();
    if (event_[last]->Wait(kSteps, UINT64_MAX, why) == GE_OK) return true;
    *why = "event_wait: " + *why;
    return false;
  }
  // Empty, or where the last sum is another one.
  std::string Fault() {
    std::vector<unsigned char> before = first_;
    auto* w = reinterpret_cast<float*>(before.data());
    const auto* b = reinterpret_cast<const float*>(step_.data());
    for (size_t k = 1; k < kSteps; ++k) {
      for (size_t i = 0; i < before.size() / sizeof(float); ++i) w[i] += b[i];
    }
    return Adder::SumFault(before, step_, copies_ ? between_.back() : work_.back()->out.Read());
  }

 private:
  bool Queue(size_t k, std::string* why) {
    Stream& stream = *on_[k % on_.size()];
    if (k > 0 && stream.Wait(*event_[(k - 1) % on_.size()], k) != GE_OK) {
      *why = "stream_wait: " + stream.error();
      return false;
    }
    if (k > 0 && copies_ && work_[k]->CopyIn(stream, 0, between_[k - 1], why) != GE_OK) {
      return false;
    }
    const mock::Place* first = k > 0 && !copies_ ? &work_[k - 1]->out : nullptr;
    if (work_[k]->Enqueue(stream, why, first) != GE_OK) return false;
    if (copies_ && work_[k]->CopyOut(stream, between_[k], why) != GE_OK) return false;
    if (stream.Signal(*event_[k % on_.size()], k + 1) == GE_OK) return true;
    *why = "stream_signal: " + stream.error();
    return false;
  }
  const bool copies_;
  const std::vector<unsigned char> first_ = Floats(3), step_ = Floats(4);
  std::vector<std::vector<unsigned char>> between_;
  std::vector<std::unique_ptr<Work>> work_;
  std::vector<std::unique_ptr<Event>> event_;
  std::vector<std::unique_ptr<Stream>> on_;  // end first: they may still run
};

Outcome EventChain(Subject& s, int streams) {
  Async a(s);
  if (!a.ready) return a.outcome;
  std::string why;
  Adder adder(a, &why);
  if (!why.empty()) return a.rig.Judged(Unsupported(why));
  AddChain chain(a, adder.exec(), static_cast<size_t>(streams));
  if (!chain.Run(&why)) return Fail(why);
  const std::string fault = chain.Fault();
  if (fault.empty()) return a.rig.Judged(Pass());
  return Fail(fmt::format("{} works over {} streams, each waiting for the one before: {}",
                          AddChain::kSteps, streams, fault));
}

// One stream alone: works and copies in the order in which they were queued.
Outcome StreamOrder(Subject& s, int) { return EventChain(s, 1); }

// Launch records and their arrays may go when enqueue returns, though the work has not begun.
Outcome RecordsAreCopied(Subject& s, int) {
  Async a(s);
  if (!a.ready) return a.outcome;
  Scene scene(a);
  std::string why = scene.why;
  if (!why.empty()) return a.rig.Judged(Unsupported(why));
  Work work(a, scene.adder.exec());
  Stream stream(a.e(), a.device);
  Event done(a.e(), a.device);
  const std::vector<unsigned char> x = Floats(5), y = Floats(6);
  work.in[0].Write(x.data());
  work.in[1].Write(y.data());
  work.out.Fill(0xFF);
  if (!scene.late.Queue(stream, &why)) return Fail(why);
  if (work.Enqueue(stream, &why) != GE_OK) return Fail(why);  // its record is gone by now
  if (stream.Signal(done, 1) != GE_OK) return Fail("stream_signal: " + stream.error());
  if (done.Wait(1, UINT64_MAX, &why) != GE_OK) return Fail("event_wait: " + why);
  const std::string fault = Adder::SumFault(x, y, work.out.Read());
  return fault.empty() ? a.rig.Judged(Pass()) : Fail("enqueue: " + fault);
}

// ---- memory ------------------------------------------------------------------------------------

Outcome Blocks(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  if (rig.engine().devices()[0].domains[0].id.empty())
    return Unsupported(
        "it has no memory of its "
        "own");
  std::vector<std::unique_ptr<mock::Place>> places;
  for (const uint64_t bytes : {1, 63, 64, 65, 4096, 100001}) {
    for (const uint64_t align : {64, 256, 4096}) {
      places.push_back(std::make_unique<mock::Place>(rig.engine(), 0, bytes, align, "a block"));
      if (!places.back()->ok()) {
        return Fail(fmt::format("mem_alloc of {} bytes: {}", bytes, places.back()->error()));
      }
    }
  }
  Random r(9);
  std::vector<std::vector<unsigned char>> bytes;
  for (const auto& p : places) {
    bytes.push_back(r.Numbers(GE_U8, {static_cast<int64_t>(p->bytes())}, 0, 255).bytes);
    p->Write(bytes.back().data());
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i]->Read() != bytes[i]) return Fail("copy: other bytes come back than were written");
    const std::string harm = places[i]->Harm();
    if (!harm.empty()) return Fail("copy: " + harm);
  }
  places.clear();
  return rig.Closed(Pass());
}

Outcome ManyStreams(Subject& s, int) {
  Async a(s);
  if (!a.ready) return a.outcome;
  for (int round = 0; round < 50; ++round) {
    Stream stream(a.e(), a.device);
    Event event(a.e(), a.device);
    if (!stream.ok() || !event.ok()) return Fail("stream_create: " + stream.error());
    if (stream.Signal(event, 1) != GE_OK) return Fail("stream_signal: " + stream.error());
    if (round % 2 == 0 && event.Wait(1, UINT64_MAX) != GE_OK) return Fail("event_wait fails");
    if (round % 2 != 0) event.Wait(1, UINT64_MAX);  // the stream goes first, then the event
  }
  return a.rig.Judged(Pass());
}

}  // namespace

std::vector<Case> OrderCases() {
  return {
      {4, "event-begins-at-0", EventBegins},
      {4, "event-counts-up", EventCounts},
      {4, "event-pends", EventPends, 0},
      {4, "event-pends-1us", EventPends, 1000},
      {4, "wait-for-the-past", WaitForThePast},
      {4, "signals-in-order", SignalsInOrder},
      {4, "delayed-producer", DelayedProducer, 0},
      {4, "delayed-producer-copies", DelayedProducer, 1},
      {4, "values-apart", ValuesApart},
      {4, "stream-order", StreamOrder},
      {4, "event-chain-2", EventChain, 2},
      {4, "event-chain-5", EventChain, 5},
      {4, "records-are-copied", RecordsAreCopied},
      {4, "blocks", Blocks},
      {4, "many-streams", ManyStreams},
  };
}

}  // namespace ge::conform

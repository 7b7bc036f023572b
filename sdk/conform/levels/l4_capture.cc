// Level 4, captures and stamps: calls recorded and launched as one, and times taken on streams. For
// engines with these optional functions; others have nothing to be judged by here.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "sdk/conform/case.h"
#include "sdk/conform/counted_memory.h"
#include "sdk/conform/execute.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

using mock::Event;
using mock::Stream;

// A capture that does not end has work behind it that never runs.
constexpr uint64_t kMostWaitNs = 5'000'000'000;
constexpr int64_t kAdded = 1 << 16;

// An asynchronous device, and Add on it: y = x + b.
struct AddOnDevice {
  AddOnDevice(Subject& s, bool captures) : rig(s), sample(OneAdd({kAdded})) {
    if (rig.ready()) {
      Prepare(captures);
    } else {
      outcome = rig.outcome();
    }
  }
  void Prepare(bool captures) {
    const ge_engine_api& api = rig.engine().api();
    const auto& devices = rig.engine().devices();
    const auto async = std::find_if(devices.begin(), devices.end(),
                                    [](const mock::Device& d) { return d.async(); });
    if (async == devices.end()) return Leave("no device of it is asynchronous");
    if (captures && api.capture_begin == nullptr) return Leave("its capture functions are NULL");
    if (!captures && api.stamps_create == nullptr) return Leave("its functions of stamps are NULL");
    answer = rig.engine().Query(sample.graph);
    const auto offers = OffersOf(answer, {0});
    if (offers.empty()) return Leave("it declines Add");
    exec = mock::Compiler(rig.engine(), sample.graph, answer)
               .Compile(mock::MakeSegment(sample.graph, answer, {{offers[0], 0}}));
    device = exec->segment.device;
    if (exec->rc != GE_OK) {
      outcome = rig.Judged(Fail("compile: " + exec->error));
    } else if (!devices[device].async() || exec->segment.in.size() != 2) {
      Leave("it adds on another device, or something else");
    } else if (captures && (exec->flags & GE_COMPILED_CAPTURABLE) == 0) {
      Leave("its Add is not GE_COMPILED_CAPTURABLE");
    } else {
      ready = true;
    }
  }
  void Leave(const char* why) { outcome = rig.Judged(Unsupported(why)); }
  mock::Engine& e() { return rig.engine(); }

  Rig rig;
  Sample sample;
  mock::Answer answer;
  std::unique_ptr<mock::Exec> exec;
  uint32_t device = 0;
  bool ready = false;
  Outcome outcome;
};

std::vector<unsigned char> Filled(float x) {
  return mock::Tensor::Of(GE_F32, {kAdded}, std::vector<float>(kAdded, x)).bytes;
}

// n launches in a row, each reading as its first operand what the one before has written: x + n *
// b.
class AddLaunches {
 public:
  AddLaunches(AddOnDevice& a, int n) {
    for (int i = 0; i < n; ++i) {
      launch_.push_back(std::make_unique<mock::Launch>(*a.exec));
      if (i > 0) launch_.back()->ReadFrom(0, *launch_[launch_.size() - 2], 0);
    }
  }
  // Into the places, and garbage where results will be.
  void Set(float x, float b) {
    launch_[0]->SetInput(0, Filled(x));
    for (auto& l : launch_) {
      l->SetInput(1, Filled(b));
      l->Begin();
    }
    wanted_ = x + static_cast<float>(launch_.size()) * b;
  }
  // By turns on the streams, with an event between.
  bool Queue(const std::vector<Stream*>& streams, Event& order, std::string* why) {
    uint64_t value = 0;
    for (size_t i = 0; i < launch_.size(); ++i) {
      Stream& s = *streams[i % streams.size()];
      if (i > 0 && streams.size() > 1 && s.Wait(order, value) != GE_OK) {
        return *why = "stream_wait: " + s.error(), false;
      }
      if (launch_[i]->Enqueue(&s) != GE_OK) {
        return *why = "enqueue: " + launch_[i]->error(), false;
      }
      if (streams.size() > 1 && s.Signal(order, ++value) != GE_OK) {
        return *why = "stream_signal: " + s.error(), false;
      }
    }
    // What other streams did comes back to the first.
    if (streams.size() > 1 && streams[0]->Wait(order, value) != GE_OK) {
      return *why = "stream_wait: " + streams[0]->error(), false;
    }
    return true;
  }
  std::string Fault() {
    const std::vector<unsigned char> bytes = launch_.back()->Output(0);
    const auto* y = reinterpret_cast<const float*>(bytes.data());
    for (int64_t i = 0; i < kAdded; ++i) {
      if (y[i] != wanted_) return fmt::format("element {} is {}, wanted {}", i, y[i], wanted_);
    }
    return "";
  }
  // Whether all of the result's place is as Set left it.
  bool Untouched() {
    const std::vector<unsigned char> bytes = launch_.back()->Output(0);
    return std::all_of(bytes.begin(), bytes.end(), [](unsigned char c) { return c == 0xFF; });
  }

 private:
  std::vector<std::unique_ptr<mock::Launch>> launch_;
  float wanted_ = 0;
};

// One capture, and the calls for it.
class Recording {
 public:
  explicit Recording(AddOnDevice& a) : a_(a) {}
  ~Recording() {
    if (capture_ == nullptr) return;
    mock::CallScope scope(a_.rig.host(), "capture_destroy");
    a_.e().api().capture_destroy(capture_);
    scope.Returned();
  }
  bool Begin(const std::vector<Stream*>& streams, std::string* why) {
    std::vector<ge_stream*> raw;
    for (Stream* s : streams) raw.push_back(s->get());
    return Made("capture_begin", why, [&](ge_err* err) {
      return a_.e().api().capture_begin(a_.e().handle(), raw.data(),
                                        static_cast<uint32_t>(raw.size()), err);
    });
  }
  bool End(std::string* why) {
    const bool good = Made("capture_end", why, [&](ge_err* err) {
      return a_.e().api().capture_end(a_.e().handle(), &capture_, err);
    });
    if (!good) capture_ = nullptr;
    if (good && capture_ == nullptr) *why = "capture_end answered GE_OK, but gave no capture";
    return good && capture_ != nullptr;
  }
  bool Launch(Stream& stream, std::string* why) {
    return Made("capture_launch", why, [&](ge_err* err) {
      return a_.e().api().capture_launch(capture_, stream.get(), err);
    });
  }

 private:
  template <class Call>
  bool Made(const char* name, std::string* why, const Call& call) {
    mock::Error err(a_.rig.host());
    ge_rc rc = GE_OK;
    {
      mock::CallScope scope(a_.rig.host(), name);
      rc = call(err.get());
      scope.Returned();
    }
    if (rc != GE_OK) *why = std::string(name) + ": " + err.Text(name, rc);
    return rc == GE_OK;
  }
  AddOnDevice& a_;
  ge_capture* capture_ = nullptr;
};

// Waits until the stream has come so far. False with *why.
bool Reaches(Stream& stream, Event& event, uint64_t value, std::string* why) {
  if (stream.Signal(event, value) != GE_OK) return *why = "stream_signal: " + stream.error(), false;
  const ge_rc rc = event.Wait(value, kMostWaitNs, why);
  if (rc == GE_PENDING) *why = "what is queued on the stream has not run after 5 s";
  if (rc != GE_OK && rc != GE_PENDING) *why = "event_wait: " + *why;
  return rc == GE_OK;
}

// Records a chain over so many streams and launches it twice, with other numbers at the same
// addresses; before that nothing has run.
Outcome LaunchedTwice(Subject& s, int streams) {
  AddOnDevice a(s, true);
  if (!a.ready) return a.outcome;
  std::string why;
  AddLaunches chain(a, streams == 1 ? 3 : 12);
  Event order(a.e(), a.device), done(a.e(), a.device);
  std::vector<std::unique_ptr<Stream>> own;
  std::vector<Stream*> on;
  for (int i = 0; i < streams; ++i) {
    own.push_back(std::make_unique<Stream>(a.e(), a.device));
    on.push_back(own.back().get());
  }
  chain.Set(1, 2);
  Recording recording(a);
  if (!recording.Begin(on, &why)) return Fail(why);
  const bool queued = chain.Queue(on, order, &why);
  std::string end;
  if (!recording.End(&end)) return a.rig.Judged(Unsupported(end));
  if (!queued) return Fail("inside of a capture: " + why);
  if (!Reaches(*on[0], done, 1, &why)) return Fail("after capture_end: " + why);
  if (!chain.Untouched()) return Fail("capture: what was captured has run before its launch");
  for (const float x : {3.0F, 50.0F}) {
    chain.Set(x, 2);
    if (!recording.Launch(*on[0], &why)) return Fail(why);
    if (!Reaches(*on[0], done, static_cast<uint64_t>(x), &why)) {
      return Fail("behind capture_launch: " + why);
    }
    const std::string fault = chain.Fault();
    if (!fault.empty()) {
      return Fail(fmt::format("capture_launch: {} of {} launches over {} streams: {}",
                              x < 4 ? "the first run" : "a second run with other numbers",
                              streams == 1 ? 3 : 12, streams, fault));
    }
  }
  return a.rig.Judged(Pass());
}

// A call inside of a capture fails; afterwards its streams are as before, whatever capture_end
// says.
Outcome UsableAfterFailure(Subject& s, int) {
  AddOnDevice a(s, true);
  if (!a.ready) return a.outcome;
  std::string why, end;
  AddLaunches chain(a, 2);
  Event order(a.e(), a.device), done(a.e(), a.device);
  Stream first(a.e(), a.device), second(a.e(), a.device);
  const std::vector<Stream*> on = {&first, &second};
  bool failed = false;
  for (uint64_t round = 1; round <= 3; ++round) {
    Recording recording(a);
    if (!recording.Begin(on, &why)) return Fail(why);
    mock::Style must;
    must.extended = mock::TagBit(GE_TAG_LAUNCH);
    must.must_understand = true;
    a.rig.host().style = must;
    const bool queued = chain.Queue(on, order, &why);
    a.rig.host().style = mock::Style();
    if (queued) return Fail("enqueue goes on although an extension must be understood");
    failed = !recording.End(&end);
  }
  for (uint64_t round = 1; round <= 2; ++round) {
    Event fresh(a.e(), a.device);
    chain.Set(static_cast<float>(round), 1);
    if (!chain.Queue(on, fresh, &why)) return Fail("after a capture that failed: " + why);
    for (Stream* stream : on) {
      Event& event = stream == &first ? done : order;
      if (!Reaches(*stream, event, round, &why)) return Fail("after a capture that failed: " + why);
    }
    const std::string fault = chain.Fault();
    if (!fault.empty()) return Fail("after a capture that failed: " + fault);
  }
  return a.rig.Judged(Pass(failed ? end.substr(0, 150) : "capture_end went well all the same"));
}

// Made and destroyed again and again, in any order, launched or not.
Outcome Destroyed(Subject& s, int) {
  if (!IsCounting()) return Unsupported("a sanitizer counts allocations in this build");
  constexpr int kWarm = 10, kRounds = 100;
  AddOnDevice a(s, true);
  if (!a.ready) return a.outcome;
  std::string why;
  AddLaunches chain(a, 2);
  Event order(a.e(), a.device), done(a.e(), a.device);
  Stream stream(a.e(), a.device);
  int64_t before = 0;
  for (int round = 0; round < kWarm + kRounds; ++round) {
    if (round == kWarm) before = LiveBytes();
    auto one = std::make_unique<Recording>(a), other = std::make_unique<Recording>(a);
    for (Recording* r : {one.get(), other.get()}) {
      if (!r->Begin({&stream}, &why)) return Fail(why);
      const bool queued = chain.Queue({&stream}, order, &why);
      if (!queued) return Fail("inside of a capture: " + why);
      if (!r->End(&why)) return a.rig.Judged(Unsupported(why));
    }
    one.reset();
    if (round % 20 != 0) continue;
    chain.Set(static_cast<float>(round), 1);
    if (!other->Launch(stream, &why)) return Fail(why);
    if (!Reaches(stream, done, static_cast<uint64_t>(round) + 1, &why)) {
      return Fail("behind capture_launch: " + why);
    }
    const std::string fault = chain.Fault();
    if (!fault.empty()) return Fail("capture_destroy of another capture: " + fault);
  }
  const int64_t grown = LiveBytes() - before;
  if (grown < kRounds * 8) return a.rig.Judged(Pass());
  return Fail(fmt::format("capture_destroy leaks {} bytes of each capture", grown / kRounds / 2));
}

// ---- stamps -------------------------------------------------------------------------------------

class Stamps {
 public:
  Stamps(AddOnDevice& a, uint32_t n) : a_(a), n_(n) {
    mock::Error err(a.rig.host());
    mock::CallScope scope(a.rig.host(), "stamps_create");
    const ge_rc rc = a.e().api().stamps_create(a.e().handle(), a.device, n, &stamps_, err.get());
    scope.Returned();
    if (rc != GE_OK || stamps_ == nullptr) why_ = "stamps_create: " + err.Text("stamps_create", rc);
  }
  ~Stamps() {
    if (stamps_ == nullptr) return;
    mock::CallScope scope(a_.rig.host(), "stamps_destroy");
    a_.e().api().stamps_destroy(stamps_);
    scope.Returned();
  }
  bool Take(Stream& stream, uint32_t index, std::string* why) {
    if (!why_.empty()) return *why = why_, false;
    mock::Error err(a_.rig.host());
    mock::CallScope scope(a_.rig.host(), "stream_stamp");
    const ge_rc rc = a_.e().api().stream_stamp(stream.get(), stamps_, index, err.get());
    scope.Returned();
    if (rc != GE_OK) *why = "stream_stamp: " + err.Text("stream_stamp", rc);
    return rc == GE_OK;
  }
  bool Read(std::vector<uint64_t>* ns, std::string* why) {
    ns->assign(n_, 0);
    mock::Error err(a_.rig.host());
    mock::CallScope scope(a_.rig.host(), "stamps_read");
    const ge_rc rc = a_.e().api().stamps_read(stamps_, 0, n_, ns->data(), err.get());
    scope.Returned();
    if (rc != GE_OK) *why = "stamps_read: " + err.Text("stamps_read", rc);
    return rc == GE_OK;
  }

 private:
  AddOnDevice& a_;
  const uint32_t n_;
  ge_stamps* stamps_ = nullptr;
  std::string why_;
};

// Before, between and behind work of one stream: they ascend, by the host's clock. One behind work
// that the host has seen going on is later than that.
Outcome StampsAscend(Subject& s, int) {
  constexpr uint32_t kStamps = 8;
  AddOnDevice a(s, false);
  if (!a.ready) return a.outcome;
  const ge_host_api& host = *a.rig.host().api();
  std::string why;
  AddLaunches chain(a, 16);
  Event order(a.e(), a.device), worked(a.e(), a.device), done(a.e(), a.device);
  Stream stream(a.e(), a.device);
  for (uint64_t round = 1; round <= 8; ++round) {
    Stamps stamps(a, kStamps);
    chain.Set(1, 1);
    const uint64_t before = host.now_ns(host.host);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < kStamps; ++i) {
      if (!stamps.Take(stream, i, &why)) return Fail(why);
      if (i + 1 < kStamps && !chain.Queue({&stream}, order, &why)) return Fail(why);
      if (i + 2 != kStamps) continue;
      if (stream.Signal(worked, round) != GE_OK) return Fail("stream_signal: " + stream.error());
    }
    const uint64_t now = host.now_ns(host.host);
    if (worked.Wait(round, 0) == GE_PENDING) seen = now;
    if (!Reaches(stream, done, round, &why)) return Fail(why);
    const uint64_t after = host.now_ns(host.host);
    std::vector<uint64_t> ns;
    if (!stamps.Read(&ns, &why)) return Fail(why);
    for (uint32_t i = 0; i < kStamps; ++i) {
      if (ns[i] >= before && ns[i] <= after) continue;
      return Fail(
          fmt::format("stamps_read: stamp {} is {} ns, not between the host's now_ns before the "
                      "calls, {}, and behind their work, {}",
                      i, ns[i], before, after));
    }
    for (uint32_t i = 1; i < kStamps; ++i) {
      if (ns[i] >= ns[i - 1]) continue;
      return Fail(fmt::format("stamps_read: stamp {} of a stream is {} ns before the one before it",
                              i, ns[i - 1] - ns[i]));
    }
    if (ns[kStamps - 1] < seen) {
      return Fail(
          fmt::format("stream_stamp: a stamp behind work is {} ns before a time at which "
                      "the work still went on",
                      seen - ns[kStamps - 1]));
    }
  }
  return a.rig.Judged(Pass());
}

}  // namespace

std::vector<Case> CaptureCases() {
  return {
      {4, "capture-launched-twice", LaunchedTwice, 1},
      {4, "capture-two-streams", LaunchedTwice, 2},
      {4, "capture-that-fails", UsableAfterFailure},
      {4, "capture-destroy", Destroyed},
      {4, "stamps-ascend", StampsAscend},
  };
}

}  // namespace ge::conform

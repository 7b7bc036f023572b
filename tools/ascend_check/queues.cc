// Streams and events.
#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

constexpr size_t kBytes = 1 << 16;
constexpr int kManyEvents = 2048, kMostStreams = 4096;

void Fill(Place& p, void* block, int value, acl::Stream stream) {
  p.at.Ok(p.f.aclrtMemsetAsync(block, kBytes, value, kBytes, stream), "aclrtMemsetAsync");
}
void Copy(Place& p, void* to, const void* from, acl::Stream stream) {
  p.at.Ok(p.f.aclrtMemcpyAsync(to, kBytes, from, kBytes, acl::kDeviceToDevice, stream),
          "aclrtMemcpyAsync on the device");
}
void Record(Place& p, acl::Event event, acl::Stream stream) {
  p.at.Ok(p.f.aclrtRecordEvent(event, stream), "aclrtRecordEvent");
}
void WaitFor(Place& p, acl::Stream stream, acl::Event event) {
  p.at.Ok(p.f.aclrtStreamWaitEvent(stream, event), "aclrtStreamWaitEvent");
}
void NeedAll(Place& p, const void* block, unsigned char value) {
  for (const unsigned char byte : p.Down(block, kBytes)) {
    Case::Need(byte == value,
               "a byte is " + std::to_string(byte) + "; wanted " + std::to_string(value));
  }
}

// ---- streams -----------------------------------------------------------------------------------

void Order(Case& at) {
  Place p(at);
  void *a = p.Block(kBytes), *b = p.Block(kBytes);
  Fill(p, a, 1, p.stream);
  Copy(p, b, a, p.stream);
  Fill(p, a, 2, p.stream);
  p.Wait();
  NeedAll(p, b, 1);
  NeedAll(p, a, 2);
}
void LongOrder(Case& at) {
  Place p(at);
  void *a = p.Block(kBytes), *b = p.Block(kBytes);
  for (int k = 0; k < 200; ++k) {
    Fill(p, a, k, p.stream);
    Copy(p, b, a, p.stream);
  }
  p.Wait();
  NeedAll(p, b, 199);
}
void ManyStreams(Case& at) {
  Place p(at);
  std::vector<void*> blocks;
  std::vector<acl::Stream> streams;
  for (int k = 0; k < 8; ++k) {
    streams.push_back(p.Stream());
    blocks.push_back(p.Block(kBytes));
    Fill(p, blocks.back(), k + 1, streams.back());
  }
  for (int k = 0; k < 8; ++k) {
    at.Ok(p.f.aclrtSynchronizeStream(streams[static_cast<size_t>(k)]), "aclrtSynchronizeStream");
    NeedAll(p, blocks[static_cast<size_t>(k)], static_cast<unsigned char>(k + 1));
  }
}
void DeviceWaits(Case& at) {
  Place p(at);
  void *a = p.Block(kBytes), *b = p.Block(kBytes);
  Fill(p, a, 5, p.stream);
  Fill(p, b, 6, p.Stream());
  at.Ok(p.f.aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
  NeedAll(p, a, 5);
  NeedAll(p, b, 6);
}
void DestroyStream(Case& at) {
  Place p(at);
  void* a = p.Block(kBytes);
  for (int k = 0; k < 50; ++k) {
    const acl::Stream stream = p.Stream();
    Fill(p, a, k, stream);
    at.Ok(p.f.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    at.Ok(p.f.aclrtDestroyStream(stream), "aclrtDestroyStream");
  }
}
void StreamsCap(Case& at) {
  Place p(at);
  for (int made = 1; made < kMostStreams; ++made) {
    acl::Stream stream = nullptr;
    const acl::Status s = p.f.aclrtCreateStream(&stream);
    if (s == acl::kSuccess) continue;
    at.Refused(s, "aclrtCreateStream", acl::kNoStreams);
    return at.Tell(std::to_string(made) + " streams at once");
  }
  Case::Differs(std::to_string(kMostStreams) + " streams are made, and none is refused");
}

// ---- events ------------------------------------------------------------------------------------

void Ordered(Case& at) {
  Place p(at);
  void *a = p.Block(kBytes), *b = p.Block(kBytes);
  const acl::Stream other = p.Stream();
  const acl::Event event = p.Event();
  Fill(p, a, 9, p.stream);
  Record(p, event, p.stream);
  WaitFor(p, other, event);
  Copy(p, b, a, other);
  at.Ok(p.f.aclrtSynchronizeStream(other), "aclrtSynchronizeStream");
  NeedAll(p, b, 9);
}
void Recorded(Case& at) {
  Place p(at);
  const acl::Event event = p.Event();
  Record(p, event, p.stream);
  p.Wait();
  auto status = acl::kEventNotReady;
  at.Ok(p.f.aclrtQueryEventStatus(event, &status), "aclrtQueryEventStatus");
  Case::Need(status == acl::kEventComplete,
             "an event whose stream is done has status " + std::to_string(status));
}
void HostWaits(Case& at) {
  Place p(at);
  void* a = p.Block(kBytes);
  const acl::Event event = p.Event();
  Fill(p, a, 3, p.stream);
  Record(p, event, p.stream);
  at.Ok(p.f.aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent");
  NeedAll(p, a, 3);
}
// The newest record is what is waited for.
void RecordedAgain(Case& at) {
  Place p(at);
  void *a = p.Block(kBytes), *b = p.Block(kBytes);
  const acl::Stream other = p.Stream();
  const acl::Event event = p.Event(), back = p.Event();
  for (int k = 1; k <= 20; ++k) {
    Fill(p, a, k, p.stream);
    Record(p, event, p.stream);
    WaitFor(p, other, event);
    Copy(p, b, a, other);
    Record(p, back, other);
    WaitFor(p, p.stream, back);
    at.Ok(p.f.aclrtSynchronizeEvent(back), "aclrtSynchronizeEvent");
    NeedAll(p, b, static_cast<unsigned char>(k));
  }
}
void WaitKeepsRecord(Case& at) {
  Place p(at);
  void *a = p.Block(kBytes), *b = p.Block(kBytes);
  const acl::Stream other = p.Stream();
  const acl::Event event = p.Event(), done = p.Event();
  Fill(p, a, 1, p.stream);
  Record(p, event, p.stream);
  WaitFor(p, other, event);
  Copy(p, b, a, other);
  Record(p, done, other);
  WaitFor(p, p.stream, done);
  Record(p, event, p.stream);  // the wait above is for the record before
  at.Ok(p.f.aclrtSynchronizeStream(other), "aclrtSynchronizeStream");
  p.Wait();
  NeedAll(p, b, 1);
}
void QueryUnrecorded(Case& at) {
  Place p(at);
  auto status = acl::kEventNotReady;
  at.Refused(p.f.aclrtQueryEventStatus(p.Event(), &status),
             "aclrtQueryEventStatus of an event that was never recorded");
}
void WaitUnrecorded(Case& at) {
  Place p(at);
  WaitFor(p, p.stream, p.Event());
  p.Wait();
}
void ManyEvents(Case& at) {
  Place p(at);
  std::vector<acl::Event> events;
  for (int k = 0; k < kManyEvents; ++k) events.push_back(p.Event());
  for (const acl::Event event : events) Record(p, event, p.stream);
  p.Wait();
  for (const acl::Event event : events) at.Ok(p.f.aclrtDestroyEvent(event), "aclrtDestroyEvent");
}

// ---- times -------------------------------------------------------------------------------------

acl::Event Timed(Place& p) {
  if (p.f.aclrtCreateEventWithFlag == nullptr || p.f.aclrtEventElapsedTime == nullptr ||
      p.f.aclrtResetEvent == nullptr) {
    Case::Skip("the library has no events with times");
  }
  acl::Event made = nullptr;
  p.at.Ok(p.f.aclrtCreateEventWithFlag(&made, acl::kEventDefault), "aclrtCreateEventWithFlag");
  return made;
}
float Elapsed(Place& p, acl::Event from, acl::Event to) {
  float ms = -1;
  p.at.Ok(p.f.aclrtEventElapsedTime(&ms, from, to), "aclrtEventElapsedTime");
  Case::Need(ms >= 0, "the time is " + TextOf(ms) + " ms");
  return ms;
}
void Times(Case& at) {
  Place p(at);
  const acl::Event from = Timed(p), to = Timed(p);
  Record(p, from, p.stream);
  Fill(p, p.Block(kBytes), 1, p.stream);
  Record(p, to, p.stream);
  p.Wait();
  at.Tell(TextOf(Elapsed(p, from, to)) + " ms for a fill of 64 KiB");
}
void TimesAgain(Case& at) {
  Place p(at);
  const acl::Event from = Timed(p), to = Timed(p);
  void* a = p.Block(kBytes);
  for (int k = 0; k < 3; ++k) {
    for (const acl::Event event : {from, to}) {
      if (k > 0) at.Ok(p.f.aclrtResetEvent(event, p.stream), "aclrtResetEvent");
      Record(p, event, p.stream);
      Fill(p, a, k, p.stream);
    }
    p.Wait();
    (void)Elapsed(p, from, to);
  }
}
void TimeOfUntimed(Case& at) {
  Place p(at);
  if (p.f.aclrtEventElapsedTime == nullptr) Case::Skip("the library has no times");
  const acl::Event from = p.Event(), to = p.Event();
  Record(p, from, p.stream);
  Record(p, to, p.stream);
  p.Wait();
  float ms = 0;
  at.Refused(p.f.aclrtEventElapsedTime(&ms, from, to),
             "aclrtEventElapsedTime of events without times");
}
void TimeOfUnrecorded(Case& at) {
  Place p(at);
  const acl::Event from = Timed(p), to = Timed(p);
  float ms = 0;
  at.Refused(p.f.aclrtEventElapsedTime(&ms, from, to),
             "aclrtEventElapsedTime of events that were never recorded");
}

}  // namespace

std::vector<Check> QueueChecks() {
  return {
      {"stream-order", "rule:two-phase", "Work of a stream runs in its order.", Order},
      {"stream-order-long", "rule:two-phase", "Four hundred pieces of work run in their order.",
       LongOrder},
      {"stream-many", "rule:caps", "Eight streams work, each on its own.", ManyStreams},
      {"stream-device", "rule:late-errors", "aclrtSynchronizeDevice waits for all streams.",
       DeviceWaits},
      {"stream-destroyed", "rule:caps", "Streams that are done are destroyed, and others made.",
       DestroyStream},
      {"stream-cap", "rule:caps", "Streams beyond the device's number are refused with 207008.",
       StreamsCap},
      {"event-order", "rule:event-ex",
       "A stream that waits for an event sees what was done before it.", Ordered},
      {"event-complete", "rule:event-ex", "An event of a stream that is done is complete.",
       Recorded},
      {"event-host", "rule:event-ex", "The host waits for an event.", HostWaits},
      {"event-again", "rule:event-ex",
       "An event is recorded again without a reset; the newest record counts.", RecordedAgain},
      {"event-wait-kept", "rule:event-ex",
       "A wait is for the record that was there when it was queued.", WaitKeepsRecord},
      {"event-query-unrecorded", "rule:event-ex",
       "Asking about an event that was never recorded is refused.", QueryUnrecorded},
      {"event-wait-unrecorded", "rule:event-ex",
       "Waiting for an event that was never recorded ends.", WaitUnrecorded},
      {"event-many", "rule:caps", "2,048 events of aclrtCreateEventExWithFlag live at once.",
       ManyEvents},
      {"event-time", "rule:event-ex",
       "Events of aclrtCreateEventWithFlag have a time between them, not below 0.", Times},
      {"event-time-again", "rule:event-ex", "They are recorded again behind a reset.", TimesAgain},
      {"event-time-untimed", "rule:event-ex", "Events that were not made for timing have no time.",
       TimeOfUntimed},
      {"event-time-unrecorded", "rule:event-ex", "Events that were never recorded have no time.",
       TimeOfUnrecorded},
  };
}

}  // namespace ascend_check

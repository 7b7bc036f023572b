// The library itself, devices, contexts of threads, late errors and peers.
#include <exception>
#include <thread>

#include "tools/ascend_check/chips.h"
#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

// Runs in a thread of its own, one without a context; what it throws comes out here.
template <class Use>
void InThread(const Use& use) {
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      use();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

uint32_t CountOf(Case& at) {
  uint32_t count = 0;
  at.Ok(at.runtime().f().aclrtGetDeviceCount(&count), "aclrtGetDeviceCount");
  return count;
}

acl::Context CurrentOf(Place& p) {
  acl::Context current = nullptr;
  p.at.Ok(p.f.aclrtGetCurrentContext(&current), "aclrtGetCurrentContext");
  return current;
}

acl::Context OtherContext(Place& p) {
  acl::Context other = nullptr;
  p.at.Ok(p.f.aclrtCreateContext(&other, 0), "aclrtCreateContext");
  return other;
}
void Set(Place& p, acl::Context context) {
  p.at.Ok(p.f.aclrtSetCurrentContext(context), "aclrtSetCurrentContext");
}

// ---- the library -------------------------------------------------------------------------------

void Init(Case& at) { at.Ok(at.runtime().f().aclInit(nullptr), "aclInit(null)"); }
void InitTwice(Case& at) {
  Init(at);
  at.Refused(at.runtime().f().aclInit(nullptr), "a second aclInit", acl::kRepeatInitialize);
}
void InitFirst(Case& at) {
  acl::Context context = nullptr;
  at.Refused(at.runtime().f().aclrtCreateContext(&context, 0), "aclrtCreateContext before aclInit");
}
void DeviceCount(Case& at) {
  Init(at);
  const uint32_t count = CountOf(at);
  Case::Need(count > 0, "aclrtGetDeviceCount finds none");
  at.Tell(std::to_string(count));
}
void DeviceKnown(Case& at) {
  Init(at);
  acl::Context context = nullptr;
  at.Refused(at.runtime().f().aclrtCreateContext(&context, static_cast<int32_t>(CountOf(at))),
             "aclrtCreateContext of a device beyond the count");
}
void ChipNamed(Case& at) {
  Place p(at);
  const char* chip = p.f.aclrtGetSocName();
  Case::Need(chip != nullptr && *chip != 0, "aclrtGetSocName answers nothing");
  at.Tell(chip);
  Case::Need(FindChip(chip) != nullptr,
             std::string("the engine does not know '") + chip +
                 "' and offers float32 and float16 in plain layouts alone");
}

// ---- contexts ----------------------------------------------------------------------------------

void ContextCurrent(Case& at) {
  Place p(at);
  Case::Need(CurrentOf(p) == p.context, "another context is current behind aclrtCreateContext");
}
void ThreadHasNone(Case& at) {
  Place p(at);
  InThread([&] {
    acl::Context current = nullptr;
    at.Refused(p.f.aclrtGetCurrentContext(&current), "aclrtGetCurrentContext in a new thread");
  });
}
void ThreadWorksInNone(Case& at) {
  Place p(at);
  InThread([&] {
    acl::Stream stream = nullptr;
    at.Refused(p.f.aclrtCreateStream(&stream), "aclrtCreateStream in a thread without a context",
               acl::kNoContext);
  });
}
void ThreadTakesContext(Case& at) {
  Place p(at);
  InThread([&] {
    Set(p, p.context);
    (void)p.Block(64);
    at.Ok(p.f.aclrtSynchronizeStream(p.stream), "aclrtSynchronizeStream in another thread");
  });
}
void ContextsOfThreadsApart(Case& at) {
  Place p(at);
  const acl::Context other = OtherContext(p);
  Set(p, p.context);
  InThread([&] { Set(p, other); });
  Case::Need(CurrentOf(p) == p.context, "another thread's choice changed this thread's context");
}
void PutBack(Case& at) {
  Place p(at);
  const acl::Context other = OtherContext(p);
  Case::Need(CurrentOf(p) == other, "the newest context is not current");
  Set(p, p.context);
  Case::Need(CurrentOf(p) == p.context, "the former context is not current");
  p.Wait();
}
void DestroyedContext(Case& at) {
  Place p(at);
  const acl::Context other = OtherContext(p);
  at.Ok(p.f.aclrtDestroyContext(other), "aclrtDestroyContext");
  at.Refused(p.f.aclrtSetCurrentContext(other), "aclrtSetCurrentContext of a destroyed context");
}
void StreamOfOther(Case& at) {
  Place p(at);
  (void)OtherContext(p);
  at.Refused(p.f.aclrtSynchronizeStream(p.stream),
             "aclrtSynchronizeStream of another context's stream", acl::kOtherContext);
}
void EventOfOther(Case& at) {
  Place p(at);
  const acl::Event event = p.Event();
  (void)OtherContext(p);
  at.Refused(p.f.aclrtRecordEvent(event, p.Stream()),
             "aclrtRecordEvent of another context's event");
}
void WaitForOther(Case& at) {
  Place p(at);
  const acl::Event event = p.Event();
  at.Ok(p.f.aclrtRecordEvent(event, p.stream), "aclrtRecordEvent");
  (void)OtherContext(p);
  const acl::Stream stream = p.Stream();
  at.Ok(p.f.aclrtStreamWaitEvent(stream, event), "aclrtStreamWaitEvent of another context's event");
  at.Ok(p.f.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
}

// ---- what is told, and when --------------------------------------------------------------------

void TextOfFailure(Case& at) {
  Place p(at);
  if (p.f.aclGetRecentErrMsg == nullptr) Case::Skip("the library has no aclGetRecentErrMsg");
  at.Refused(p.f.aclrtMemcpy(nullptr, 4, nullptr, 4, acl::kHostToDevice), "a copy to null");
  const char* text = p.f.aclGetRecentErrMsg();
  Case::Need(text != nullptr && *text != 0, "aclGetRecentErrMsg has no text of a refused call");
}
void NullResult(Case& at) {
  Place p(at);
  at.Refused(p.f.aclrtMalloc(nullptr, 64, acl::kHugeFirst), "aclrtMalloc to a null place");
}
// An index that is out of range is seen by the work alone.
void LateError(Case& at) {
  Desk d(at);
  const Operand table = d.In({4, 3}, acl::kF32);
  const Operand index = d.In({2}, acl::kI64, Values{1, 1000000});
  const Operand out = d.Out({2, 3}, acl::kF32);
  uint64_t bytes = 0;
  acl::Executor* executor = nullptr;
  acl::Status s = d.First(d.op.IndexSelect, &bytes, &executor, table, 0, index, out);
  at.Ok(s, "aclnnIndexSelectGetWorkspaceSize");
  s = d.op.IndexSelect.second(bytes == 0 ? nullptr : d.Block(bytes), bytes, executor, d.stream);
  at.Ok(s, "aclnnIndexSelect");
  at.Refused(d.f.aclrtSynchronizeStream(d.stream), "aclrtSynchronizeStream behind failing work");
  const auto recent = d.f.aclGetRecentErrMsg;
  const char* text = recent == nullptr ? "" : recent();
  Case::Need(recent == nullptr || (text != nullptr && *text != 0),
             "there is no text of the failure");
}

// ---- peers -------------------------------------------------------------------------------------

// A second device's context, reached from the first one's.
acl::Context Peer(Place& p) {
  if (CountOf(p.at) < 2) Case::Skip("there is one device");
  if (p.f.aclrtDeviceCanAccessPeer == nullptr || p.f.aclrtDeviceEnablePeerAccess == nullptr) {
    Case::Skip("the library has no access to peers");
  }
  int32_t can = 0;
  p.at.Ok(p.f.aclrtDeviceCanAccessPeer(&can, 0, 1), "aclrtDeviceCanAccessPeer");
  if (can == 0) Case::Skip("device 0 can't reach device 1");
  acl::Context other = nullptr;
  p.at.Ok(p.f.aclrtCreateContext(&other, 1), "aclrtCreateContext of device 1");
  return other;
}
void PeerAsked(Case& at) {
  Place p(at);
  (void)Peer(p);
}
void PeerCopies(Case& at) {
  Place p(at);
  const acl::Context other = Peer(p);
  at.Ok(p.f.aclrtDeviceEnablePeerAccess(0, 0), "aclrtDeviceEnablePeerAccess from device 1");
  const std::vector<unsigned char> bytes(1000, 7);
  void* there = p.Block(bytes.size());
  p.Up(there, bytes.data(), bytes.size());
  Set(p, p.context);
  at.Ok(p.f.aclrtDeviceEnablePeerAccess(1, 0), "aclrtDeviceEnablePeerAccess from device 0");
  void* here = p.Block(bytes.size());
  at.Ok(
      p.f.aclrtMemcpyAsync(here, bytes.size(), there, bytes.size(), acl::kDeviceToDevice, p.stream),
      "aclrtMemcpyAsync between devices");
  p.Wait();
  Case::Need(p.Down(here, bytes.size()) == bytes, "other bytes came from the other device");
  Set(p, other);
}

}  // namespace

std::vector<Check> DeviceChecks() {
  return {
      {"init", "rule:init-once", "aclInit(null) initializes the library.", Init},
      {"init-twice", "rule:init-once", "A second aclInit answers 100002, which is no failure.",
       InitTwice},
      {"init-first", "rule:init-once", "A context is refused before aclInit.", InitFirst},
      {"device-count", "rule:where", "There is a device.", DeviceCount},
      {"device-known", "rule:context-per-thread", "A device beyond the count is refused.",
       DeviceKnown},
      {"chip-known", "rule:soc-unknown", "The chip is one that the engine knows.", ChipNamed},
      {"context-current", "rule:context-per-thread",
       "A context that is made is the thread's current one.", ContextCurrent},
      {"context-none", "rule:context-per-thread",
       "A new thread has no current context, and asking says so.", ThreadHasNone},
      {"context-needed", "rule:context-per-thread", "A thread without a context gets 107002.",
       ThreadWorksInNone},
      {"context-taken", "rule:context-per-thread",
       "Another thread works in a context that it sets.", ThreadTakesContext},
      {"context-apart", "rule:context-per-thread", "A thread's choice of a context is its own.",
       ContextsOfThreadsApart},
      {"context-put-back", "rule:context-put-back",
       "A former context is current again once it is set.", PutBack},
      {"context-destroyed", "rule:own-context-objects", "A destroyed context can't be set.",
       DestroyedContext},
      {"context-of-stream", "rule:own-context-objects",
       "A stream of another context is refused with 107003.", StreamOfOther},
      {"context-of-event", "rule:own-context-objects", "An event of another context is refused.",
       EventOfOther},
      {"context-of-wait", "rule:own-context-objects",
       "A stream may wait for an event of another context.", WaitForOther},
      {"error-text", "rule:late-errors", "A refused call leaves a text.", TextOfFailure},
      {"error-null", "rule:late-errors", "A null place of a result is refused.", NullResult},
      {"error-late", "rule:late-errors", "Work that fails shows at a later call, with a text.",
       LateError},
      {"peer-asked", "rule:peer", "Whether a device reaches another is answered.", PeerAsked},
      {"peer-copies", "rule:peer", "With access from both sides bytes go between devices.",
       PeerCopies},
  };
}

}  // namespace ascend_check

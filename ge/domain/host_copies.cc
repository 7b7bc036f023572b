#include "ge/domain/host_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>

#include "ge/domain/device_wait.h"

namespace ge {

// What a copy in flight must find as it was.
struct KeptCopy {
  const HostCopies* of = nullptr;
  std::shared_ptr<const void> engine, used;  // in the order in which they may be freed last
  HostCopies::Lane lane;

  KeptCopy() = default;
  KeptCopy(const KeptCopy&) = delete;
  KeptCopy& operator=(const KeptCopy&) = delete;
  ~KeptCopy() {
    if (of != nullptr) of->Destroy(lane);
    used.reset();
  }
  bool Ended() const {
    ge_err ignored{};
    ignored.h = GE_HDR(ge_err, GE_TAG_ERR);
    return of->of_.api->event_wait(lane.event, lane.value, 0, &ignored) != GE_PENDING;
  }
};

namespace {

// Never destroyed: at the process's end devices may still be at work.
struct AllKept {
  std::mutex mutex;
  std::list<KeptCopy> copies;
};

AllKept& TheKeptCopies() {
  static AllKept* const kept = new AllKept;
  return *kept;
}

std::atomic<uint64_t> g_kept_copies{0};  // so that nobody locks where there are none

void KeepCopy(std::list<KeptCopy>* one) {
  AllKept& kept = TheKeptCopies();
  const std::lock_guard<std::mutex> lock(kept.mutex);
  kept.copies.splice(kept.copies.end(), *one);  // allocates nothing
  g_kept_copies.store(kept.copies.size(), std::memory_order_relaxed);
}

}  // namespace

uint64_t KeptCopies() {
  if (g_kept_copies.load(std::memory_order_relaxed) == 0) return 0;
  std::list<KeptCopy> ended;  // freed without the lock
  AllKept& kept = TheKeptCopies();
  const std::lock_guard<std::mutex> lock(kept.mutex);
  for (auto it = kept.copies.begin(); it != kept.copies.end();) {
    const auto next = std::next(it);
    if (it->Ended()) ended.splice(ended.end(), kept.copies, it);
    it = next;
  }
  g_kept_copies.store(kept.copies.size(), std::memory_order_relaxed);
  return kept.copies.size();
}

HostCopies::~HostCopies() {
  for (const Lane& lane : free_) Destroy(lane);
}

void HostCopies::Destroy(const Lane& lane) const {
  if (lane.stream != nullptr) of_.api->stream_destroy(lane.stream);
  if (lane.event != nullptr) of_.api->event_destroy(lane.event);
}

ge_rc HostCopies::Take(Lane* lane, ge_err* err) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      *lane = free_.back();
      free_.pop_back();
      return GE_OK;
    }
  }
  ge_rc rc = of_.api->stream_create(of_.engine, of_.device, &lane->stream, err);
  if (rc == GE_OK) rc = of_.api->event_create(of_.engine, of_.device, &lane->event, err);
  if (rc != GE_OK) Destroy(*lane);
  return rc;
}

// A stream may answer its first failure for good.
void HostCopies::Give(const Lane& lane, ge_rc rc) {
  if (rc != GE_OK) return Destroy(lane);
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(lane);
}

ge_rc HostCopies::Copy(const ge_buf& from, const ge_buf& to, std::shared_ptr<const void> used,
                       const Interrupt* call, ge_err* err) {
  ge_copy copy{};
  copy.h = GE_HDR(ge_copy, GE_TAG_COPY);
  copy.src = from;
  copy.dst = to;
  if (!of_.async) return of_.api->copy(of_.engine, &copy, err);
  if (lost_.load(std::memory_order_relaxed)) return Late(err);
  (void)KeptCopies();
  std::list<KeptCopy> one(1);  // all memory that keeping needs
  one.front().engine = of_.keep_engine();
  one.front().used = std::move(used);
  Lane lane;
  if (const ge_rc rc = Take(&lane, err)) return rc;
  copy.stream = lane.stream;
  bool ended = true;
  ge_rc rc = of_.api->copy(of_.engine, &copy, err);
  if (rc == GE_OK) rc = Wait(&lane, call, &ended, err);
  if (ended) {
    Give(lane, rc);
    return rc;
  }
  one.front().lane = lane;
  one.front().of = this;
  KeepCopy(&one);
  return rc != GE_PENDING ? rc : call != nullptr && call->stopped() ? GE_CANCELLED : Late(err);
}

// A failure of a call alone, for want of memory for one, says nothing of the copy: further signals
// ask about it. A wait that fails each time says that it has failed.
ge_rc HostCopies::Wait(Lane* lane, const Interrupt* call, bool* ended, ge_err* err) const {
  constexpr int kTries = 3;
  ge_rc first = GE_OK;  // of a wait
  ge_err later{};
  for (int i = 0; i < kTries; ++i) {
    later.h = GE_HDR(ge_err, GE_TAG_ERR);
    ge_err* const said = first == GE_OK ? err : &later;
    ge_rc rc = of_.api->stream_signal(lane->stream, lane->event, lane->value + 1, said);
    const bool signalled = rc == GE_OK;
    if (signalled) {
      ++lane->value;
      rc = WaitFor(*of_.api, lane->event, lane->value, {of_.limit_ns, kGraceNs, 0, call}, said);
    }
    *ended = rc == GE_OK || IsDeviceFault(rc, *said);
    if (*ended || rc == GE_PENDING) return first == GE_OK ? rc : first;
    if (signalled && first == GE_OK) first = rc;
    *ended = signalled;
  }
  if (*ended) return first;
  ++lane->value;  // nobody signals it: the copy ends with the device
  err->scope = GE_SCOPE_DEVICE;
  return GE_DEVICE_LOST;
}

ge_rc HostCopies::Late(ge_err* err) {
  lost_.store(true, std::memory_order_relaxed);
  const std::string text = fmt::format("the device did not end a copy within {} ms, its time limit",
                                       of_.limit_ns / 1'000'000);
  err->node = UINT32_MAX;
  err->scope = GE_SCOPE_DEVICE;
  err->msg_len = static_cast<uint32_t>(std::min(text.size(), sizeof err->msg));
  std::memcpy(err->msg, text.data(), err->msg_len);
  return GE_DEVICE_LOST;
}

}  // namespace ge

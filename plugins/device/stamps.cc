#include "plugins/device/stamps.h"

#include <algorithm>

#include "ge/ge_plugin.hpp"

namespace ge_engines::device {

HostClock::~HostClock() {
  Device& d = stream_.device();
  if (zero_ != EventHandle::kNone) d.driver().EventDestroy(d.number(), zero_);
}

int64_t HostClock::Now() const {
  if (host_ != nullptr && host_->now_ns != nullptr) {
    return static_cast<int64_t>(host_->now_ns(host_->host));
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

ge_rc HostClock::Set(ge_err* err) {
  Device& d = stream_.device();
  Driver& driver = d.driver();
  if (zero_ == EventHandle::kNone) {
    const Result made = driver.EventCreate(d.number(), true, &zero_);
    if (!made.ok()) return d.Answer(made, "setting the clock", UINT32_MAX, err);
  }
  const int64_t before = Now();
  // A run is timed if that is quick; it does not wait for a device that answers nothing.
  constexpr uint64_t kLongest = 100'000'000;
  const auto record = [&](StreamHandle stream) {
    return driver.EventRecord(d.number(), zero_, stream);
  };
  const ge_rc rc = stream_.Run("setting the clock", err, record, kLongest);
  zero_ns_ = rc == GE_OK ? before + (Now() - before) / 2 : 0;
  return rc;
}

ge_rc HostClock::TimeOf(EventHandle event, int64_t* ns, ge_err* err) {
  // 24 bits of milliseconds tell half a microsecond until then.
  constexpr int64_t kOld = 8'000'000'000;
  Device& d = stream_.device();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (zero_ns_ == 0 || Now() - zero_ns_ > kOld) {
    if (const ge_rc rc = Set(err)) return rc;
  }
  int64_t elapsed = 0;
  const Result result = d.driver().EventElapsed(d.number(), zero_, event, &elapsed);
  if (result.ok()) *ns = zero_ns_ + elapsed;
  return d.Answer(result, "stamps_read", UINT32_MAX, err);
}

}  // namespace ge_engines::device

using ge::plugin::Fail;
using namespace ge_engines::device;

ge_stamps::~ge_stamps() {
  for (const Stamp& s : stamps_) device_.driver().EventDestroy(device_.number(), s.event);
}

ge_rc ge_stamps::Make(uint32_t n, ge_err* err) {
  stamps_.reserve(n);
  for (uint32_t i = 0; i < n; ++i) {
    EventHandle event = EventHandle::kNone;
    const Result result = device_.driver().EventCreate(device_.number(), true, &event);
    if (!result.ok()) return device_.Answer(result, "stamps_create", UINT32_MAX, err);
    stamps_.push_back({event, false});
  }
  return GE_OK;
}

ge_rc ge_stamps::Take(ge_stream* stream, uint32_t index, ge_err* err) {
  if (index >= stamps_.size() || &stream->device != &device_ || stream->capture != nullptr) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "%.40s: stream_stamp %u of %zu on a stream of %s; wanted one of these, on a stream "
                "of the same device outside of captures",
                device_.engine().c_str(), index, stamps_.size(),
                stream->device.facts().name.c_str());
  }
  const Result result =
      device_.driver().EventRecord(device_.number(), stamps_[index].event, stream->handle);
  if (result.ok()) stamps_[index].taken = true;
  return device_.Answer(result, "stream_stamp", UINT32_MAX, err);
}

ge_rc ge_stamps::Read(uint32_t first, uint32_t n, uint64_t* ns, ge_err* err) {
  const uint64_t end = uint64_t{first} + n;
  const auto taken = [](const Stamp& s) { return s.taken; };
  if (end > stamps_.size() ||
      !std::all_of(stamps_.begin() + first, stamps_.begin() + static_cast<ptrdiff_t>(end), taken)) {
    return Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                "%.40s: stamps_read of %u to %llu of %zu: one of them was never taken",
                device_.engine().c_str(), first, static_cast<unsigned long long>(end),
                stamps_.size());
  }
  Driver& driver = device_.driver();
  // Times are told from the oldest place of all, so that differences are the device's own.
  const auto anchor = std::find_if(stamps_.begin(), stamps_.end(), taken);
  int64_t zero = 0;
  for (uint32_t i = first; i < end; ++i) {
    if (i == first) {
      if (const ge_rc rc = clock_.TimeOf(anchor->event, &zero, err)) return rc;
    }
    int64_t elapsed = 0;
    const Result result =
        driver.EventElapsed(device_.number(), anchor->event, stamps_[i].event, &elapsed);
    if (!result.ok()) return device_.Answer(result, "stamps_read", UINT32_MAX, err);
    ns[i - first] = static_cast<uint64_t>(zero + elapsed);
  }
  return GE_OK;
}

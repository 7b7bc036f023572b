#include "plugins/device/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ge/ge_plugin.hpp"

namespace ge_engines::device {
namespace {

using ge::plugin::Fail;
using Clock = std::chrono::steady_clock;

// Each device of each engine has memory of its own to the host: blocks are an engine's.
std::atomic<uint32_t> g_made{0};

ge_rc CodeOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return GE_OK;
    case Outcome::kNotReady:
      return GE_PENDING;
    case Outcome::kOutOfMemory:
      return GE_OUT_OF_MEMORY;
    case Outcome::kUnsupported:
      return GE_UNIMPLEMENTED;
    case Outcome::kLost:
      return GE_DEVICE_LOST;
    case Outcome::kInvalid:
    case Outcome::kFailed:
      return GE_INTERNAL;
  }
  return GE_INTERNAL;
}

}  // namespace

Device::Device(Driver* driver, std::string engine, int number, uint32_t index,
               const DeviceFacts& facts, const Rates& rates, uint64_t bytes)
    : driver_(*driver),
      engine_(std::move(engine)),
      number_(number),
      index_(index),
      facts_(facts),
      rates_(rates) {
  Describe();
  const uint64_t all = facts_.memory_bytes;
  domain_[0].bytes = bytes == 0 ? all : all == 0 ? bytes : std::min(bytes, all);
}

Device::~Device() {
  if (opened()) driver_.Close(number_);
}

void Device::Describe() {
  record_.h = GE_HDR(ge_device, GE_TAG_DEVICE);
  record_.name = ge::plugin::Str(facts_.name);
  std::memcpy(record_.uuid, facts_.uuid, sizeof record_.uuid);
  const uint32_t made = ++g_made;
  for (const uint32_t d : {0u, 1u}) {
    domain_[d].h = GE_HDR(ge_domain, GE_TAG_DOMAIN);
    // A name of this process: the engine, the count of devices made, the domain.
    std::memcpy(domain_[d].id, engine_.data(), std::min<size_t>(engine_.size(), 10));
    domain_[d].id[11] = static_cast<uint8_t>(d + 1);
    std::memcpy(domain_[d].id + 12, &made, sizeof made);
    domain_[d].align = facts_.block_align;
  }
  domain_[0].name = ge::plugin::Str("device");
  domain_[0].flags = GE_MEM_DEVICE_LOCAL;
  domain_[1].name = ge::plugin::Str("pinned");
  domain_[1].flags = GE_MEM_HOST_VISIBLE | GE_MEM_COHERENT | GE_MEM_PINNED;
  record_.domain = domain_;
  record_.n_domain = facts_.pinned ? 2 : 1;
  record_.domain_stride = sizeof domain_[0];
  record_.flags = GE_DEVICE_ASYNC;
  record_.max_streams = facts_.most_streams;
  record_.flops_per_ns = rates_.flops_per_ns;
  record_.bytes_per_ns = rates_.bytes_per_ns;
  record_.timeout_ns = rates_.timeout_ns;
}

void Device::AddLinks(std::vector<ge_link>* links) const {
  const auto add = [&](const uint8_t* from, const uint8_t* to, double bytes_per_ns) {
    ge_link l = {};
    l.h = GE_HDR(ge_link, GE_TAG_LINK);
    if (from != nullptr) std::memcpy(l.from, from, sizeof l.from);
    if (to != nullptr) std::memcpy(l.to, to, sizeof l.to);
    l.latency_ns = static_cast<uint64_t>(rates_.copy_ns);
    l.bytes_per_ns = bytes_per_ns;
    links->push_back(l);
  };
  add(nullptr, id(), rates_.pageable_bytes_per_ns);
  add(id(), nullptr, rates_.pageable_bytes_per_ns);
  if (!facts_.pinned) return;
  add(domain_[1].id, id(), rates_.pinned_bytes_per_ns);
  add(id(), domain_[1].id, rates_.pinned_bytes_per_ns);
}

// ---- faults ------------------------------------------------------------------------------------

ge_rc Device::Fault(ge_err* err) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (err == nullptr) return fault_.code;
  const ge_hdr h = err->h;
  *err = fault_;
  err->h = h;
  return fault_.code;
}

ge_rc Device::Open(ge_err* err) {
  Result result;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (opened()) return GE_OK;
    result = driver_.Open(number_);
    if (result.ok()) opened_.store(true, std::memory_order_release);
  }
  return Answer(result, "opening it", UINT32_MAX, err);
}

ge_rc Device::Ready(ge_err* err) {
  if (faulty()) return Fault(err);
  return opened() ? static_cast<ge_rc>(GE_OK) : Open(err);
}

ge_rc Device::Answer(Result result, const char* what, uint32_t node, ge_err* err) {
  if (result.ok()) return GE_OK;
  if (faulty()) return Fault(err);  // the first one says why
  ge_err said = {};
  const std::string text = driver_.ErrorText(result);
  const ge_rc rc = Fail(&said, CodeOf(result.outcome), node, "%.40s: device '%.40s': %s: %.300s",
                        engine_.c_str(), facts_.name.c_str(), what, text.c_str());
  said.vendor_code = static_cast<uint32_t>(result.vendor_code);
  if (result.outcome == Outcome::kFailed || result.outcome == Outcome::kLost) {
    Keep(said);
    return Fault(err);
  }
  if (err != nullptr) {
    said.h = err->h;
    *err = said;
  }
  return rc;
}

void Device::Keep(const ge_err& fault) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (faulty_.load(std::memory_order_relaxed)) return;
  fault_ = fault;
  fault_.scope = GE_SCOPE_DEVICE;
  faulty_.store(true, std::memory_order_release);
}

ge_rc Device::Silent(uint64_t ns, const char* what, ge_err* err) {
  ge_err said = {};
  Fail(&said, GE_DEVICE_LOST, UINT32_MAX,
       "%.40s: device '%.40s': %s: no answer for %llu ms, and so it is taken for lost",
       engine_.c_str(), facts_.name.c_str(), what, static_cast<unsigned long long>(ns / 1000000));
  Keep(said);
  return Fault(err);
}

ge_rc Device::Unknown(Result result, const char* what, ge_err* err) {
  ge_err said = {};
  (void)Answer(result, what, UINT32_MAX, &said);
  said.code = GE_INTERNAL;
  Keep(said);
  return Fault(err);
}

ge_rc Device::OpenPeer(const Device& other, ge_err* err) {
  Result result;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::find(peers_.begin(), peers_.end(), other.number()) != peers_.end()) return GE_OK;
    result = driver_.OpenPeer(number_, other.number());
    if (result.ok()) peers_.push_back(other.number());
  }
  return Answer(result, "reaching another device", UINT32_MAX, err);
}

// ---- memory ------------------------------------------------------------------------------------

ge_rc Device::Alloc(Home home, uint64_t bytes, void** block, ge_err* err) {
  if (home == Home::kPinned) {
    return Answer(driver_.PinnedAlloc(number_, bytes, block), "a pinned block", UINT32_MAX, err);
  }
  const uint64_t limit = domain_[0].bytes, used = used_.fetch_add(bytes);
  if (limit != 0 && (bytes > limit || used > limit - bytes)) {
    used_.fetch_sub(bytes);
    return Fail(err, GE_OUT_OF_MEMORY, UINT32_MAX,
                "%.40s: device '%.40s': %llu bytes are wanted, %llu of %llu are left; the option "
                "memory= sets the limit, up to what the device has",
                engine_.c_str(), facts_.name.c_str(), static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(limit - std::min(used, limit)),
                static_cast<unsigned long long>(limit));
  }
  const Result result = driver_.Alloc(number_, bytes, block);
  if (!result.ok()) used_.fetch_sub(bytes);
  return Answer(result, "a block of its memory", UINT32_MAX, err);
}

void Device::Free(Home home, uint64_t bytes, void* block) {
  if (home == Home::kPinned) return driver_.PinnedFree(number_, block);
  driver_.Free(number_, block);
  used_.fetch_sub(bytes);
}

// ---- waits -------------------------------------------------------------------------------------

uint64_t Device::WaitNs() const { return rates_.timeout_ns == 0 ? UINT64_MAX : rates_.timeout_ns; }

Pause::Pause(Driver& driver, uint64_t timeout_ns)
    : driver_(driver), timeout_ns_(timeout_ns), start_(Clock::now()) {}

bool Pause::Once() {
  // Short work is met without sleeping; later an event is asked for some 10,000 times a second.
  constexpr int kSpins = 64;
  constexpr uint64_t kLongestRest = 100000;
  if (timeout_ns_ == 0) return false;
  const auto past = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count());
  if (past >= timeout_ns_) return false;
  if (spins_ < kSpins) return ++spins_, true;
  driver_.Rest(std::min(rest_ns_, timeout_ns_ - past));
  rest_ns_ = std::min(2 * rest_ns_, kLongestRest);
  return true;
}

}  // namespace ge_engines::device

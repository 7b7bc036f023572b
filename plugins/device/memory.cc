#include "plugins/device/memory.h"

#include <algorithm>
#include <memory>

#include "ge/ge_plugin.hpp"

namespace ge_engines::device {

using ge::plugin::Fail;

// ---- blocks ------------------------------------------------------------------------------------

ge_rc AllocBlock(Device* device, Home home, uint64_t bytes, uint64_t align, ge_mem** out,
                 void** address, ge_err* err) {
  const uint64_t own = std::max<uint64_t>(1, device->facts().block_align);
  if ((align & (align - 1)) != 0) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "%.40s: mem_alloc aligned to %llu, wanted a power of two", device->engine().c_str(),
                static_cast<unsigned long long>(align));
  }
  const uint64_t wanted = std::max(align, own);
  const uint64_t given = std::max<uint64_t>(1, device->facts().address_align);
  const uint64_t more = wanted > given ? wanted - given : 0;
  constexpr uint64_t kMost = uint64_t{1} << 62;
  if (bytes > kMost || more > kMost) {
    return Fail(err, GE_OUT_OF_MEMORY, UINT32_MAX, "%.40s: mem_alloc of %llu bytes",
                device->engine().c_str(), static_cast<unsigned long long>(bytes));
  }
  auto mem = std::make_unique<ge_mem>();
  mem->device = device;
  mem->home = home;
  mem->bytes = bytes;
  mem->taken = (std::max<uint64_t>(bytes, 1) + more + own - 1) / own * own;
  if (const ge_rc rc = device->Alloc(home, mem->taken, &mem->block, err)) return rc;
  auto at = reinterpret_cast<uintptr_t>(mem->block);
  at = (at + wanted - 1) / wanted * wanted;
  mem->address = reinterpret_cast<char*>(at);
  *address = mem->address;
  *out = mem.release();
  return GE_OK;
}

void FreeBlock(ge_mem* mem) {
  if (mem == nullptr) return;
  mem->device->Free(mem->home, mem->taken, mem->block);
  delete mem;
}

const char* FaultOf(const ge_buf& buf) {
  const ge_mem& m = *buf.mem;
  if (buf.offset > m.bytes || buf.bytes > m.bytes - buf.offset) return "leaves its block";
  if (buf.ptr != m.address + buf.offset) return "has an address that is not its block's";
  return nullptr;
}

// ---- work that its caller waits for ------------------------------------------------------------

OwnStream::~OwnStream() {
  Driver& driver = device_.driver();
  if (event_ != EventHandle::kNone) driver.EventDestroy(device_.number(), event_);
  if (stream_ != StreamHandle::kNone) driver.StreamDestroy(device_.number(), stream_);
}

ge_rc OwnStream::Open(const char* what, ge_err* err) {
  Driver& driver = device_.driver();
  Result result;
  if (stream_ == StreamHandle::kNone) result = driver.StreamCreate(device_.number(), &stream_);
  if (result.ok() && event_ == EventHandle::kNone) {
    result = driver.EventCreate(device_.number(), false, &event_);
  }
  return device_.Answer(result, what, UINT32_MAX, err);
}

ge_rc OwnStream::Finish(const char* what, uint64_t longest_ns, ge_err* err) {
  // What is queued must be over before its caller frees anything: a failure of the call alone, such
  // as a lack of memory, does not end that.
  constexpr int kTries = 3;
  Driver& driver = device_.driver();
  const uint64_t limit = device_.WaitNs();
  Result result;
  for (int k = 0; k < kTries; ++k) {
    result = driver.EventRecord(device_.number(), event_, stream_);
    if (result.ok() || device_.faulty()) break;
  }
  if (!result.ok()) return device_.Unknown(result, what, err);
  const auto of_the_call = [](const Result& r) {
    return r.outcome == Outcome::kOutOfMemory || r.outcome == Outcome::kInvalid;
  };
  int tries = kTries;
  result = device_.Poll(std::min(limit, longest_ns), [&] {
    const Result asked = driver.EventQuery(device_.number(), event_);
    return of_the_call(asked) && --tries > 0 ? Result{Outcome::kNotReady, 0} : asked;
  });
  if (result.outcome == Outcome::kNotReady && longest_ns < limit) {
    return Fail(err, GE_DEADLINE, UINT32_MAX, "%.40s: device '%.40s': %s: no answer for %llu ms",
                device_.engine().c_str(), device_.facts().name.c_str(), what,
                static_cast<unsigned long long>(longest_ns / 1000000));
  }
  if (result.outcome == Outcome::kNotReady) return device_.Silent(limit, what, err);
  if (of_the_call(result)) return device_.Unknown(result, what, err);
  return device_.Answer(result, what, UINT32_MAX, err);
}

// ---- copies ------------------------------------------------------------------------------------

ge_rc CheckCopy(const ge_copy& copy, const char* engine, CheckedCopy* out, ge_err* err) {
  if (copy.src.bytes != copy.dst.bytes || copy.src.layout != copy.dst.layout) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "%.40s: a copy of %llu bytes in layout %u to %llu bytes in layout %u; wanted equal "
                "ones",
                engine, static_cast<unsigned long long>(copy.src.bytes), copy.src.layout,
                static_cast<unsigned long long>(copy.dst.bytes), copy.dst.layout);
  }
  for (const ge_buf* buf : {&copy.src, &copy.dst}) {
    const char* fault = buf->mem != nullptr                      ? FaultOf(*buf)
                        : buf->bytes != 0 && buf->ptr == nullptr ? "has no address"
                                                                 : nullptr;
    if (fault == nullptr) continue;
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "%.40s: the %s of a copy %s", engine,
                buf == &copy.src ? "source" : "target", fault);
  }
  const auto device_of = [](const ge_buf& buf) {
    return buf.mem != nullptr && buf.mem->home == Home::kDevice ? buf.mem->device : nullptr;
  };
  *out = {copy.dst.ptr, copy.src.ptr, copy.src.bytes, device_of(copy.dst), device_of(copy.src)};
  return GE_OK;
}

Result QueueCopy(const CheckedCopy& copy, Device* device, StreamHandle stream) {
  Driver& driver = device->driver();
  const bool peers = copy.to_device != nullptr && copy.from_device != nullptr &&
                     copy.to_device != copy.from_device;
  if (!peers) return driver.Copy(device->number(), stream, copy.to, copy.from, copy.bytes);
  return driver.PeerCopy(device->number(), stream, copy.to_device->number(), copy.to,
                         copy.from_device->number(), copy.from, copy.bytes);
}

}  // namespace ge_engines::device

#include "memory.h"

#include <sys/mman.h>

#include <cstring>
#include <memory>

#include "ge/ge_plugin.hpp"

namespace devsim {
namespace {

using ge::plugin::Fail;

constexpr uint64_t kMostBytes = uint64_t{1} << 46;
// New memory is full of this: a read before the first write gives large wrong numbers, which do
// not compare equal to anything a graph computes.
constexpr int kGarbage = 0xcb;

void* Map(uint64_t bytes, int protection) {
  void* p = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

char* Aligned(void* p, uint64_t align) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(p);
  return reinterpret_cast<char*>((at + align - 1) / align * align);
}

void Unmap(ge_mem* mem) {
  if (mem->device_map) munmap(mem->device_map, mem->mapped);
  if (mem->shadow_map) munmap(mem->shadow_map, mem->mapped);
  delete mem;
}

// A place to point to for tensors without bytes.
alignas(64) char g_nothing[64];

}  // namespace

Memory::~Memory() {
  for (ge_mem* mem : blocks_) Unmap(mem);
}

ge_rc Memory::Count(uint32_t device, uint64_t bytes, ge_err* err) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (limit_ != 0 && bytes > limit_ - held_[device]) {
    return Fail(err, GE_OUT_OF_MEMORY, UINT32_MAX,
                "devsim: a block of %llu bytes where %llu of %llu are taken (option memory)",
                static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(held_[device]),
                static_cast<unsigned long long>(limit_));
  }
  held_[device] += bytes;
  return GE_OK;
}

ge_rc Memory::Alloc(uint32_t device, uint64_t bytes, uint64_t align, bool pinned, ge_mem** out,
                    void** address, ge_err* err) {
  if (align == 0) align = 64;
  if ((align & (align - 1)) != 0 || align > kMostBytes || bytes > kMostBytes ||
      device >= kMostDevices) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "devsim: a block of %llu bytes aligned to %llu; wanted at most 2^46 bytes and a "
                "power of two",
                static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(align));
  }
  if (!pinned) {
    if (const ge_rc rc = Count(device, bytes, err)) return rc;
  }
  auto mem = std::make_unique<ge_mem>();
  mem->of_device = device;
  mem->bytes = bytes;
  mem->mapped = bytes + align;
  mem->pinned = pinned;
  if (!pinned) mem->device_map = Map(mem->mapped, PROT_NONE);
  mem->shadow_map = Map(mem->mapped, PROT_READ | PROT_WRITE);
  if ((!pinned && !mem->device_map) || !mem->shadow_map) {
    Unmap(mem.release());
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!pinned) held_[device] -= bytes;
    return Fail(err, GE_OUT_OF_MEMORY, UINT32_MAX, "devsim: no memory for a block of %llu bytes",
                static_cast<unsigned long long>(bytes));
  }
  mem->shadow = Aligned(mem->shadow_map, align);
  mem->device = pinned ? mem->shadow : Aligned(mem->device_map, align);
  if (pinned) ++pinned_blocks_;
  std::memset(mem->shadow, kGarbage, bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  blocks_.insert(mem.get());
  *address = mem->device;
  *out = mem.release();
  return GE_OK;
}

void Memory::Free(ge_mem* mem) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (blocks_.erase(mem) == 0) return;
    if (!mem->pinned) held_[mem->of_device] -= mem->bytes;
  }
  Unmap(mem);
}

ge_rc Memory::Translate(const ge_buf& buf, uint32_t device, const char* what, void** out,
                        ge_err* err) const {
  *out = g_nothing;
  if (buf.bytes == 0) return GE_OK;
  if (buf.mem == nullptr) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "devsim: %s lies at host address %p; wanted memory of this device, from mem_alloc",
                what, buf.ptr);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (blocks_.count(buf.mem) == 0 || buf.mem->pinned ||
      (device != kAnyDevice && buf.mem->of_device != device)) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "devsim: %s names a block that this device does not have", what);
  }
  if (buf.offset > buf.mem->bytes || buf.bytes > buf.mem->bytes - buf.offset) {
    return Fail(err, GE_OUT_OF_RANGE, UINT32_MAX,
                "devsim: %s spans bytes %llu to %llu of a block of %llu", what,
                static_cast<unsigned long long>(buf.offset),
                static_cast<unsigned long long>(buf.offset + buf.bytes),
                static_cast<unsigned long long>(buf.mem->bytes));
  }
  if (buf.ptr != buf.mem->device + buf.offset) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                "devsim: %s says address %p, but offset %llu of its block is at %p", what, buf.ptr,
                static_cast<unsigned long long>(buf.offset),
                static_cast<void*>(buf.mem->device + buf.offset));
  }
  *out = buf.mem->shadow + buf.offset;
  return GE_OK;
}

}  // namespace devsim

// Memory: the devices' memory. A block has two mappings: the device address, known to everybody (a
// read or write there faults, as on a real device), and a shadow with the bytes, used by the
// worker threads alone. Plain pages simulate page-locked host memory, if it is offered.
// Thread-safe.
#ifndef GE_SAMPLES_DEVSIM_MEMORY_H_
#define GE_SAMPLES_DEVSIM_MEMORY_H_

#include <atomic>
#include <mutex>
#include <set>

#include "ge/ge_plugin.h"
#include "options.h"

struct ge_mem {
  char* device = nullptr;
  char* shadow = nullptr;
  uint32_t of_device = 0;
  bool pinned = false;  // host memory: one mapping, which everybody may touch
  void* device_map = nullptr;
  void* shadow_map = nullptr;
  uint64_t bytes = 0, mapped = 0;
};

namespace devsim {

class Memory {
 public:
  ~Memory();
  ge_rc Alloc(uint32_t device, uint64_t bytes, uint64_t align, bool pinned, ge_mem** out,
              void** address, ge_err* err);
  // Of each device; 0 = none. Before the first block.
  void SetLimit(uint64_t bytes) { limit_ = bytes; }
  uint64_t pinned_blocks() const { return pinned_blocks_; }  // given so far
  void Free(ge_mem* mem);
  // The shadow address of a buffer in a block of this device, or of any; `what` names it in
  // messages.
  static constexpr uint32_t kAnyDevice = UINT32_MAX;
  ge_rc Translate(const ge_buf& buf, uint32_t device, const char* what, void** out,
                  ge_err* err) const;

 private:
  // Adds to what the device holds; GE_OUT_OF_MEMORY beyond the limit.
  ge_rc Count(uint32_t device, uint64_t bytes, ge_err* err);

  mutable std::mutex mutex_;
  std::set<ge_mem*> blocks_;
  uint64_t limit_ = 0, held_[kMostDevices] = {};  // bytes of each device
  std::atomic<uint64_t> pinned_blocks_{0};
};

}  // namespace devsim
#endif  // GE_SAMPLES_DEVSIM_MEMORY_H_

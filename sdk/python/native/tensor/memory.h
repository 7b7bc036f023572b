// Memory: bytes that Tensors and arrays over them share. Any thread may call, with the GIL or
// without it; a Memory that holds a Python object takes the GIL to let it go.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "ge/ge.h"

namespace graphengine {

struct Memory {
  std::atomic<uint32_t> owners;
  uint32_t pool;  // of our own blocks: the list that it goes back to
  void* data;
  uint64_t bytes;  // that data holds
  void (*release)(void* context);
  void* context;
};

// A block of at least `bytes` bytes, aligned to 64, its content not defined. Null where there is
// no memory.
Memory* NewMemory(uint64_t bytes);
// Memory of somebody else's; `release` is called with `context` when nobody has it any more. Null
// where there is no memory.
Memory* NewMemory(void* data, uint64_t bytes, void (*release)(void* context), void* context);
void FreeMemory(Memory* memory);  // of the last owner

// Owns a share of a Memory.
class MemoryRef {
 public:
  MemoryRef() = default;
  explicit MemoryRef(Memory* taken) : memory_(taken) {}
  MemoryRef(const MemoryRef& other) : memory_(other.memory_) {
    if (memory_) memory_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  MemoryRef(MemoryRef&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  MemoryRef& operator=(MemoryRef other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~MemoryRef() {
    if (memory_ && memory_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      FreeMemory(memory_);
    }
  }
  Memory* get() const { return memory_; }
  void* data() const { return memory_->data; }
  Memory* release() { return std::exchange(memory_, nullptr); }
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  Memory* memory_ = nullptr;
};

}  // namespace graphengine

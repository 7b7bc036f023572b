// Blocks of memory at least as aligned as a cache line. Owned by whoever holds the pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ge {

struct FreeAligned {
  void operator()(void* memory) const;
};
using AlignedBytes = std::unique_ptr<std::byte, FreeAligned>;
// Null when there is no memory.
AlignedBytes AllocateAligned(uint64_t bytes, uint64_t align);
// The same for contents that others may share, aligned to 64 bytes. Large ones have pages of their
// own, which go back to the system with them: free() keeps what lies below a block that lives on.
std::shared_ptr<std::byte> AllocateShared(uint64_t bytes);
// How much a block of AllocateAligned holds: what was asked for, or more.
uint64_t CapacityOf(void* block);

}  // namespace ge

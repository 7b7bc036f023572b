// Blocks of memory at least as aligned as a cache line. The holder of the pointer owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ge {

struct FreeAligned {
  void operator()(void* memory) const;
};
using AlignedBytes = std::unique_ptr<std::byte, FreeAligned>;
// Null when memory is short.
AlignedBytes AllocateAligned(uint64_t bytes, uint64_t align);
// The same for contents that several owners may share, aligned to 64 bytes. A large block has pages
// of its own and gives them back to the system; free() would keep pages below a block in use.
std::shared_ptr<std::byte> AllocateShared(uint64_t bytes);
// Bytes of a block of AllocateAligned: the size asked for, or more.
uint64_t CapacityOf(void* block);

}  // namespace ge

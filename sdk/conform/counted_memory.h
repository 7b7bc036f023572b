// Counts what the process allocates, the plugin's share included: malloc and its siblings are
// ge-conform's own and hand on to the C library. Off (IsCounting() is false) in sanitizer builds,
// which bring their own. Threads: any.
#pragma once

#include <cstdint>

namespace ge::conform {

bool IsCounting();
// Bytes that are allocated now, as the allocator rounds them.
int64_t LiveBytes();
// Allocations so far of the calling thread, and of all.
uint64_t AllocationsHere();
uint64_t Allocations();
// From now on the n-th allocation of the calling thread fails, once; 0 = none does.
void FailAllocation(uint64_t n);

}  // namespace ge::conform

// Counts what the process allocates, the plugin's share included: malloc and its siblings are
// ge-conform's own and hand on to the C library. Off (IsCounting() is false) in sanitizer builds,
// which bring their own. Threads: any.
#pragma once

#include <cstdint>

namespace ge::conform {

bool IsCounting();
// Bytes that are allocated now, as the allocator rounds them.
int64_t LiveBytes();
// Allocations so far of the calling thread.
uint64_t AllocationsHere();

// The shared object that holds `address` is watched from now on: what its own code allocates is
// told from what the libraries that it calls do, and only what is its own is made to fail.
void WatchObject(const void* address);
// What the watched object's code, in any thread, and everything else in this thread allocated
// between the calls.
struct Watched {
  uint64_t own = 0, others = 0;
};
void BeginWatch();
Watched EndWatch();
// From now on the n-th allocation of the watched object's code in this thread fails, once; 0 = none
// does. Answers how many there were since the last call.
uint64_t FailAllocation(uint64_t n);

}  // namespace ge::conform

// Counts the allocations of the process, the plugin's included: ge-conform defines malloc and its
// siblings and forwards to the C library. Off (IsCounting() is false) in sanitizer builds: these
// bring their own malloc. Any thread.
#pragma once

#include <cstdint>

namespace ge::conform {

bool IsCounting();
// Bytes allocated now, as the allocator rounds them.
int64_t LiveBytes();
// Allocations so far of the calling thread.
uint64_t AllocationsHere();

// Watches the shared object that contains `address` from now on. Its own allocations are counted
// apart from those of the libraries it calls, and FailAllocation makes its own fail alone.
void WatchObject(const void* address);
// Allocations between the calls: those of the watched object's code in any thread, and all others
// of this thread.
struct Watched {
  uint64_t own = 0, others = 0;
};
void BeginWatch();
Watched EndWatch();
// Fails the n-th allocation from now on of the watched object's code in this thread, once; 0 =
// none. Returns their number since the last call.
uint64_t FailAllocation(uint64_t n);

}  // namespace ge::conform

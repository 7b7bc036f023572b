// Counts what this program and the plugins that it loads take from operator new, so that a test can
// say "the hot path allocates nothing". Not a profiler: C allocations of libraries are not seen.
// Counts are per thread. Under a sanitizer, which brings its own operator new, Counting() is false
// and counts stay zero.
#pragma once

#include <cstdint>

namespace ge {

bool AllocationCounting();
uint64_t AllocationCount();  // calls of operator new by this thread so far

}  // namespace ge

// Counts calls of operator new by this program and its plugins, so that a test can say "the hot
// path allocates nothing". Not a profiler: it does not see C allocations of libraries. Counts are
// per thread. Sanitizers bring their own operator new: under one Counting() is false and counts
// stay zero.
#pragma once

#include <cstdint>

namespace ge {

bool AllocationCounting();
uint64_t AllocationCount();  // calls of operator new by this thread so far

}  // namespace ge

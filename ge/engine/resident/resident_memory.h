// Host memory for residents: large blocks share chunks of huge pages, since weights read through
// small ones cost a virtual machine a third of its speed (docs/decisions/0006-pages.md).
#pragma once

#include <cstdint>
#include <memory>

namespace ge {

// `align` is a power of two. Not initialised. Null when memory is short. A freed block gives its
// whole pages back to the system at once.
std::shared_ptr<void> AllocateResident(uint64_t bytes, uint64_t align);

}  // namespace ge

// Identifies a loaded shared object by its build id, a digest of its contents written by the
// linker. Reading it costs nothing; a digest of the file would cost 10 ms a MB at every start.
#pragma once

#include <string>

namespace ge {

// Lower-case hex of the object that holds `address`; empty when it has no build id.
std::string BuildIdAt(const void* address);

}  // namespace ge

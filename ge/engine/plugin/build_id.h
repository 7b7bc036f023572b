// What identifies a loaded shared object: the build id that its linker wrote, a digest of its
// contents. Reading it costs nothing; a digest of the file would cost 10 ms a MB at every start.
#pragma once

#include <string>

namespace ge {

// Lower-case hex of the object that holds `address`; empty when it has no build id.
std::string BuildIdAt(const void* address);

}  // namespace ge

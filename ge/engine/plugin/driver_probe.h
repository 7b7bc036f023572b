// Whether a library is where the dynamic linker would find it, without loading it: to load a driver
// is to run it. It may say yes where loading fails all the same. Stateless; any thread may call.
#pragma once

#include <string>
#include <string_view>

namespace ge {

// `name`: a path, or a soname as in "libcuda.so.1". Looks into $LD_LIBRARY_PATH, the linker's cache
// and the folders that every linker knows.
bool LibraryIsThere(const std::string& name);

// The paths of a linker's cache (ld.so.cache(5)) whose last part is `name`; it holds NUL-terminated
// paths among other things, whatever its version.
std::string PathInLinkerCache(std::string_view cache, std::string_view name);

}  // namespace ge

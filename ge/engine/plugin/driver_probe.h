// Tells whether the dynamic linker would find a library, without loading it: loading a driver runs
// it. It may say yes where loading fails all the same. Stateless; any thread may call.
#pragma once

#include <string>
#include <string_view>

namespace ge {

// `name`: a path, or a soname as in "libcuda.so.1". Looks into $LD_LIBRARY_PATH, the linker's cache
// and the folders known to every linker.
bool LibraryIsThere(const std::string& name);

// The paths of a linker's cache (ld.so.cache(5)) with last part `name`; a cache of any version
// holds NUL-terminated paths among other things.
std::string PathInLinkerCache(std::string_view cache, std::string_view name);

}  // namespace ge

// Compiled for AVX2 (CMakeLists.txt), so it calls no inline function of C++: one that is emitted
// here could be the one that the linker keeps for all.
#include "ge/engine/resident/pack_hash.h"

#if defined(__x86_64__)
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ge {

uint64_t PackHashAvx2(const void* data, size_t bytes) { return XXH3_64bits(data, bytes); }

}  // namespace ge
#endif

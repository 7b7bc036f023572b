#include "ge/engine/resident/pack_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ge/ge_plugin.h"
#include "ge/host/machine.h"

namespace ge {

uint64_t PackHashBaseline(const void* data, size_t bytes) { return XXH3_64bits(data, bytes); }

uint64_t PackHash(std::span<const std::byte> data) {
#if defined(__x86_64__)
  static const bool wide =
      __builtin_cpu_supports("avx2") && CurrentProcessFacts().isa_cap != GE_ISA_SSE42;
  if (wide) return PackHashAvx2(data.data(), data.size());
#endif
  return PackHashBaseline(data.data(), data.size());
}

}  // namespace ge

// Operands of the loops over integers, piece by piece: where they lie, or repeated in a buffer.
// Plain values; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ge_engines::cpu::native {

constexpr int64_t kWholeBytes = 8192;  // of a piece: three of them stay in a first cache

// n elements of `size` bytes, `step` elements apart from `from` on, one after the other: in place
// or in `room`.
inline const char* WholeRow(const char* from, int64_t step, int size, int64_t n, char* room) {
  if (step == 1) return from;
  const auto bytes = static_cast<size_t>(size);
  if (step == 0 && size == 1) {
    std::memset(room, *from, static_cast<size_t>(n));
  } else if (step == 0) {
    std::memcpy(room, from, bytes);
    for (size_t have = bytes, all = static_cast<size_t>(n) * bytes; have < all;) {
      const size_t more = std::min(have, all - have);
      std::memcpy(room + have, room, more);
      have += more;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) std::memcpy(room + i * size, from + i * step * size, bytes);
  }
  return room;
}

}  // namespace ge_engines::cpu::native

// Moving elements without looking at them: whole tensors, strided nests, and packed sub-byte
// elements. Sizes are those of the element, so any dtype of a fixed size is moved.
#pragma once

#include <cstring>
#include <memory>

#include "plugins/ref/checks.h"

namespace ref {

// Copies unless both have one address.
inline void CopyAll(const Tensor& from, const Tensor& to) {
  if (from.data != to.data && to.bytes != 0) std::memcpy(to.data, from.data, to.bytes);
}

// Operators that change the shape alone: output 0 is input 0, byte for byte.
inline std::unique_ptr<Prepared> PrepareReshapeLike(const NodeView& n, uint32_t n_required,
                                                    uint32_t n_max, Why* why) {
  if (!NeedPorts(n, n_required, n_max, why) || !NeedSameDType(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  if (n.in(0).count != n.out(0).count) {
    why->Say(GE_WHY_SHAPE, "%lld elements become %lld", static_cast<long long>(n.in(0).count),
             static_cast<long long>(n.out(0).count));
    return nullptr;
  }
  auto made = Make([](const Call& c) {
    CopyAll(c.in(0), c.out(0));
    return static_cast<ge_rc>(GE_OK);
  });
  made->in_place = 1;
  made->const_align = 1;
  return made;
}

template <size_t kSize>
void CopyRun(char* to, const char* from, int64_t n, int64_t to_stride, int64_t from_stride) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * to_stride * static_cast<int64_t>(kSize),
                from + i * from_stride * static_cast<int64_t>(kSize), kSize);
  }
}

// Copies a nest of operands (to, from); element of `size` bytes: 1, 2, 4, 8 or 16.
inline void CopyNest(const LoopNest<2>& nest, char* to, const char* from, int64_t size) {
  nest.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    char* t = to + o[0] * size;
    const char* f = from + o[1] * size;
    if (s[0] == 1 && s[1] == 1) {
      std::memcpy(t, f, static_cast<size_t>(n * size));
    } else if (size == 1) {
      CopyRun<1>(t, f, n, s[0], s[1]);
    } else if (size == 2) {
      CopyRun<2>(t, f, n, s[0], s[1]);
    } else if (size == 4) {
      CopyRun<4>(t, f, n, s[0], s[1]);
    } else if (size == 8) {
      CopyRun<8>(t, f, n, s[0], s[1]);
    } else {
      CopyRun<16>(t, f, n, s[0], s[1]);
    }
    return true;
  });
}

// Bytes of one element, 0 for packed sub-byte elements.
inline int64_t ElementBytes(int32_t dtype) { return ge::plugin::ElementBits(dtype) / 8; }

// Packed elements, low bits first.
inline uint32_t GetBits(const void* memory, int64_t i, uint32_t bits) {
  const uint64_t at = static_cast<uint64_t>(i) * bits;
  const uint8_t* byte = static_cast<const uint8_t*>(memory) + at / 8;
  // Six bits may lie in two bytes.
  const uint32_t both = at % 8 + bits > 8 ? byte[0] | uint32_t{byte[1]} << 8 : byte[0];
  return (both >> (at % 8)) & ((1u << bits) - 1);
}
inline void SetBits(void* memory, int64_t i, uint32_t bits, uint32_t value) {
  const uint64_t at = static_cast<uint64_t>(i) * bits;
  uint8_t* byte = static_cast<uint8_t*>(memory) + at / 8;
  const uint32_t mask = ((1u << bits) - 1) << (at % 8), moved = (value << (at % 8)) & mask;
  byte[0] = static_cast<uint8_t>((byte[0] & ~mask) | moved);
  if (at % 8 + bits > 8) byte[1] = static_cast<uint8_t>((byte[1] & ~(mask >> 8)) | moved >> 8);
}

// CopyNest for any dtype. Zero packed outputs first, so that spare bits are zero.
inline void CopyElements(const LoopNest<2>& nest, const Tensor& to, const Tensor& from,
                         int64_t from_offset = 0) {
  const uint32_t bits = ge::plugin::ElementBits(to.dtype);
  if (bits >= 8) {
    const int64_t size = bits / 8;
    CopyNest(nest, to.as<char>(), from.as<char>() + from_offset * size, size);
    return;
  }
  nest.Run([&](const int64_t* o, int64_t n, const int64_t* s) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = from_offset + o[1] + i * s[1];
      SetBits(to.data, o[0] + i * s[0], bits, GetBits(from.data, at, bits));
    }
    return true;
  });
}

}  // namespace ref
